"""docs/compatibility.md names the versions that are pinned for the tests, and no others."""

from __future__ import annotations

import re

from tests.cluster.binaries import MODULES, OTHERS
from tests.docs.typist import ROOT
from tools.environments import PADDLE, PADDLE_3
from tools.pythons import SUPPORTED

PAGE = (ROOT / "docs" / "compatibility.md").read_text()
FOUND = re.findall(r"^\| ([A-Z][^|]*) \| ([\d., ]+) \|", PAGE, re.MULTILINE)
ROWS = {name: versions.split(", ") for name, versions in FOUND}


def pinned(module: str) -> str:
    found = re.search(r"^require \S+ v(\S+)$", (MODULES / module / "go.mod").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def prometheus() -> str:
    """As a Go module, 3.15.0 is called 0.315.0."""
    found = re.fullmatch(r"0\.(\d)(\d\d)\.(\d+)", pinned("prometheus"))
    assert found is not None
    return f"{found[1]}.{int(found[2])}.{found[3]}"


def test_every_version_of_the_page_is_the_one_that_is_tested() -> None:
    oldest, newest = sorted(OTHERS)
    tested = {
        "Kubernetes": [pinned("kubernetes")],
        "Kubernetes, oldest": [pinned(f"kubernetes-{oldest}")],
        "Kubernetes, newest": [pinned(f"kubernetes-{newest}")],
        "Helm 3": [pinned("helm")],
        "Helm 4": [pinned("helm-4")],
        "Prometheus": [prometheus()],
        "Prometheus Operator": [pinned("prometheus-operator")],
        "Python": list(SUPPORTED),
        "PaddlePaddle": [PADDLE, PADDLE_3],
    }
    assert tested == ROWS


def test_the_target_runs_on_these_versions() -> None:
    said = re.search(r"^compatibility:.*\n\t@for version in (.*?);", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert said is not None
    assert said[1].split() == sorted(OTHERS)


def test_the_targets_of_the_page_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"`make (\w+)`", PAGE))
    assert len(targets) >= 4
    assert not [one for one in targets if not re.search(rf"^{one}:.*## ", makefile, re.MULTILINE)]
