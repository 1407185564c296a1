"""The chart on a real API server: installed, upgraded from an earlier version, removed, without harm to jobs."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from tests.cluster.control_plane import OPERATOR_NAMESPACE, ControlPlane
from tests.cluster.waiting import wait_until
from tests.operator.process import OperatorProcess, operator_kubeconfig
from tests.packages.helm import CHART, RELEASE, Helm, HelmFailed, Json
from tests.scenarios.desk import Desk, a_job, a_role
from tests.scenarios.predecessor import CRD as THEIR_CRD
from tests.scenarios.predecessor import LEFTOVERS, Predecessor

pytestmark = pytest.mark.timeout(300)

ROOT = Path(__file__).parents[2]
PAGE, MIGRATING = (ROOT / "docs" / name for name in ("helm.md", "migrating.md"))
CRD = "paddlejobs.batch.paddlepaddle.org"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DEPLOYMENT = f"/apis/apps/v1/namespaces/{OPERATOR_NAMESPACE}/deployments/paddle-controller-manager"
LATER, LATER_VALUE = "ttlSecondsAfterFinished", "dashboard"


@pytest.fixture(autouse=True)
def clean(empty: ControlPlane) -> Iterator[None]:
    """The cluster is as before for the next test."""
    yield
    for kind in ("crd", "clusterrole", "clusterrolebinding"):
        names = [one for one in empty.kubectl("get", kind, "-o", "name").split() if "paddle" in one]
        if names:
            empty.kubectl("delete", "--timeout=60s", *names)
    for namespace in (OPERATOR_NAMESPACE, "team-a", "team-b"):
        empty.kubectl("delete", "namespace", namespace, "--ignore-not-found", "--timeout=60s")


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """The chart as it might have been: another version, without a field and a value that came later."""
    chart = Path(shutil.copytree(CHART, tmp_path / "earlier"))
    described = yaml.safe_load((chart / "Chart.yaml").read_text())
    (chart / "Chart.yaml").write_text(yaml.safe_dump({**described, "version": "0.0.9", "appVersion": "0.0.9"}))
    crd = yaml.safe_load((chart / "files" / "crd.yaml").read_text())
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    del spec["properties"][LATER]
    spec["x-kubernetes-validations"] = [one for one in spec["x-kubernetes-validations"] if LATER not in one["rule"]]
    (chart / "files" / "crd.yaml").write_text(yaml.safe_dump(crd))
    values = yaml.safe_load((chart / "values.yaml").read_text())
    del values[LATER_VALUE]
    (chart / "values.yaml").write_text(yaml.safe_dump(values))
    template = chart / "templates" / "monitoring.yaml"
    template.write_text(template.read_text().partition(f"{{{{- if .Values.{LATER_VALUE}")[0])
    return chart


@pytest.fixture
def over_another(program: Path) -> str:
    """What docs/helm.md tells to add, where another operator's CRD is there."""
    (found,) = re.findall(rf"Helm {4 if program.name == 'helm-4' else 3}: `(--take-ownership[^`]*)`", PAGE.read_text())
    return str(found)


@contextmanager
def acting(cluster: ControlPlane, tmp_path: Path) -> Iterator[OperatorProcess]:
    """The simulated pods of the Deployment do nothing: its arguments run here, with its account."""
    args = cluster.api.get(DEPLOYMENT)["spec"]["template"]["spec"]["containers"][0]["args"]
    kubeconfig = operator_kubeconfig(cluster, tmp_path / "operator-kubeconfig")
    operator = OperatorProcess(kubeconfig, tmp_path / "operator.log", args[1:]).start()
    try:
        yield operator
        assert operator.stop() == 0
    finally:
        operator.kill()


def image(cluster: ControlPlane) -> str:
    return str(cluster.api.get(DEPLOYMENT)["spec"]["template"]["spec"]["containers"][0]["image"])


def fields(cluster: ControlPlane) -> Json:
    crd = cluster.api.get(f"{CRDS}/{CRD}")
    found: Json = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    return found


def uids(desk: Desk) -> dict[str, str]:
    return {name: pod["metadata"]["uid"] for name, pod in desk.pods().items() if name.startswith("long")}


def test_a_job_lives_through_install_upgrade_uninstall_and_reinstall(
    administrator: Helm, empty: ControlPlane, earlier: Path, tmp_path: Path
) -> None:
    said = administrator.install(chart=earlier)
    assert "watches all namespaces" in said
    assert image(empty).endswith(":0.0.9")
    assert LATER not in fields(empty)
    empty.add_namespace("team-a")
    desk = Desk(empty, "team-a")
    with acting(empty, tmp_path):
        desk.submit(a_job("long", worker=a_role(2)))
        desk.in_phase("long", "Running")
    pods = uids(desk)
    assert len(pods) == 2

    administrator.upgrade()
    assert not image(empty).endswith(":0.0.9")
    wait_until(lambda: LATER in fields(empty))
    with acting(empty, tmp_path):
        desk.submit(a_job("brief", worker=a_role(1, ends="succeeded"), **{LATER: 0}))
        wait_until(lambda: desk.gone("brief"))
    assert uids(desk) == pods

    assert "kept" in administrator.uninstall()
    assert "paddle" not in empty.kubectl("get", "clusterrole,clusterrolebinding", "-o", "name")
    assert "paddle" not in empty.kubectl(
        "-n", OPERATOR_NAMESPACE, "get", "deploy,sa,role,rolebinding,pdb", "-o", "name"
    )
    assert desk.status("long")["phase"] == "Running"

    administrator.install()
    with acting(empty, tmp_path):
        desk.finish_workers("long")
        desk.in_phase("long", "Completed")
    assert uids(desk) == pods


def test_an_upgrade_keeps_what_was_set_and_knows_what_came_later(
    administrator: Helm, empty: ControlPlane, earlier: Path
) -> None:
    commands = [line for line in PAGE.read_text().splitlines() if line.startswith("helm upgrade ")]
    keeping = "--reset-then-reuse-values"
    assert len(commands) >= 3
    assert all(keeping in line for line in commands)
    administrator.install(values={"replicas": 1}, chart=earlier)
    administrator.upgrade(keeping)
    assert empty.api.get(DEPLOYMENT)["spec"]["replicas"] == 1
    administrator.upgrade(keeping, values={LATER_VALUE: {"enabled": True}})
    assert "paddle-operator-dashboard" in empty.kubectl("-n", OPERATOR_NAMESPACE, "get", "configmap", "-o", "name")


def test_a_release_that_keeps_nothing_leaves_nothing(administrator: Helm, empty: ControlPlane) -> None:
    administrator.install(values={"crd": {"keep": False}})
    administrator.uninstall()
    wait_until(lambda: CRD not in empty.kubectl("get", "crd", "-o", "name"))
    assert "paddle" not in empty.kubectl("get", "crd,clusterrole,clusterrolebinding", "-o", "name")


def test_a_rollback_brings_the_earlier_one_back(administrator: Helm, empty: ControlPlane, earlier: Path) -> None:
    administrator.install(chart=earlier)
    administrator.upgrade()
    administrator("rollback", RELEASE, "1", f"--namespace={OPERATOR_NAMESPACE}", "--wait")
    assert image(empty).endswith(":0.0.9")


def test_what_manifests_installed_is_taken_over(administrator: Helm, empty: ControlPlane) -> None:
    """Not by itself: helm says whose it is not; with the flag that it names, jobs and all."""
    files = [f"--filename={ROOT / 'deploy' / 'v1' / name}" for name in ("crd.yaml", "operator.yaml")]
    empty.kubectl("apply", "--server-side", *files)
    with pytest.raises(HelmFailed, match="exists and cannot be imported into the current release"):
        administrator.install()
    administrator.install("--take-ownership")
    assert RELEASE in administrator("list", f"--namespace={OPERATOR_NAMESPACE}")


@pytest.mark.parametrize("by", ["kubectl", "helm"])
def test_it_takes_the_place_of_paddle_operator_0_3(
    administrator: Helm, empty: ControlPlane, tmp_path: Path, over_another: str, by: str
) -> None:
    """What docs/helm.md and docs/migrating.md say of it, with a job that trains meanwhile."""
    put_predecessor(empty, administrator if by == "helm" else None, tmp_path)
    empty.add_namespace("team-a")
    desk = Desk(empty, "team-a")
    wait_until(lambda: "paddlejobs" in empty.kubectl("api-resources"))
    Predecessor(desk).runs("long")
    pods = uids(desk)
    if by == "helm":
        (forget,) = re.findall(r"`kubectl (-n paddle-system delete secret .*?)`", MIGRATING.read_text())
        empty.kubectl(*forget.replace("RELEASE", "old").split())
    empty.kubectl("-n", OPERATOR_NAMESPACE, "delete", "deployment", "paddle-controller-manager")
    administrator.install(*over_another.split())
    wait_until(lambda: LATER in fields(empty))
    assert "old" not in administrator("list", "--all-namespaces", "--short").split()
    with acting(empty, tmp_path):
        desk.until("long", lambda one: one.get("adopted"), 60)
        desk.finish_workers("long")
        desk.in_phase("long", "Completed", 60)
        assert uids(desk) == pods
        desk.delete("long")
        wait_until(lambda: desk.gone("long"))


def put_predecessor(cluster: ControlPlane, helm: Helm | None, folder: Path) -> None:
    """paddle-operator 0.3, put there by kubectl, or by helm from a chart that holds its CRD among the templates."""
    if helm is None:
        cluster.kubectl("apply", "-f", "-", stdin=yaml.safe_dump_all([THEIR_CRD, *LEFTOVERS]))
        return
    chart = folder / "theirs"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: paddle-operator\nversion: 0.3.5\n")
    held = [THEIR_CRD, *(one for one in LEFTOVERS if one["kind"] != "Namespace")]
    (chart / "templates" / "all.yaml").write_text(yaml.safe_dump_all(held))
    helm("install", "old", str(chart), f"--namespace={OPERATOR_NAMESPACE}", "--create-namespace")


def test_two_namespaces_are_watched_without_cluster_wide_rights(
    administrator: Helm, empty: ControlPlane, tmp_path: Path
) -> None:
    for namespace in ("team-a", "team-b"):
        empty.add_namespace(namespace)
    administrator.install(values={"namespaces": ["team-a", "team-b"]})
    assert "paddle" not in empty.kubectl("get", "clusterrole,clusterrolebinding", "-o", "name")
    with acting(empty, tmp_path):
        for namespace in ("team-a", "team-b"):
            desk = Desk(empty, namespace)
            desk.submit(a_job("first", worker=a_role(1, ends="succeeded")))
            desk.in_phase("first", "Completed", timeout=60)
