"""Pods that do not start while their status says nothing: whose events are read, when, and what becomes of it."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace

from paddlejob.api import Job
from paddlejob.core import Complaint, Observed, Plan, observe, plan
from paddlejob.core.children import ContainerState, Running, Terminated, Waiting
from tests.builders import NOW, NOW_TEXT, PodBuilder, a_config_map, a_job, a_pod, pods_of

TWO = a_job().with_workers(2).in_phase("Starting").build()
CREATING = a_pod().waiting("ContainerCreating")


def taken_on(pod: PodBuilder, at: str | None = NOW_TEXT) -> PodBuilder:
    """Its kubelet has it since then."""
    return PodBuilder(replace(pod.pod, status=replace(pod.pod.status, start_time=at)))


def seen(*pods: PodBuilder, job: Job = TWO, **complaints: Complaint) -> Observed:
    there = [one.of(job, "worker", index).build() for index, one in enumerate(pods)]
    found = observe(job, [*there, a_config_map(job)])
    return replace(found, complaints={f"uid-of-train-worker-{name[-1]}": one for name, one in complaints.items()})


def look(observed: Observed, seconds: float) -> Plan:
    return plan(TWO, observed, NOW + timedelta(seconds=seconds))


def asked(made: Plan) -> list[str]:
    return [one.name for one in made.inquiries]


def complained(seconds: float = 0, times: int = 1, reason: str = "FailedMount") -> Complaint:
    return Complaint(NOW + timedelta(seconds=seconds), times, reason, 'secret "token" not found')


def test_the_events_of_a_pod_that_does_not_start_are_read_after_a_few_seconds() -> None:
    world = seen(taken_on(CREATING), taken_on(a_pod().running()))
    early = look(world, 4)
    assert (asked(early), early.wake_at) == ([], NOW + timedelta(seconds=5))
    assert asked(look(world, 5)) == ["train-worker-0"]


@pytest.mark.parametrize(("times", "pause"), [(1, 10), (2, 20), (3, 40), (6, 300), (5000, 300)])
def test_then_ever_more_rarely(times: int, pause: int) -> None:
    world = seen(taken_on(CREATING), taken_on(CREATING), w0=complained(5, times), w1=complained(5, times))
    made = look(world, 4 + pause)
    assert (asked(made), made.wake_at) == ([], NOW + timedelta(seconds=5 + pause))
    assert asked(look(world, 5 + pause)) == ["train-worker-0", "train-worker-1"]


def test_of_many_pods_those_are_asked_about_that_wait_longest() -> None:
    job = a_job().with_workers(20).in_phase("Starting").build()
    late, early = "2026-05-04T11:59:00Z", "2026-05-04T11:00:00Z"
    pods = [taken_on(CREATING, early if index == 19 else late) for index in range(20)]
    found = [one.name for one in plan(job, seen(*pods, job=job), NOW).inquiries]
    assert len(found) == 8
    assert found[0] == "train-worker-19"


INIT = ContainerState(running=Running(NOW_TEXT))
DONE = ContainerState(terminated=Terminated())
SILENT: dict[str, tuple[PodBuilder, bool]] = {
    "no container is known yet": (taken_on(a_pod().placed()), True),
    "its init container is done": (taken_on(a_pod().with_init(DONE).waiting("PodInitializing")), True),
    "its kubelet has not come to it": (CREATING, False),
    "it is not placed": (taken_on(a_pod()), False),
    "an init container runs": (taken_on(a_pod().with_init(INIT).waiting("PodInitializing")), False),
    "its status says why": (taken_on(a_pod().waiting("ErrImagePull")), False),
    "it is being deleted": (taken_on(CREATING).deleting(), False),
    "it runs": (taken_on(a_pod().running()), False),
}


@pytest.mark.parametrize("case", SILENT)
def test_only_pods_whose_status_is_silent_are_asked_about_and_believed(case: str) -> None:
    pod, silent = SILENT[case]
    assert bool(asked(look(seen(pod, taken_on(a_pod().running())), 6))) == silent
    told = look(seen(pod, taken_on(a_pod().running()), w0=complained(5)), 6).status
    assert (told.reason == "FailedMount") == silent


def test_what_the_events_say_is_told_until_the_pod_starts() -> None:
    told = look(seen(taken_on(CREATING), taken_on(CREATING), w0=complained(5)), 6)
    assert told.status.reason == "FailedMount"
    assert told.status.message == '1 of 2 pods: train-worker-0: secret "token" not found'
    nothing = look(seen(taken_on(CREATING), taken_on(CREATING), w0=complained(5, reason="")), 6)
    assert nothing.status.reason == ""


def test_a_container_that_has_no_word_for_its_waiting_is_silent() -> None:
    waiting = taken_on(a_pod().waiting(""))
    assert waiting.pod.status.container_statuses[0].state.waiting == Waiting("")
    assert asked(look(seen(waiting), 5)) == ["train-worker-0"]


def test_a_job_that_has_ended_asks_nothing() -> None:
    job = a_job().with_workers(2).cleaning("Never").in_phase("Failed").build()
    later: datetime = NOW + timedelta(hours=1)
    there = [taken_on(CREATING).of(job, "worker", index).build() for index in range(len(pods_of(job)))]
    assert plan(job, observe(job, there), later).inquiries == ()
