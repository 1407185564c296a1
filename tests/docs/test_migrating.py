"""docs/migrating.md is true: its commands are run from top to bottom on a cluster that paddle-operator 0.3 has left."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from paddlejob.api.kubeflow import CLEANING
from tests.cluster.binaries import Binaries
from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import wait_until
from tests.docs.typist import LANGUAGES, ROOT, Typist, commands, halves
from tests.local.workbench import Workbench
from tests.operator.process import OperatorProcess, operator_kubeconfig
from tests.scenarios.desk import Desk, a_role
from tests.scenarios.predecessor import CRD, LEFTOVERS, Predecessor
from tools.environments import PADDLE, python_of

PAGE = ROOT / "docs" / "migrating.md"
LONG = 60


@pytest.fixture(scope="module")
def old(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    manifest = tmp_path_factory.mktemp("old") / "old.yaml"
    manifest.write_text(yaml.safe_dump_all([CRD, *LEFTOVERS]))
    with ControlPlane(binaries, tmp_path_factory.mktemp("migrating"), manifests=[manifest]) as started:
        yield started


def refused(old: ControlPlane, typist: Typist) -> str:
    """What the page says of the old Deployment; the CRD is still the old one afterwards."""
    said = typist.type("! paddlejob install 2>&1")
    (version,) = yaml.safe_load(old.kubectl("get", "crd", CRD["metadata"]["name"], "-o", "yaml"))["spec"]["versions"]
    assert version["schema"] == CRD["spec"]["versions"][0]["schema"]
    return said


@pytest.mark.timeout(400)
def test_every_command_of_the_page_works_and_no_job_is_lost(old: ControlPlane, tmp_path: Path) -> None:
    typist, desk = Typist(old, tmp_path), Desk(old, "paddle-system")
    predecessor = Predecessor(desk)
    predecessor.runs("trains", ps=a_role(1))
    predecessor.runs("done")
    predecessor.says("done", phase="Succeed")
    pods = {name: pod["metadata"]["uid"] for name, pod in desk.pods().items() if "controller" not in name}
    said = refused(old, typist)
    assert "another operator is installed as Deployment paddle-controller-manager" in said
    assert "kubectl -n paddle-system delete deployment paddle-controller-manager" in said
    operator: OperatorProcess | None = None
    try:
        for line in commands(PAGE):
            typist.type(line)
            if line.startswith("kubectl apply --server-side"):  # the pods of its Deployment are simulated
                kubeconfig = operator_kubeconfig(old, tmp_path / "operator")
                operator = OperatorProcess(kubeconfig, tmp_path / "operator.log", []).start()
        desk.until("trains", lambda one: one.get("adopted"), LONG)
        found = {name: pod["metadata"]["uid"] for name, pod in desk.pods().items()}
        assert found.items() >= pods.items()
        desk.finish_workers("trains")
        desk.in_phase("trains", "Completed", LONG)
        assert desk.status("done")["phase"] == "Succeed"
        for name in ("trains", "done"):
            desk.delete(name)
        wait_until(lambda: desk.gone("trains") and desk.gone("done"), LONG)
        left = old.kubectl("get", "clusterrole,clusterrolebinding,role,rolebinding,sa,cm", "-A", "-o", "name")
        assert not [line for line in left.splitlines() if "paddle-manager" in line or "paddle-leader" in line]
    finally:
        if operator is not None:
            operator.kill()


@pytest.mark.parametrize("page", halves(PAGE), ids=LANGUAGES)
def test_the_table_of_clean_policies_is_that_of_the_code(page: Path) -> None:
    (row,) = (line for line in page.read_text().splitlines() if "`runPolicy.cleanPodPolicy`" in line)
    words = re.findall(r"`(\w+)`", row)
    assert words == [*CLEANING.keys(), *CLEANING.values()]


@pytest.mark.paddle
@pytest.mark.timeout(400)
def test_a_job_of_kubeflow_trains_on_this_machine(bench: Workbench) -> None:
    bench.env["PADDLEJOB_PYTHON"] = str(python_of(f"paddle-{PADDLE}"))
    done = bench.paddlejob("run", str(ROOT / "examples" / "resnet" / "kubeflow.yaml"), timeout=300)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    assert "note: restartPolicy OnFailure" in done.stdout
    assert "resnet-kubeflow: Completed: 2 of 2 workers succeeded" in done.stdout
