"""A node is lost with many jobs on it: all start again, each with no more calls than its first start took."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timezone

import pytest

from tests.cluster.audit import without_watches
from tests.cluster.control_plane import NODE_LABELS, ControlPlane
from tests.cluster.waiting import wait_until
from tests.operator.fixtures import StartOperator
from tests.scenarios.desk import Desk, Json, a_job, a_role

# `make bench` plays it with 200: on two cores that takes minutes.
JOBS = int(os.environ.get("RECOVERY_JOBS", "30"))
pytestmark = pytest.mark.timeout(600)


def calls_per_job(desk: Desk, since: datetime) -> tuple[float, Counter[str]]:
    """The operator's calls for these jobs, on average, and which."""
    operators = [
        call
        for call in without_watches(desk.control_plane.audit(since=since, namespace=desk.namespace))
        if "paddle" in call.user
    ]
    return len(operators) / JOBS, Counter(f"{call.verb} {call.resource}/{call.subresource}" for call in operators)


def in_phase(desk: Desk, phase: str, attempt: int) -> bool:
    listed = desk.api.get(f"/apis/batch.paddlepaddle.org/v1/namespaces/{desk.namespace}/paddlejobs")["items"]
    found = Counter((one.get("status", {}).get("phase"), one.get("status", {}).get("attempt")) for one in listed)
    assert found == {(phase, attempt): JOBS}, found
    return True


def on_node(role: Json, label: str) -> Json:
    role["template"]["spec"]["nodeSelector"] = {"test.paddlejob/node": label}
    return role


@pytest.fixture
def add_node(control_plane: ControlPlane) -> Iterator[Callable[[str, dict[str, str]], None]]:
    """Adds nodes that are gone after the test: others share the cluster."""
    added: list[str] = []

    def add(name: str, labels: dict[str, str]) -> None:
        added.append(name)
        control_plane.add_node(name, labels=labels)

    yield add
    for name in added:
        control_plane.remove_node(name)


def close(desk: Desk, node: str) -> None:
    """Returns when the scheduler knows of it: what it places before that would be lost a second time."""
    desk.api.merge(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": True}})
    wait_until(lambda: is_refused(desk, node))


def is_refused(desk: Desk, node: str) -> bool:
    """Whether a pod that can run on no other node is told that it cannot run."""
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    spec = {"affinity": affinity, "containers": [{"name": "none", "image": "none"}]}
    path = f"/api/v1/namespaces/{desk.namespace}/pods"
    name = desk.api.post(path, {"metadata": {"generateName": "probe-"}, "spec": spec})["metadata"]["name"]

    def verdict() -> str:
        found = desk.api.get(f"{path}/{name}")["status"].get("conditions", ())
        return next((str(one["status"]) for one in found if one["type"] == "PodScheduled"), "")

    refused = wait_until(verdict) == "False"
    desk.api.delete(f"{path}/{name}", gracePeriodSeconds=0)
    return refused


def test_recovery_costs_no_more_calls_than_the_first_start(
    desk: Desk, start_operator: StartOperator, add_node: Callable[[str, dict[str, str]], None]
) -> None:
    labels = {**NODE_LABELS, "test.paddlejob/node": desk.namespace}
    add_node(f"{desk.namespace}-shaky", labels)
    for number in range(JOBS):
        desk.submit(a_job(f"job-{number}", worker=on_node(a_role(2), desk.namespace)))
    begin = datetime.now(timezone.utc)
    start_operator(f"--namespace={desk.namespace}")  # now: so that they start all at once, as they recover
    wait_until(lambda: in_phase(desk, "Running", 0), timeout=240)
    first, kinds = calls_per_job(desk, begin)
    add_node(f"{desk.namespace}-sound", labels)
    close(desk, f"{desk.namespace}-shaky")
    lost = datetime.now(timezone.utc)
    # As a node that does not answer, but with a taint that pods do not tolerate for five minutes.
    taint = {"key": "test.paddlejob/lost", "effect": "NoExecute"}
    desk.api.merge(f"/api/v1/nodes/{desk.namespace}-shaky", {"spec": {"taints": [taint]}})
    wait_until(lambda: in_phase(desk, "Running", 1), timeout=240)
    again, kinds_again = calls_per_job(desk, lost)
    print(f"first start {first} {kinds}\nrecovery {again} {kinds_again}")
    assert again <= first
