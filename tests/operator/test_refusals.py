"""Whatever the API server refuses is asked for ever more rarely, told on the job, and done when it is allowed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest

from tests.kube.fake_server import Fault, refuses, until
from tests.operator.conftest import StartInside
from tests.operator.fake_cluster import FakeCluster, Json
from tests.operator.worlds import end, put_job, run, status
from tests.scenarios.desk import a_role

FORBIDDEN = refuses(403, "Forbidden", "it is forbidden: User cannot do it")
QUOTA = refuses(403, "Forbidden", "pods is forbidden: exceeded quota: small, requested: pods=1")
# As the API server says it when the server of an admission webhook is away.
WEBHOOK = refuses(
    500,
    "InternalError",
    'Internal error occurred: failed calling webhook "pods.policy.example": Post "https://policy.example": EOF',
)
FOR_EVER = 10_000


def stall(cluster: FakeCluster) -> Json:
    """The condition Stalled while it holds."""
    found = [one for one in status(cluster).get("conditions", ()) if one["type"] == "Stalled"]
    return found[0] if found and found[0]["status"] == "True" else {}


async def pods_are_there(cluster: FakeCluster, number: int) -> None:
    await until(lambda: len(cluster.names("pods")) == number, f"{number} pods")


async def clean_up(cluster: FakeCluster) -> None:
    end(cluster)


async def restart(cluster: FakeCluster) -> None:
    end(cluster, "train-worker-0", code=1)


async def replace(cluster: FakeCluster) -> None:
    run(cluster)
    await until(lambda: status(cluster).get("phase") == "Running", "Running")
    end(cluster, "train-worker-0", "train-worker-1", code=1)


async def suspend(cluster: FakeCluster) -> None:
    cluster.change("paddlejobs", "train", {"metadata": {"generation": 2}, "spec": {"suspend": True}})


async def start_pods(cluster: FakeCluster) -> None:
    for number, pod in enumerate(cluster.names("pods")):
        placed = {"spec": {"nodeName": "node"}, "status": {"phase": "Pending", "podIP": f"10.0.0.{number}"}}
        cluster.change("pods", pod, placed)


Push = Callable[[FakeCluster], Awaitable[None]]
KEPT: dict[str, tuple[Json, Push, str]] = {
    "what a completed job leaves": ({"cleanPodPolicy": "Always"}, clean_up, "DELETE"),
    "the pods of an earlier attempt": ({"backoffLimit": 3}, restart, "DELETE"),
    "workers to replace": (
        {"ps": a_role(1), "worker": a_role(2), "withGloo": 0, "backoffLimit": 3},
        replace,
        "DELETE",
    ),
    "the pods of a suspended job": ({}, suspend, "DELETE"),
    "pods that wait for a touch": ({"intranet": "PodIP"}, start_pods, "PATCH"),
}


@pytest.mark.parametrize("case", KEPT)
async def test_what_may_not_be_done_to_pods_is_asked_for_rarely_and_told(
    cluster: FakeCluster, start: StartInside, case: str
) -> None:
    spec, push, method = KEPT[case]
    put_job(cluster, **spec)
    cluster.fail(method, "pods", FORBIDDEN, times=FOR_EVER)
    await start()
    await pods_are_there(cluster, 3 if "ps" in spec else 2)
    await push(cluster)
    await until(lambda: stall(cluster).get("reason") == "Forbidden", "the stall")
    assert "cannot do it" in stall(cluster)["message"]
    await until(lambda: len(cluster.asked(method, "pods")) >= 3, "a call for each, and one that goes ahead")
    _, second, third = cluster.asked(method, "pods")
    assert third.at - second.at >= 1.8
    assert {one.body["reason"] for one in cluster.asked("POST", "events")} >= {"Forbidden"}
    cluster.allow_all()
    await until(lambda: not stall(cluster), "nothing is amiss any more", seconds=15)


async def test_a_job_that_may_not_expire_is_asked_for_rarely_and_told(cluster: FakeCluster, start: StartInside) -> None:
    put_job(cluster, ttlSecondsAfterFinished=0)
    cluster.fail("DELETE", "paddlejobs", FORBIDDEN)
    await start()
    await pods_are_there(cluster, 2)
    end(cluster)
    await until(lambda: stall(cluster).get("reason") == "Forbidden", "the stall")
    await until(lambda: cluster.names("paddlejobs") == [], "the job is gone", seconds=15)
    first, second = cluster.asked("DELETE", "paddlejobs")
    assert second.at - first.at >= 1.8


# How often one is sent ahead in vain. What often passes by itself is told after a few times.
SENT_AHEAD: dict[str, tuple[Fault, str, int]] = {
    "a quota": (QUOTA, "QuotaExceeded", 1),
    "a webhook": (WEBHOOK, "WebhookFailed", 3),
}


@pytest.mark.parametrize("case", SENT_AHEAD)
async def test_after_a_refusal_one_pod_goes_ahead_and_the_others_follow_when_it_has_passed(
    cluster: FakeCluster, start: StartInside, case: str
) -> None:
    fault, reason, in_vain = SENT_AHEAD[case]
    put_job(cluster, worker=a_role(20))
    cluster.fail("POST", "pods", fault, times=3 + in_vain)
    await start(concurrency=3)
    await until(lambda: stall(cluster).get("reason") == reason, "the stall")
    await pods_are_there(cluster, 20)
    calls = cluster.asked("POST", "pods")
    assert len(calls) == 20 + 3 + in_vain
    ahead = [calls[0], *calls[3 : 3 + in_vain + 1]]  # the first three went together, then one at a time
    assert all(later.at - earlier.at > 0.2 for earlier, later in pairwise(ahead))
    await until(lambda: not stall(cluster), "nothing is amiss any more")


async def test_a_status_that_may_not_be_written_is_told_in_an_event(cluster: FakeCluster, start: StartInside) -> None:
    put_job(cluster, worker=a_role(1))
    cluster.fail("PATCH", "paddlejobs", refuses(422, "Invalid", "status.mode: Unsupported value"), times=1)
    await start()
    await until(lambda: status(cluster).get("phase") == "Pending", "the status after all")
    first, second, *_ = cluster.asked("PATCH", "paddlejobs")
    assert second.at - first.at >= 1.8
    notes = [one.body["note"] for one in cluster.asked("POST", "events") if one.body["reason"] == "Invalid"]
    assert any("status.mode: Unsupported value" in note for note in notes)
