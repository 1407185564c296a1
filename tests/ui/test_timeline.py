"""The moments of a life, from what status, events and pods say of it."""

from __future__ import annotations

import msgspec

from paddlejob.api import Status
from paddlejob.core.children import Pod
from paddlejob.places.place import Event, Found
from paddlejob.ui.timeline import Moment, timeline
from tests.builders import a_job


def found(**status: object) -> Found:
    job = a_job().build()
    meta = msgspec.structs.replace(job.metadata, creation_timestamp="2026-01-01T10:00:00Z")
    job = msgspec.structs.replace(job, metadata=meta, status=msgspec.convert(status, Status))
    return Found(job=job, where="the cluster", phase=str(status.get("phase")), over=job.status.finished)


def a_placed_pod(node: str, at: str) -> Pod:
    condition = {"type": "PodScheduled", "status": "True", "lastTransitionTime": at}
    return msgspec.convert({"spec": {"nodeName": node}, "status": {"conditions": [condition]}}, Pod)


def whats(moments: tuple[Moment, ...]) -> list[str]:
    return [one.what for one in moments]


def test_events_tell_every_attempt_in_order() -> None:
    events = [
        Event("2026-01-01T10:00:09.500000Z", "Normal", "Started", "all pods are running"),
        Event("2026-01-01T10:00:00.400000Z", "Normal", "Created", "creating 2 worker pods"),
        Event("2026-01-01T10:01:00Z", "Warning", "Restarted", "train-worker-0 failed with exit code 1"),
        Event("2026-01-01T10:00:03Z", "Warning", "Unschedulable", "no node has room"),
        Event("2026-01-01T10:02:00Z", "Normal", "Unheard", "of no interest"),
        Event("", "Warning", "Undated", "when was it?"),
    ]
    moments = timeline(found(phase="Running", startTime="2026-01-01T10:00:09Z"), (), events)
    assert whats(moments) == ["created", "pods", "stalled", "started", "restarted"]


def test_what_the_status_says_stays_when_the_events_are_gone() -> None:
    job = found(
        phase="Failed",
        startTime="2026-01-01T10:00:09Z",
        completionTime="2026-01-01T11:00:00Z",
        reason="Error",
        message="it failed",
    )
    moments = timeline(job, (), ())
    assert whats(moments) == ["created", "started", "failed"]
    assert moments[-1].text == "it failed"


def test_of_one_second_the_beginning_comes_first() -> None:
    """A status has whole seconds; an event of the same second is not later than what it says."""
    events = [
        Event("2026-01-01T10:00:00.900000Z", "Warning", "Failed", "it failed"),
        Event("2026-01-01T10:00:00.400000Z", "Normal", "Created", "creating 1 worker pod"),
    ]
    job = found(phase="Failed", startTime="2026-01-01T10:00:00Z", completionTime="2026-01-01T10:00:00Z")
    assert whats(timeline(job, (a_placed_pod("a", "2026-01-01T10:00:00Z"),), events)) == [
        "created",
        "pods",
        "placed",
        "started",
        "failed",
    ]


def test_a_job_that_is_resumed_in_the_second_of_its_suspension_has_its_pods_afterwards() -> None:
    events = [
        Event("2026-01-01T10:00:01.100000Z", "Normal", "Suspended", "the job has no pods until it is resumed"),
        Event("2026-01-01T10:00:01.300000Z", "Normal", "Created", "creating 1 worker pod"),
        Event("2026-01-01T10:00:01.900000Z", "Normal", "Started", "all pods are running"),
    ]
    moments = timeline(found(phase="Running"), (a_placed_pod("a", "2026-01-01T10:00:01Z"),), events)
    assert whats(moments) == ["created", "suspended", "pods", "placed", "started"]


def test_of_one_second_the_end_comes_last() -> None:
    """Its event, which comes after the status, would say which part of the second it was."""
    events = [
        Event("2026-01-01T10:00:05.100000Z", "Warning", "Restarted", "train-worker-0 failed with exit code 1"),
        Event("2026-01-01T10:00:05.600000Z", "Normal", "Started", "all pods are running"),
    ]
    job = found(phase="Completed", startTime="2026-01-01T10:00:05Z", completionTime="2026-01-01T10:00:05Z")
    assert whats(timeline(job, (), events)) == ["created", "restarted", "started", "completed"]


def test_an_end_that_is_told_in_whole_seconds_comes_after_the_start() -> None:
    """It failed before it was seen to run: only the status says when it started."""
    job = found(phase="Failed", startTime="2026-01-01T10:00:00Z", completionTime="2026-01-01T10:00:00Z")
    told = [Event("2026-01-01T10:00:00Z", "Warning", "Failed", "it failed")]
    assert whats(timeline(job, (), told)) == ["created", "started", "failed"]


def test_a_job_is_placed_when_its_last_pod_has_a_node() -> None:
    pods = (a_placed_pod("a", "2026-01-01T10:00:02Z"), a_placed_pod("b", "2026-01-01T10:00:05Z"))
    placed = timeline(found(phase="Starting"), pods, ())[-1]
    assert (placed.what, placed.at, placed.text) == ("placed", "2026-01-01T10:00:05Z", "2")
    assert whats(timeline(found(phase="Pending"), (*pods, Pod()), ())) == ["created"]
