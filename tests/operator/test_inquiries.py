"""What only the events of a pod tell stands in the status of its job, and goes when the pod starts."""

from __future__ import annotations

import asyncio
from datetime import datetime, timezone

import pytest
from aiohttp import web

from paddlejob.operator.inquiries import last_complaint
from paddlejob.operator.resources import KubeEvent, Series
from tests.kube.fake_server import refuses, until
from tests.operator.conftest import StartInside
from tests.operator.fake_cluster import FakeCluster
from tests.operator.worlds import put_job, run, status
from tests.scenarios.desk import a_role

LONG_AGO, LATER, LAST = "2026-05-04T11:00:00Z", "2026-05-04T11:00:07.123456Z", "2026-05-04T11:01:00Z"


def seen(reason: str, at: str) -> KubeEvent:
    return KubeEvent(reason=reason, note=f"{reason} at {at}", deprecated_last_timestamp=at)


HISTORIES: dict[str, tuple[list[KubeEvent], str]] = {
    "nothing happened": ([], ""),
    "it was only placed": ([seen("Scheduled", LONG_AGO)], ""),
    "a volume cannot be mounted": ([seen("FailedMount", LATER), seen("Scheduled", LONG_AGO)], "FailedMount"),
    "in the same second": ([seen("FailedMount", LONG_AGO), seen("Scheduled", LONG_AGO)], "FailedMount"),
    "in the same second, told more exactly": (
        [seen("FailedMount", LONG_AGO), KubeEvent(reason="Scheduled", event_time="2026-05-04T11:00:00.227822Z")],
        "FailedMount",
    ),
    "it was mounted after all": ([seen("FailedMount", LATER), seen("Pulling", LAST)], ""),
    "the last of several": ([seen("FailedMount", LATER), seen("FailedAttachVolume", LAST)], "FailedAttachVolume"),
    "an event that was repeated": (
        [
            KubeEvent(reason="FailedCreatePodSandBox", event_time=LONG_AGO, series=Series(LAST)),
            KubeEvent(reason="Scheduled", event_time=LATER),
        ],
        "FailedCreatePodSandBox",
    ),
}


def test_of_a_group_that_which_its_condition_does_not_say() -> None:
    """As Volcano 1.10 tells it, both again and again: in the same second, or this one later."""
    why = KubeEvent(reason="Unschedulable", note="resource in cluster is overused", deprecated_last_timestamp=LATER)
    words = "0/0 tasks in gang unschedulable: pod group is not ready, 4 minAvailable"
    for at in (LATER, LAST):
        echo = KubeEvent(reason="Unschedulable", note=words, deprecated_last_timestamp=at)
        assert last_complaint([echo, why]) == last_complaint([why, echo]) == why
        assert last_complaint([echo]) is None


@pytest.mark.parametrize("case", HISTORIES)
def test_the_last_thing_that_happened_to_a_pod_counts(case: str) -> None:
    events, expected = HISTORIES[case]
    found = last_complaint(events)
    assert (found.reason if found else "") == expected


def take_on(cluster: FakeCluster, name: str) -> str:
    """As a kubelet does that cannot mount a volume of the pod; gives the pod's UID."""
    state = [{"name": "paddle", "state": {"waiting": {"reason": "ContainerCreating"}}}]
    found = {"phase": "Pending", "startTime": LONG_AGO, "containerStatuses": state}
    changed = cluster.change("pods", name, {"spec": {"nodeName": "node"}, "status": found})
    return str(changed["metadata"]["uid"])


def complain(cluster: FakeCluster, uid: str) -> None:
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    said = {"reason": "FailedMount", "note": 'secret "token" not found', "deprecatedLastTimestamp": now}
    cluster.put("events", {"metadata": {"name": f"mount-{uid}"}, "regarding": {"uid": uid}, **said})


async def test_a_volume_that_cannot_be_mounted_is_told_until_the_pod_runs(
    cluster: FakeCluster, start: StartInside
) -> None:
    put_job(cluster, worker=a_role(1))
    await start()
    await until(lambda: cluster.names("pods") == ["train-worker-0"], "the pod")
    complain(cluster, "uid-of-another")
    complain(cluster, take_on(cluster, "train-worker-0"))
    await until(lambda: status(cluster).get("reason") == "FailedMount", "FailedMount")
    assert 'secret "token" not found' in status(cluster)["message"]
    assert len(cluster.asked("GET", "events")) == 1
    run(cluster)
    await until(lambda: status(cluster).get("phase") == "Running", "Running")
    assert "reason" not in status(cluster)


async def test_the_events_of_several_pods_are_read_at_the_same_time(cluster: FakeCluster, start: StartInside) -> None:
    both_asked = asyncio.Event()

    async def answer_when_both_asked(request: web.Request) -> web.StreamResponse:
        if len(cluster.asked("GET", "events")) == 2:
            both_asked.set()
        await both_asked.wait()
        return await cluster.answer(request)

    put_job(cluster, worker=a_role(2))
    cluster.fail("GET", "events", answer_when_both_asked, times=2)
    await start()
    await until(lambda: cluster.count("pods") == 2, "the pods")
    for name in cluster.names("pods"):
        complain(cluster, take_on(cluster, name))
    await until(lambda: status(cluster).get("reason") == "FailedMount", "FailedMount")
    assert status(cluster)["message"].startswith("2 of 2 pods")


async def test_events_that_may_not_be_read_harm_nothing(cluster: FakeCluster, start: StartInside) -> None:
    put_job(cluster, worker=a_role(1))
    cluster.fail("GET", "events", refuses(403, "Forbidden", "events is forbidden"))
    await start()
    await until(lambda: cluster.names("pods") == ["train-worker-0"], "the pod")
    take_on(cluster, "train-worker-0")
    await until(lambda: bool(cluster.asked("GET", "events")), "it asks")
    run(cluster)
    await until(lambda: status(cluster).get("phase") == "Running", "Running")
    assert len(cluster.asked("GET", "events")) == 1
