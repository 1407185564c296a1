"""The harness itself is true: what the simulated cluster shows is what a real one would show."""

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path

import pytest

from tests.cluster.api import Api, ApiError
from tests.cluster.audit import without_watches
from tests.cluster.binaries import Binaries
from tests.cluster.control_plane import OPERATOR_NAMESPACE, ControlPlane, KubectlFailed
from tests.cluster.pods import Pods, condition_of, state_of
from tests.cluster.waiting import eventually, wait_until

STREAM = "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"


@pytest.fixture
def pods(control_plane: ControlPlane, namespace: str) -> Pods:
    return Pods(control_plane, namespace)


@pytest.fixture
def account(control_plane: ControlPlane) -> Iterator[str]:
    """The token of a service account of the operator's namespace that may do everything."""
    ours = f"namespace/{OPERATOR_NAMESPACE}" not in control_plane.kubectl("get", "namespaces", "-o", "name").split()
    if ours:
        control_plane.add_namespace(OPERATOR_NAMESPACE)
    control_plane.kubectl("create", "serviceaccount", "tester", "-n", OPERATOR_NAMESPACE)
    role = ("--clusterrole=cluster-admin", f"--serviceaccount={OPERATOR_NAMESPACE}:tester")
    control_plane.kubectl("create", "clusterrolebinding", "tester", *role)
    yield control_plane.token_for("tester")
    # kubectl waits until they are gone: the next test finds the cluster as this one did.
    control_plane.kubectl("delete", "clusterrolebinding/tester")
    control_plane.kubectl("delete", "serviceaccount/tester", "-n", OPERATOR_NAMESPACE)
    if ours:
        control_plane.kubectl("delete", f"namespace/{OPERATOR_NAMESPACE}")


def test_the_server_says_the_version_that_is_pinned(control_plane: ControlPlane) -> None:
    assert control_plane.api.get("/version")["gitVersion"] == "v1.34.2"


def test_a_pod_of_a_stranger_runs_and_is_deleted(pods: Pods) -> None:
    pods.create("plain")
    status = pods.in_phase("plain", "Running")
    assert status["podIP"] == status["podIPs"][0]["ip"]
    assert condition_of(status, "Ready")["status"] == "True"
    pods.delete("plain")
    wait_until(lambda: pods.gone("plain"))


def test_a_pod_of_ours_has_an_address_and_waits_until_it_is_touched(pods: Pods) -> None:
    pods.create_waiting("worker")
    waiting = pods.until("worker", lambda status: status.get("podIP"))
    assert waiting["phase"] == "Pending"
    assert state_of(waiting, "paddle") == {
        "waiting": {"reason": "CreateContainerConfigError", "message": 'configmap "job" not found'}
    }
    assert "running" in state_of(waiting, "logger")
    assert condition_of(waiting, "Initialized")["status"] == "True"
    assert condition_of(waiting, "Ready")["status"] == "False"
    assert waiting["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 0
    pods.touch("worker")
    running = pods.in_phase("worker", "Running")
    assert (running["podIP"], running["startTime"]) == (waiting["podIP"], waiting["startTime"])
    assert len(running["podIPs"]) == 1
    assert all(each["ready"] and each["started"] for each in running["containerStatuses"])
    assert "reason" not in condition_of(running, "Ready")


def test_a_pod_whose_environment_was_there_first_runs_at_once(pods: Pods) -> None:
    pods.create_waiting("worker", starts="at-once")
    pods.in_phase("worker", "Running")


def test_a_pod_that_is_held_back_runs_when_it_is_let_go(pods: Pods) -> None:
    pods.create("held", {"test.paddlejob/starts": "never"})
    pods.until("held", lambda status: condition_of(status, "PodScheduled")["status"] == "True")
    assert "podIP" not in pods.get("held")["status"]
    pods.annotate("held", starts="at-once")
    pods.in_phase("held", "Running")


@pytest.mark.parametrize(
    ("how", "phase", "code", "reason"),
    [
        pytest.param({"ends": "succeeded"}, "Succeeded", 0, "Completed", id="succeeded"),
        pytest.param({"ends": "failed"}, "Failed", 1, "Error", id="failed"),
        pytest.param({"ends": "failed", "exit_code": "41"}, "Failed", 41, "Error", id="failed with 41"),
        pytest.param({"ends": "oomkilled"}, "Failed", 137, "OOMKilled", id="out of memory"),
    ],
)
def test_a_running_pod_ends_as_it_is_told(pods: Pods, how: dict[str, str], phase: str, code: int, reason: str) -> None:
    pods.create_waiting("worker", starts="at-once")
    pods.in_phase("worker", "Running")
    pods.annotate("worker", last_lines='Traceback:\n  "loss" is NaN', after="100ms", **how)
    ended = pods.in_phase("worker", phase)
    terminated = state_of(ended, "paddle")["terminated"]
    assert (terminated["exitCode"], terminated["reason"]) == (code, reason)
    assert terminated["message"] == 'Traceback:\n  "loss" is NaN'
    assert terminated["startedAt"] <= terminated["finishedAt"]
    assert state_of(ended, "logger")["terminated"]["exitCode"] == 0


def test_a_pod_may_end_as_it_was_told_at_its_creation(pods: Pods) -> None:
    pods.create("short", {"test.paddlejob/ends": "evicted"}, restartPolicy="Never")
    ended = pods.in_phase("short", "Failed")
    assert ended["reason"] == "Evicted"
    assert condition_of(ended, "DisruptionTarget")["status"] == "True"


def test_a_pod_whose_image_cannot_be_pulled_says_so_until_it_can(pods: Pods) -> None:
    pods.create_waiting("worker", stuck="image")
    stuck = pods.until(
        "worker",
        lambda status: (
            status.get("containerStatuses") and state_of(status, "paddle")["waiting"]["reason"] == "ImagePullBackOff"
        ),
    )
    assert stuck["phase"] == "Pending"
    assert '"paddle:test"' in state_of(stuck, "paddle")["waiting"]["message"]
    pods.annotate("worker", stuck="no longer")
    pods.until(
        "worker",
        lambda status: state_of(status, "paddle")["waiting"]["reason"] == "CreateContainerConfigError",
    )
    pods.touch("worker")
    pods.in_phase("worker", "Running")


def test_a_pod_that_no_node_can_hold_says_so(pods: Pods) -> None:
    pods.create("picky", nodeSelector={"no": "such-node"})
    scheduled = condition_of(pods.until("picky", lambda status: status.get("conditions")), "PodScheduled")
    assert (scheduled["status"], scheduled["reason"]) == ("False", "Unschedulable")
    assert "0/1 nodes are available" in scheduled["message"]


def test_a_node_that_is_added_takes_the_pod_that_waited_for_it(control_plane: ControlPlane, pods: Pods) -> None:
    pods.create("picky", nodeSelector={"zone": "b"})
    pods.until("picky", lambda status: status.get("conditions"))
    control_plane.add_node("node-b", labels={"zone": "b"})
    try:
        pods.in_phase("picky", "Running")
        assert pods.get("picky")["spec"]["nodeName"] == "node-b"
        pods.delete("picky")
        wait_until(lambda: pods.gone("picky"))
    finally:
        control_plane.remove_node("node-b")


def test_a_finalizer_keeps_a_deleted_pod_whose_containers_have_ended(
    control_plane: ControlPlane, namespace: str, pods: Pods
) -> None:
    pods.create("kept")
    pods.in_phase("kept", "Running")
    path = f"/api/v1/namespaces/{namespace}/pods/kept"
    control_plane.api.merge(path, {"metadata": {"finalizers": ["test.paddlejob/kept"]}})
    pods.delete("kept")
    assert state_of(pods.in_phase("kept", "Failed"), "paddle")["terminated"]["exitCode"] == 143
    wait_until(lambda: pods.get("kept")["metadata"]["deletionGracePeriodSeconds"] == 0)
    pods.remove_finalizers("kept")
    wait_until(lambda: pods.gone("kept"))


async def test_an_async_test_waits_without_stopping_its_loop(pods: Pods) -> None:
    pods.create("plain")
    assert await eventually(lambda: pods.get("plain")["status"]["phase"] == "Running")


def test_the_audit_log_holds_exactly_the_calls_of_the_operators_account(
    control_plane: ControlPlane, namespace: str, account: str
) -> None:
    began = datetime.now(timezone.utc)
    maps = f"/api/v1/namespaces/{namespace}/configmaps"
    with closing(Api(control_plane.layout.port, account, control_plane.layout.authority)) as operator:
        for index in range(5):
            operator.post(maps, {"metadata": {"name": f"job-{index}"}})
        with pytest.raises(ApiError, match="409"):
            operator.post(maps, {"metadata": {"name": "job-0"}})
        operator.delete(f"{maps}/job-4")
        operator.text("GET", f"{maps}?watch=1&timeoutSeconds=1")
    control_plane.api.post(maps, {"metadata": {"name": "of-the-administrator"}})
    seen = control_plane.audit(namespace, since=began)
    calls = without_watches(seen)
    assert [call.verb for call in seen if call not in calls] == ["watch"]
    assert [(call.verb, call.resource, call.code) for call in calls] == [
        *[("create", "configmaps", 201)] * 5,
        ("create", "configmaps", 409),
        ("delete", "configmaps", 200),
    ]
    assert {call.user for call in calls} == {f"system:serviceaccount:{OPERATOR_NAMESPACE}:tester"}
    assert control_plane.audit(namespace, since=datetime.now(timezone.utc)) == []


def test_a_restart_of_the_api_server_keeps_the_data_and_may_refuse_streaming_lists(
    control_plane: ControlPlane, namespace: str, pods: Pods
) -> None:
    assert "initial-events-end" in control_plane.api.text("GET", f"{STREAM}&timeoutSeconds=1")
    control_plane.kubectl("create", "configmap", "kept", "-n", namespace, "--from-literal=a=b")
    control_plane.restart_apiserver("--feature-gates=WatchList=false")
    try:
        with pytest.raises(ApiError, match="sendInitialEvents is forbidden"):
            control_plane.api.text("GET", f"{STREAM}&timeoutSeconds=1")
    finally:
        control_plane.restart_apiserver()
    data = control_plane.kubectl("get", "configmap", "kept", "-n", namespace, "-o", "jsonpath={.data.a}")
    assert data == "b"
    pods.create("afterwards")
    pods.in_phase("afterwards", "Running")


def test_what_kubectl_prints_is_what_a_failure_says(control_plane: ControlPlane) -> None:
    with pytest.raises(KubectlFailed, match='pods "nobody" not found'):
        control_plane.kubectl("get", "pod", "nobody")


def test_a_kubeconfig_lets_its_user_in(control_plane: ControlPlane, tmp_path: Path, account: str) -> None:
    written = control_plane.kubeconfig(tmp_path / "config", token=account, namespace=OPERATOR_NAMESPACE)
    who = control_plane.kubectl(f"--kubeconfig={written}", "auth", "whoami", "-o", "json")
    user = json.loads(who)["status"]["userInfo"]["username"]
    assert user == f"system:serviceaccount:{OPERATOR_NAMESPACE}:tester"


WIDGETS = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.test.paddlejob}
spec:
  group: test.paddlejob
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
"""


def test_a_second_control_plane_has_flags_and_kinds_of_its_own(
    binaries: Binaries, control_plane: ControlPlane, tmp_path: Path
) -> None:
    """The dependents of a deleted object go at once when its kind was there before the controllers."""
    manifest = tmp_path / "crd.yaml"
    manifest.write_text(WIDGETS)
    flags = ["--feature-gates=WatchList=false"]
    with ControlPlane(binaries, tmp_path / "second", apiserver_flags=flags, manifests=[manifest]) as second:
        assert second.url != control_plane.url
        with pytest.raises(ApiError, match="sendInitialEvents is forbidden"):
            second.api.text("GET", STREAM)
        second.add_namespace("test")
        pods = Pods(second, "test")
        widgets = "/apis/test.paddlejob/v1/namespaces/test/widgets"
        kind = {"apiVersion": "test.paddlejob/v1", "kind": "Widget"}
        widget = second.api.post(widgets, {**kind, "metadata": {"name": "one"}})
        pods.create("owned")
        owner = {**kind, "name": "one", "uid": widget["metadata"]["uid"]}
        second.api.merge("/api/v1/namespaces/test/pods/owned", {"metadata": {"ownerReferences": [owner]}})
        second.api.delete(f"{widgets}/one")
        wait_until(lambda: pods.gone("owned"))
