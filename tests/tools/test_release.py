"""What a release is made of, as far as it can be said without helm; tests/packages makes one and checks it."""

from __future__ import annotations

import re

from tools.installer import ROOT
from tools.release import MONITORING, SUMS, manifests

PAGE = (ROOT / "docs" / "release.md").read_text()


def test_the_page_names_every_manifest_of_a_release_and_no_other() -> None:
    rows = re.findall(r"^\| (`.*?) \| `make release` \|", PAGE, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`([^`]+)`", row) if "VERSION" not in name}
    made = {file.name for file in manifests()}
    assert {"crd.yaml", *MONITORING} <= made
    assert named - {SUMS} == made


def test_every_manifest_that_is_deployed_is_part_of_a_release() -> None:
    assert {file.name for file in (ROOT / "deploy" / "v1").iterdir()} <= {file.name for file in manifests()}
