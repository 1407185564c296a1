"""The manifests under deploy/: they install, run, are removed without a trace, and install again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cluster.binaries import Binaries
from tests.cluster.control_plane import OPERATOR_NAMESPACE, ControlPlane, KubectlFailed
from tests.cluster.waiting import wait_until
from tests.operator.process import OperatorProcess, operator_kubeconfig
from tests.scenarios.desk import Desk, Json, a_job, a_role

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
CRD = DEPLOY / "v1" / "crd.yaml"
KINDS = {"v1/operator.yaml": "ClusterRole", "v1/operator-namespaced.yaml": "Role"}


def objects(path: Path) -> list[Json]:
    return [one for one in yaml.safe_load_all(path.read_text()) if one]


@pytest.fixture(scope="module")
def empty(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A cluster that has never heard of us."""
    with ControlPlane(binaries, tmp_path_factory.mktemp("empty")) as started:
        yield started


@pytest.mark.timeout(300)
@pytest.mark.parametrize("manifest", KINDS)
def test_install_run_remove_and_install_again(empty: ControlPlane, tmp_path: Path, manifest: str) -> None:
    files = ["-f", str(CRD), "-f", str(DEPLOY / manifest)]
    for _ in range(2):
        empty.kubectl("create", *files)
        wait_until(lambda: is_established(empty))
        available = ("--for=condition=Available", "deployment/paddle-controller-manager", "--timeout=2m")
        empty.kubectl("-n", OPERATOR_NAMESPACE, "wait", *available)
        run_a_job(empty, tmp_path, manifest)
        empty.kubectl("delete", "--timeout=120s", *files)
        left = empty.kubectl("get", "ns,crd,clusterrole,clusterrolebinding", "-o", "name")
        assert "paddle" not in left, left


def is_established(empty: ControlPlane) -> bool:
    """Asked here and not with `kubectl wait`, which fails on a CRD that has no conditions yet."""
    crd = empty.api.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/paddlejobs.batch.paddlepaddle.org")
    held = {one["type"] for one in crd["status"].get("conditions") or () if one["status"] == "True"}
    return "Established" in held


def run_a_job(empty: ControlPlane, tmp_path: Path, manifest: str) -> None:
    """The simulated pods of the Deployment do nothing: its arguments run here, with its account."""
    deployment = next(one for one in objects(DEPLOY / manifest) if one["kind"] == "Deployment")
    args = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    assert args[0] == "operator"
    kubeconfig = operator_kubeconfig(empty, tmp_path / "kubeconfig")
    operator = OperatorProcess(kubeconfig, tmp_path / "operator.log", args[1:]).start()
    try:
        desk = Desk(empty, OPERATOR_NAMESPACE)
        desk.submit(a_job("first", worker=a_role(1, ends="succeeded")))
        desk.in_phase("first", "Completed", timeout=60)
    finally:
        assert operator.stop() == 0


def test_the_one_namespace_variant_has_no_cluster_wide_right() -> None:
    kinds = {one["kind"] for one in objects(DEPLOY / "v1" / "operator-namespaced.yaml")}
    assert not kinds & {"ClusterRole", "ClusterRoleBinding"}


@pytest.mark.parametrize("manifest", KINDS)
def test_no_rule_has_a_wildcard_secrets_or_exec(manifest: str) -> None:
    roles = [one for one in objects(DEPLOY / manifest) if one["kind"] in ("Role", "ClusterRole")]
    said = {word for role in roles for rule in role["rules"] for words in rule.values() for word in words}
    assert not said & {"*", "secrets", "pods/exec", "escalate", "bind", "impersonate"}


def test_the_operators_pods_pass_the_restricted_profile(control_plane: ControlPlane) -> None:
    control_plane.kubectl("create", "namespace", "restricted")
    label = "pod-security.kubernetes.io/enforce=restricted"
    control_plane.kubectl("label", "namespace", "restricted", label)
    deployment = next(one for one in objects(DEPLOY / "v1" / "operator.yaml") if one["kind"] == "Deployment")
    template = deployment["spec"]["template"]
    spec: Json = {key: value for key, value in template["spec"].items() if key != "serviceAccountName"}
    pod: Json = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "operator"}, "spec": spec}
    wait_until(lambda: control_plane.kubectl("-n", "restricted", "get", "serviceaccount", "default"))
    control_plane.kubectl("-n", "restricted", "create", "--dry-run=server", "-f", "-", stdin=yaml.safe_dump(pod))
    del spec["securityContext"]
    with pytest.raises(KubectlFailed, match="restricted"):
        control_plane.kubectl("-n", "restricted", "create", "--dry-run=server", "-f", "-", stdin=yaml.safe_dump(pod))


@pytest.mark.parametrize("path", sorted((DEPLOY / "examples").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_example_is_taken_by_the_api_server(control_plane: ControlPlane, namespace: str, path: Path) -> None:
    ours = [one for one in objects(path) if one["kind"] != "PodGroup"]  # Volcano's kind is not in this cluster
    text = yaml.safe_dump_all(ours)
    assert control_plane.kubectl("-n", namespace, "create", "--dry-run=server", "-f", "-", stdin=text)


OPERATORS = ("v1/operator.yaml", "v1/operator-namespaced.yaml", "v1beta1/operator.yaml")
GANGS = {
    "volcano": ("podgroups", "scheduling.volcano.sh"),
    "coscheduling": ("podgroups", "scheduling.x-k8s.io"),
    "kubernetes": ("podgroups", "scheduling.k8s.io"),
    "kueue": ("workloads", "kueue.x-k8s.io"),
}


def granted(manifest: str) -> set[tuple[str, str]]:
    """Every resource, with its group, that the roles of a manifest speak of."""
    rules = [rule for one in objects(DEPLOY / manifest) for rule in one.get("rules", ())]
    return {(name, group) for rule in rules for group in rule["apiGroups"] for name in rule["resources"]}


def test_rights_to_groups_come_only_with_the_manifest_of_their_scheduler() -> None:
    groups = {*GANGS.values(), ("customresourcedefinitions", "apiextensions.k8s.io")}
    for operator in OPERATORS:
        assert granted(operator)
        assert not granted(operator) & groups
    manifests = {path.stem.removeprefix("scheduling-") for path in (DEPLOY / "v1").glob("scheduling-*.yaml")}
    assert manifests == {*GANGS}
    for scheduler, own in GANGS.items():
        found = granted(f"v1/scheduling-{scheduler}.yaml") - {("customresourcedefinitions", "apiextensions.k8s.io")}
        assert found == {own}


def test_the_old_manifests_hold_only_what_old_clusters_know() -> None:
    (crd,) = objects(DEPLOY / "v1beta1" / "crd.yaml")
    assert crd["apiVersion"] == "apiextensions.k8s.io/v1beta1"
    assert "x-kubernetes" not in (DEPLOY / "v1beta1" / "crd.yaml").read_text()
    versions = {one["kind"]: one["apiVersion"] for one in objects(DEPLOY / "v1beta1" / "operator.yaml")}
    assert versions["PodDisruptionBudget"] == "policy/v1beta1"
