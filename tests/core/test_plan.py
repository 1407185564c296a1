"""The whole decision: from a job and what is there, what to do and what to say. Each test is one moment of a life.

Each rule is tested beside its own file; here is how they work together.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import msgspec
import pytest

from paddlejob.api import Condition, Failure, Job, RoleStatus, Status, Usage
from paddlejob.api.status import Phase
from paddlejob.core import JobEvent, Observed, Plan, Pod, observe, plan
from tests.builders import (
    EARLIER,
    NOW,
    NOW_TEXT,
    JobBuilder,
    a_config_map,
    a_job,
    a_pod,
    a_ps_job,
    a_refusal,
    pods_of,
    services_of,
)


def kinds(made: Plan) -> list[str]:
    return [type(one).__name__ for one in (*made.events, *made.actions)]


def running(job: Job) -> list[Pod]:
    return [one.running().build() for one in pods_of(job).values()]


def test_a_new_job_has_an_event_and_its_pods_are_made_servers_first() -> None:
    job = a_ps_job().at_generation(4).build()
    made = plan(job, observe(job), NOW)
    assert made.events == (JobEvent("Normal", "Created", "creating 2 ps and 2 worker pods in PS mode", 0),)
    names = ["train-ps-0", "train-ps-1", "train-worker-0", "train-worker-1"]
    assert [(one.kind, one.name) for one in made.creates] == [("Pod", name) for name in names]
    assert len(made.actions) == len(names)
    assert made.wake_at is None
    assert made.status == Status(
        phase="Pending",
        mode="PS",
        ps=RoleStatus(pending=2, ready="0/2"),
        worker=RoleStatus(pending=2, ready="0/2"),
        start_time=NOW_TEXT,
        observed_generation=4,
        usage=Usage(amount=4, state="waiting", since=NOW_TEXT),
        conditions=(
            Condition(
                type="Running", status="False", reason="Pending", last_transition_time=NOW_TEXT, observed_generation=4
            ),
        ),
    )


def test_a_job_that_runs_says_so() -> None:
    job = a_ps_job().in_phase("Starting").build()
    made = plan(job, observe(job, [*running(job), a_config_map(job)]), NOW)
    assert (made.events, made.actions) == ((JobEvent("Normal", "Started", "all pods are running", 0),), ())
    assert (made.status.phase, made.status.start_time) == ("Running", EARLIER)
    found = made.status.condition("Running")
    assert found is not None
    assert (found.status, found.last_transition_time) == ("True", NOW_TEXT)


def test_a_completed_job_keeps_its_last_counts() -> None:
    job = a_ps_job().in_phase("Running").build()
    pods = [
        one.succeeded().build() if "worker" in name else one.running().build() for name, one in pods_of(job).items()
    ]
    made = plan(job, observe(job, [*pods, a_config_map(job)]), NOW)
    assert (made.events, made.actions) == ((JobEvent("Normal", "Completed", "2 of 2 workers succeeded", 0),), ())
    status = made.status
    assert (status.phase, status.reason, status.completion_time) == ("Completed", "", NOW_TEXT)
    assert (status.ps, status.worker) == (RoleStatus(running=2, ready="2/2"), RoleStatus(succeeded=2, ready="0/2"))
    found = status.condition("Completed")
    assert found is not None
    assert (found.status, found.message) == ("True", "2 of 2 workers succeeded")


FAILURES: dict[str, tuple[Pod, str, Failure]] = {
    "its program": (
        a_pod().failed(137, reason="OOMKilled", message="out of memory").named("train-worker-0").build(),
        "train-worker-0 failed with exit code 137 (OOMKilled)",
        Failure(pod="train-worker-0", exit_code=137, reason="OOMKilled", message="out of memory"),
    ),
    "its disk": (
        a_pod().evicted("Pod ephemeral local storage usage exceeds the total limit").named("train-worker-0").build(),
        "train-worker-0 was lost (Evicted)",
        Failure(
            pod="train-worker-0",
            reason="Evicted",
            message="Pod ephemeral local storage usage exceeds the total limit",
        ),
    ),
}


@pytest.mark.parametrize(("pod", "message", "failure"), FAILURES.values(), ids=FAILURES.keys())
def test_a_job_failed_by(pod: Pod, message: str, failure: Failure) -> None:
    job = a_job().in_phase("Running").build()
    owned = Pod(metadata=a_pod().of(job, "worker", 0).build().metadata, spec=pod.spec, status=pod.status)
    made = plan(job, observe(job, [owned, a_config_map(job)]), NOW)
    assert (made.events, made.actions) == ((JobEvent("Warning", "Failed", message, 0),), ())
    status = made.status
    assert (status.phase, status.reason, status.message, status.failure) == ("Failed", failure.reason, message, failure)
    assert status.completion_time == NOW_TEXT
    found = status.condition("Failed")
    assert found is not None
    assert (found.status, found.message) == ("True", message)


def test_a_lost_pod_is_not_made_again_in_this_attempt() -> None:
    job = a_ps_job().in_phase("Running").build()
    made = plan(job, observe(job, [*running(job)[1:], a_config_map(job)]), NOW)
    assert kinds(made) == ["JobEvent"]
    assert made.status.phase == "Restarting"
    assert made.status.failure == Failure(
        pod="train-ps-0", reason="PodLost", message="pod train-ps-0 was deleted while the job was running"
    )


def test_which_workers_succeeded_is_remembered_until_the_end() -> None:
    job = a_job().with_workers(2).in_phase("Running").build()
    first, other = pods_of(job).values()
    made = plan(job, observe(job, [first.succeeded().build(), other.running().build(), a_config_map(job)]), NOW)
    assert (made.status.phase, made.status.succeeded_indexes) == ("Running", "0")
    job = msgspec.structs.replace(job, status=made.status)
    made = plan(job, observe(job, [other.running().build(), a_config_map(job)]), NOW)
    assert (made.status.phase, made.status.succeeded_indexes, made.actions) == ("Running", "0", ())
    made = plan(job, observe(job, [other.succeeded().build(), a_config_map(job)]), NOW)
    assert (made.status.phase, made.status.worker) == ("Completed", RoleStatus(succeeded=2, ready="0/2"))
    assert made.status.succeeded_indexes is None


def test_a_job_that_ended_is_no_longer_stalled() -> None:
    stalled = Condition(type="Stalled", status="True", reason="ImagePull", message="denied")
    job = a_job().in_phase("Pending").with_status(reason="ImagePull", message="denied", conditions=(stalled,)).build()
    pods = [one.succeeded().build() for one in pods_of(job).values()]
    status = plan(job, observe(job, [*pods, a_config_map(job)]), NOW).status
    found = status.condition("Stalled")
    assert found is not None
    assert (status.phase, status.reason, found.status) == ("Completed", "", "False")


FINAL: list[Phase] = ["Completed", "Failed"]


@pytest.mark.parametrize("end", FINAL)
def test_an_end_is_for_ever(end: Phase) -> None:
    job = a_ps_job().cleaning("Never").in_phase(end).with_status(completion_time=EARLIER).build()
    for pods in ([], running(job)):
        assert plan(job, observe(job, pods, refusals=[a_refusal("Pod", "x")]), NOW) == Plan(status=job.status)


def test_a_job_that_is_being_deleted_gets_nothing_new() -> None:
    """Foreground deletion ends only when nothing that the job owns is left: a new pod would hold it up."""
    job = a_ps_job().in_phase("Running").deleted().build()
    made = plan(job, observe(job), NOW)
    assert made.actions == ()
    assert made.status.phase == "Terminating"
    assert made.status.start_time == EARLIER


@pytest.mark.parametrize("end", FINAL)
def test_a_finished_job_keeps_its_end_while_it_is_deleted(end: Phase) -> None:
    job = a_ps_job().in_phase(end).cleaning("Always").deleted().build()
    assert plan(job, observe(job, running(job)), NOW) == Plan(status=job.status)


def test_a_refusal_is_told_once_and_tried_again_in_time() -> None:
    job = a_ps_job().in_phase("Pending").build()
    early, late = a_refusal("Pod", "train-ps-0", seconds=10), a_refusal("Pod", "train-ps-1", seconds=60)
    seen = observe(job, refusals=[late, early])
    made = plan(job, seen, NOW)
    assert kinds(made) == ["JobEvent"]
    assert made.wake_at == early.retry_at
    found = made.status.condition("Stalled")
    assert found is not None
    assert (found.status, found.reason, made.status.reason) == ("True", "QuotaExceeded", "QuotaExceeded")
    assert made.status.message == found.message

    told = a_ps_job().with_status(made.status).build()
    again = plan(told, seen, NOW + timedelta(seconds=10))
    assert (kinds(again), again.wake_at) == ([], late.retry_at)
    ahead = plan(told, seen, NOW + timedelta(seconds=60))
    assert (kinds(ahead), ahead.wake_at) == (["Create"], None)


UNRUNNABLE: dict[str, JobBuilder] = {
    "elastic": a_job().asking(elastic=1),
    "no workers": a_ps_job().without_workers(),
}


@pytest.mark.parametrize("job", UNRUNNABLE.values(), ids=UNRUNNABLE.keys())
def test_nothing_is_made_for_a_job_that_cannot_run(job: JobBuilder) -> None:
    made = plan(job.build(), observe(job.build()), NOW)
    assert kinds(made) == ["JobEvent"]
    assert made.status.phase == "Pending"
    found = made.status.condition("Stalled")
    assert found is not None
    assert found.status == "True"


def test_strangers_objects_are_neither_used_nor_touched() -> None:
    stranger = a_job().with_uid("another").cleaning("Always").build()
    theirs = running(stranger)
    done = a_job().cleaning("Always").in_phase("Completed").build()
    assert plan(done, observe(done, [*theirs, *services_of(stranger)]), NOW).actions == ()


TAKEN: dict[str, tuple[str, Callable[[Job], Observed], int]] = {
    "a pod": ("Pod train-worker-0", lambda other: observe(a_job().with_workers(2).build(), running(other)), 1),
    "a service": (
        "Service train-worker-0",
        lambda other: observe(a_job().with_workers(2).by_service().build(), services_of(other)),
        2,
    ),
    # Pods by address are made before the ConfigMap: with a stranger's there they would start on its values.
    "the ConfigMap": (
        "ConfigMap train",
        lambda other: observe(a_job().with_workers(2).build(), [a_config_map(other)]),
        0,
    ),
}


@pytest.mark.parametrize("case", TAKEN)
def test_while_an_earlier_job_has_a_name_the_job_waits_for_it_and_says_so(case: str) -> None:
    name, see, creates = TAKEN[case]
    seen = see(a_job().with_uid("another").build())
    job = a_job().with_workers(2).by("Service" if case == "a service" else "PodIP").build()
    made = plan(job, seen, NOW)
    assert (made.status.reason, kinds(made).count("Create")) == ("NameTaken", creates)
    assert name in made.status.message


def test_a_life_by_address() -> None:
    job = a_job()
    pod = a_pod().of(job.build(), "worker", 0)
    environment = [a_config_map(job.build())]
    moments = [
        ([], [], ["JobEvent", "Create"], "Pending"),
        ([pod], [], [], "Pending"),
        ([pod.with_address("10.0.0.1")], [], ["Create"], "Starting"),
        ([pod.with_address("10.0.0.1")], environment, ["Touch"], "Starting"),
        ([pod.with_address("10.0.0.1").touched()], environment, [], "Starting"),
        ([pod.running()], environment, ["JobEvent"], "Running"),
        ([pod.succeeded()], environment, ["JobEvent"], "Completed"),
        ([pod.succeeded()], environment, [], "Completed"),
    ]
    for pods, maps, actions, phase in moments:
        made = plan(job.build(), observe(job.build(), [*(one.build() for one in pods), *maps]), NOW)
        assert (kinds(made), made.status.phase) == (actions, phase)
        job = job.with_status(made.status)
