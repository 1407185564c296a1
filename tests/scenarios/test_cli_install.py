"""`paddlejob install` and `uninstall` on a cluster that has never heard of us, and what commands say there."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from paddlejob.api.crd import definition
from paddlejob.cli import manifests
from tests.cli.person import Person
from tests.cluster.binaries import Binaries
from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import wait_until
from tests.scenarios.desk import Desk, Json, a_job

ROOT = Path(__file__).parents[2]


def deployed(path: str) -> list[Json]:
    return [one for one in yaml.safe_load_all((ROOT / "deploy" / "v1" / path).read_text()) if one]


@pytest.fixture(scope="module")
def empty(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    with ControlPlane(binaries, tmp_path_factory.mktemp("empty")) as started:
        yield started


@pytest.fixture
def admin(empty: ControlPlane, tmp_path: Path) -> Person:
    return Person(tmp_path, empty.kubeconfig(tmp_path / "kubeconfig"))


def objects_of_ours(cluster: ControlPlane) -> str:
    kinds = "ns,crd,clusterrole,clusterrolebinding,deploy,sa,role,rolebinding,svc,pdb"
    return "\n".join(
        line for line in cluster.kubectl("get", kinds, "-A", "-o", "name").splitlines() if "paddle" in line
    )


def test_without_the_crd_every_command_says_to_install(admin: Person, tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text(yaml.safe_dump(a_job("early")))
    for command in (("list",), ("describe", "a"), ("logs", "a"), ("delete", "a"), ("submit", str(path))):
        said = admin.pipes(*command)
        assert said.code == 3
        assert "this cluster has no PaddleJobs" in said.sentence
        assert "`paddlejob install`" in said.sentence


@pytest.mark.timeout(300)
def test_install_upgrade_and_uninstall(empty: ControlPlane, admin: Person) -> None:
    assert admin.pipes("uninstall").fine().out == "nothing was installed\n"
    for image in ("registry.example/paddle-operator:1", "registry.example/paddle-operator:2"):
        said = admin.pipes("install", "--image", image, "--timeout=2m", timeout=150).fine()
        assert said.out.splitlines()[-1] == "the operator is ready in namespace paddle-system"
        assert "CustomResourceDefinition paddlejobs.batch.paddlepaddle.org applied" in said.out
        wide = empty.kubectl("-n", "paddle-system", "get", "deploy", "-o", "wide")
        assert image in wide
    Desk(empty, "default").submit(a_job("kept"))
    refused = admin.pipes("uninstall")
    assert refused.code == 2
    assert "deleting the CRD would delete its jobs (default/kept): add --delete-jobs" in refused.sentence
    assert "clusterrole.rbac.authorization.k8s.io/paddle-operator" in objects_of_ours(empty)
    admin.pipes("uninstall", "--keep-crd", timeout=150).fine()
    assert objects_of_ours(empty) == "customresourcedefinition.apiextensions.k8s.io/paddlejobs.batch.paddlepaddle.org"
    assert Desk(empty, "default").job("kept")
    shown = admin.types("uninstall", "--delete-jobs", timeout=150).fine()
    assert shown.text == "CustomResourceDefinition paddlejobs.batch.paddlepaddle.org deleted\n"
    assert objects_of_ours(empty) == ""


@pytest.mark.timeout(300)
def test_for_one_namespace_nothing_is_cluster_wide_but_the_crd(empty: ControlPlane, admin: Person) -> None:
    empty.add_namespace("team")
    shown = admin.types("install", "--namespaced=team", "--timeout=2m", timeout=150).fine()
    assert shown.text.splitlines()[-1] == "the operator is ready in namespace team"
    ours = objects_of_ours(empty)
    assert "deployment.apps/paddle-controller-manager" in ours
    assert "clusterrole" not in ours
    args = empty.api.get("/apis/apps/v1/namespaces/team/deployments/paddle-controller-manager")
    assert "--namespace=team" in args["spec"]["template"]["spec"]["containers"][0]["args"]
    admin.pipes("uninstall", "--namespaced=team", timeout=150).fine()
    assert objects_of_ours(empty) == ""
    assert empty.api.get("/api/v1/namespaces/team")


def test_an_operator_that_cannot_start_is_explained(empty: ControlPlane, admin: Person) -> None:
    (node,) = empty.api.get("/api/v1/nodes")["items"]
    cordon = f"/api/v1/nodes/{node['metadata']['name']}"
    empty.api.merge(cordon, {"spec": {"unschedulable": True}})
    try:
        admin.pipes("install", "--no-wait").fine()
        wait_until(lambda: "Unschedulable" in empty.kubectl("-n", "paddle-system", "get", "pods", "-o", "yaml"))
        said = admin.pipes("install", "--timeout=1s")
        assert said.code == 1
        assert "the operator's pods are not ready (Unschedulable: 0/1 nodes are available" in said.sentence
    finally:
        empty.api.merge(cordon, {"spec": {"unschedulable": None}})
        admin.pipes("uninstall", timeout=150).fine()


def test_what_is_installed_is_what_stands_in_deploy() -> None:
    assert [definition()] == deployed("crd.yaml")
    assert manifests.operator_objects() == deployed("operator.yaml")
    assert manifests.namespaced(manifests.operator_objects()) == deployed("operator-namespaced.yaml")


def test_the_wheel_holds_the_manifests(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    inside = zipfile.ZipFile(wheel).read("paddlejob/cli/operator.yaml").decode()
    assert inside == (ROOT / "deploy" / "v1" / "operator.yaml").read_text()
