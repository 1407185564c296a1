"""Jobs and pods in a fake cluster, as the tests of the operator speak of them."""

from __future__ import annotations

from typing import Any

from tests.operator.fake_cluster import FakeCluster, Json
from tests.scenarios.desk import a_job, a_role


def put_job(cluster: FakeCluster, name: str = "train", **spec: Any) -> Json:
    """By Service: its pods need no addresses to start."""
    return cluster.put("paddlejobs", a_job(name, **{"worker": a_role(2), "intranet": "Service", **spec}))


def status(cluster: FakeCluster, name: str = "train") -> Json:
    return dict(cluster.get("paddlejobs", name).get("status", {}))


def run(cluster: FakeCluster, *pods: str) -> None:
    _push(cluster, pods, "Running", {"running": {"startedAt": "2026-05-04T12:00:00Z"}})


def end(cluster: FakeCluster, *pods: str, code: int = 0) -> None:
    _push(cluster, pods, "Failed" if code else "Succeeded", {"terminated": {"exitCode": code, "reason": "Ended"}})


def _push(cluster: FakeCluster, pods: tuple[str, ...], phase: str, state: Json) -> None:
    containers = [{"name": "paddle", "state": state}]
    for pod in pods or cluster.names("pods"):
        seen = {"phase": phase, "podIP": "10.0.0.1", "containerStatuses": containers}
        cluster.change("pods", pod, {"status": seen})
