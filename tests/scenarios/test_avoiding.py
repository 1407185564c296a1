"""A node that evicts a job's pod twice is avoided by a real scheduler, as long as it has another."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster.control_plane import NODE_LABELS, ControlPlane
from tests.scenarios.desk import Desk, Json, a_job, a_role

pytestmark = pytest.mark.timeout(300)

LABEL = "test.paddlejob/avoiding"
BAD, GOOD = "bad-node", "good-node"
POD = "restless-worker-0"


@pytest.fixture
def nodes(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """The bad node is the only one at first; both are gone after the test."""
    control_plane.add_node(BAD, labels={**NODE_LABELS, LABEL: "yes"})
    yield control_plane
    for name in (BAD, GOOD):
        control_plane.remove_node(name)


def on_these_nodes() -> Json:
    role = a_role(1)
    role["template"]["spec"]["nodeSelector"] = {LABEL: "yes"}
    return role


def evict(desk: Desk) -> None:
    status = {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}
    desk.api.merge(f"/api/v1/namespaces/{desk.namespace}/pods/{POD}/status", {"status": status})


def running(desk: Desk, attempt: int) -> Json:
    desk.until("restless", lambda one: (one.get("phase"), one.get("attempt")) == ("Running", attempt), timeout=90)
    found: Json = desk.pod(POD)["spec"]
    return found


@pytest.mark.usefixtures("operator")
def test_a_node_that_evicts_twice_is_avoided_where_there_is_another(desk: Desk, nodes: ControlPlane) -> None:
    desk.submit(a_job("restless", worker=on_these_nodes()))
    for attempt in (0, 1):
        spec = running(desk, attempt)
        assert (spec["nodeName"], "affinity" in spec) == (BAD, False)
        evict(desk)
    spec = running(desk, 2)
    assert spec["nodeName"] == BAD  # there is no other: the job runs all the same
    (term,) = spec["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert term["preference"]["matchFields"] == [{"key": "metadata.name", "operator": "NotIn", "values": [BAD]}]
    assert desk.told("restless").count("NodeAvoided") == 1
    nodes.add_node(GOOD, labels={**NODE_LABELS, LABEL: "yes"})
    evict(desk)
    assert running(desk, 3)["nodeName"] == GOOD
    (node,) = desk.status("restless")["nodes"]
    assert (node["name"], node["disruptions"]) == (BAD, 3)
