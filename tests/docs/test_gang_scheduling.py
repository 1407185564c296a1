"""docs/gang-scheduling.md is true: its commands are run, its jobs become what it says. tests/schedulers runs them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from paddlejob.api.mistakes import job_of
from paddlejob.api.names import KUEUE
from paddlejob.cli.plan import becomes
from tests.cluster.binaries import Binaries
from tests.cluster.control_plane import ControlPlane
from tests.docs.typist import ROOT, Typist, commands, yaml_blocks

PAGE = ROOT / "docs" / "gang-scheduling.md"
OWN, MADE, QUEUED = ([*yaml.safe_load_all(block)] for block in yaml_blocks(PAGE))

Json = dict[str, Any]


def made_of(job: Json) -> dict[str, list[Json]]:
    found: dict[str, list[Json]] = {}
    for one in becomes(job_of(job)):
        found.setdefault(one["kind"], []).append(one)
    return found


def test_the_first_job_is_the_example_that_tests_run_on_volcano() -> None:
    assert [*yaml.safe_load_all((ROOT / "deploy/examples/wide_and_deep_volcano.yaml").read_text())] == OWN
    made = made_of(OWN[0])
    assert "PodGroup" not in made, "it is the user's"
    assert {pod["spec"]["schedulerName"] for pod in made["Pod"]} == {"volcano"}


def test_the_second_job_has_its_pod_group_made() -> None:
    (group,) = made_of(MADE[0])["PodGroup"]
    assert group["spec"] == {
        "minMember": 2,
        "minResources": {"cpu": "8", "memory": str(16 * 2**30)},
        "queue": "default",
        "priorityClassName": "system-cluster-critical",
    }


def test_the_third_job_is_one_group_of_pods() -> None:
    pods = made_of(QUEUED[0])["Pod"]
    assert {pod["metadata"]["annotations"][f"{KUEUE}/pod-group-total-count"] for pod in pods} == {"4"}
    assert len({pod["metadata"]["labels"][f"{KUEUE}/pod-group-name"] for pod in pods}) == 1
    for name, text in {**QUEUED[0]["metadata"]["labels"], **QUEUED[0]["metadata"]["annotations"]}.items():
        assert {{**pod["metadata"]["labels"], **pod["metadata"]["annotations"]}[name] for pod in pods} == {text}


@pytest.fixture
def fresh(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    manifests = [ROOT / "deploy/v1/crd.yaml", ROOT / "deploy/v1/operator.yaml"]
    with ControlPlane(binaries, tmp_path_factory.mktemp("gangs"), manifests=manifests) as started:
        yield started


def test_every_command_of_the_page_works(fresh: ControlPlane, tmp_path: Path) -> None:
    typist = Typist(fresh, tmp_path)
    for line in commands(PAGE):
        typist.type(line)
    deployment = typist.type("kubectl -n paddle-system get deployment paddle-controller-manager -o yaml")
    (container,) = yaml.safe_load(deployment)["spec"]["template"]["spec"]["containers"]
    assert container["args"][-1] == "--scheduling=volcano"
