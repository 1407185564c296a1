"""docs/storage.md is true: its volume, its claim and its job run on a cluster, as the user's documents have them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.cluster.waiting import wait_until
from tests.docs.typist import LANGUAGES, ROOT, halves, yaml_blocks
from tests.scenarios.desk import Desk

PAGE = ROOT / "docs" / "storage.md"
(BLOCK,) = yaml_blocks(PAGE)


@pytest.mark.parametrize("page", halves(PAGE), ids=LANGUAGES)
def test_it_is_the_example(page: Path) -> None:
    (block,) = yaml_blocks(page)
    example = ROOT / "deploy/examples/wide_and_deep_storage.yaml"
    assert [*yaml.safe_load_all(block)] == [*yaml.safe_load_all(example.read_text())]


@pytest.mark.usefixtures("operator")
def test_the_example_trains_on_its_claim(desk: Desk) -> None:
    desk.kubectl("create", "-f", "-", stdin=BLOCK)
    try:
        desk.in_phase("paddlejob-demo-1", "Running")
        volumes = [pod["spec"]["volumes"] for pod in desk.pods().values()]
        claims = [one for found in volumes for one in found if one.get("persistentVolumeClaim")]
        assert [one["persistentVolumeClaim"] for one in claims] == [{"claimName": "nfs-pvc"}] * 4
        desk.finish_workers("paddlejob-demo-1")
        desk.in_phase("paddlejob-demo-1", "Completed")
        wait_until(lambda: not desk.pods())
    finally:
        desk.kubectl("delete", "-f", "-", stdin=BLOCK)
