"""Elastic jobs, moment by moment: when one is completed, how it is scaled, and what is done after its end."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace

from paddlejob.api import Job, Status, World
from paddlejob.core import Etcd, ForgetEtcd, Plan, Pod, observe, plan
from tests.builders import (
    NOW,
    NOW_TEXT,
    JobBuilder,
    PodBuilder,
    a_pod,
    a_template,
    an_elastic_job,
    pods_of,
)
from tests.core.elastic_looks import ID, LATER, SETTLED, answered, created, deleted, look, running, runs, world

# Completion.


def test_it_is_completed_when_the_launcher_says_so_after_the_first_exit() -> None:
    made = look(running(), runs(), runs().succeeded(), heard=answered("completed", 1), at=LATER)
    assert made.status.phase == "Running"
    assert world(made).completed == "2026-05-04T12:05:00Z"
    job = running().with_status(made.status)
    made = look(job, runs().succeeded(), runs().succeeded(), heard=answered("completed", 1))
    assert (made.status.phase, made.status.elastic) == ("Completed", "NONE")
    assert made.status.message == "2 of 2 workers succeeded"


def test_all_at_once_too() -> None:
    made = look(running(), runs().succeeded(), runs().succeeded(), heard=answered("completed", 0, 1))
    assert made.status.phase == "Completed"


@pytest.mark.parametrize("word", ["running", "completed"])
def test_exit_0_of_a_worker_that_is_taken_away_says_nothing_and_is_replaced_as_a_disruption(word: str) -> None:
    taken = runs().succeeded().targeted("EvictionByEvictionAPI")
    made = look(running(), runs(), taken, heard=answered(word, 1), at=LATER)
    assert (made.status.phase, world(made).completed, world(made).comebacks) == ("Running", None, 0)
    assert (made.status.disruptions, made.status.replacing) == (1, ("uid-of-train-worker-1",))


COMPLETED = replace(SETTLED, completed=NOW_TEXT)
AFTERWARDS: dict[str, tuple[PodBuilder | None, datetime, str]] = {
    "the other still writes": (runs(), LATER, "Running"),
    "it exits 0": (runs().succeeded(), LATER, "Completed"),
    "it fails": (runs().failed(7), LATER, "Completed"),
    "it is gone": (None, LATER, "Completed"),
    "it was made again and has no node": (a_pod(), LATER, "Completed"),
    "it was made again and waits for its environment": (a_pod().with_address("10.0.0.9"), LATER, "Completed"),
    "it hangs": (runs(), NOW + timedelta(minutes=10), "Completed"),
}


@pytest.mark.parametrize(("other", "at", "expected"), AFTERWARDS.values(), ids=AFTERWARDS)
def test_after_the_first_has_completed(other: PodBuilder | None, at: datetime, expected: str) -> None:
    made = look(running(COMPLETED), runs().succeeded(), other, heard=answered("running", 0), at=at)
    assert made.status.phase == expected
    assert (made.questions, made.actions) == ((), ())
    assert expected == "Completed" or made.wake_at == NOW + timedelta(minutes=10)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_completed_job_is_not_scaled(workers: int) -> None:
    made = look(running(COMPLETED, workers), runs().succeeded(), runs(), runs())
    assert (created(made), deleted(made), made.status.phase) == ([], [], "Running")


# Scaling.


def test_scaling_up_makes_the_missing_workers_and_touches_no_other() -> None:
    job = running(workers=4)
    made = look(job, runs(), runs())
    assert created(made) == ["train-worker-2", "train-worker-3"]
    assert deleted(made) == []
    assert (made.status.phase, made.status.elastic) == ("Scaling", "DOING")
    condition = made.status.condition("Running")
    assert condition is not None
    assert condition.status == "True"  # it trains meanwhile
    made = look(job.with_status(made.status), runs(), runs(), runs(), runs())
    assert (made.status.phase, made.status.elastic) == ("Running", "DONE")
    assert world(made) == World(replicas=4, scalings=1)


def test_scaling_down_removes_the_highest_first() -> None:
    job = running(World(replicas=4), workers=2)
    made = look(job, runs(), runs(), runs(), runs())
    assert deleted(made) == ["train-worker-3", "train-worker-2"]
    assert (made.status.phase, made.status.elastic) == ("Scaling", "DOING")
    made = look(job.with_status(made.status), runs(), runs(), runs().deleting(), None)
    assert (deleted(made), made.status.phase) == ([], "Scaling")
    made = look(job.with_status(made.status), runs(), runs())
    assert (made.status.phase, made.status.elastic) == ("Running", "DONE")


def test_worker_ten_is_higher_than_worker_nine() -> None:
    made = look(an_elastic_job(2, most=20).with_status(world=World(replicas=11)), *[runs() for _ in range(11)])
    assert deleted(made)[:2] == ["train-worker-10", "train-worker-9"]


def test_there_are_never_more_workers_than_the_limit() -> None:
    made = look(running(workers=9), runs(), runs())
    assert created(made) == ["train-worker-2", "train-worker-3"]


def test_scaling_goes_on_while_a_worker_is_replaced() -> None:
    job = running(workers=3)
    made = look(job, runs(), runs().evicted())
    assert (made.status.phase, made.status.disruptions) == ("Scaling", 1)
    made = look(job.with_status(made.status), runs(), runs().evicted())
    assert deleted(made) == ["train-worker-1"]
    made = look(job.with_status(made.status), runs(), None)
    made = look(job.with_status(made.status), runs(), None)
    assert (created(made), made.status.phase) == (["train-worker-1", "train-worker-2"], "Scaling")


STATES: dict[str, tuple[JobBuilder, tuple[PodBuilder | None, ...], str]] = {
    "none is there": (an_elastic_job(3), (), "Pending"),
    "not enough run": (an_elastic_job(3), (runs(), a_pod().placed(), a_pod().placed()), "Starting"),
    "enough run, one does not": (an_elastic_job(3), (runs(), runs(), a_pod()), "Running"),
    "all run": (an_elastic_job(3), (runs(), runs(), runs()), "Running"),
}


@pytest.mark.parametrize(("job", "pods", "expected"), STATES.values(), ids=STATES)
def test_the_phase_when(job: JobBuilder, pods: tuple[PodBuilder | None, ...], expected: str) -> None:
    assert look(job, *pods).status.phase == expected


# After the end.


def ended(known: World = COMPLETED, minutes: int = 0, **fields: object) -> Job:
    at = (NOW - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return an_elastic_job().asking(**fields).with_status(phase="Completed", completion_time=at, world=known).build()


def after(job: Job, *pods: Pod, forgotten: bool = False) -> Plan:
    seen = observe(job, pods, etcd=Etcd(forgotten=forgotten))
    return plan(job, seen, NOW)


def test_its_keys_are_removed_from_etcd_until_that_is_known_to_be_done() -> None:
    job = ended()
    made = after(job)
    (removed,) = made.questions
    assert isinstance(removed, ForgetEtcd)
    assert removed.keys == (f"/paddle/{ID}",)
    assert made.wake_at == NOW + timedelta(seconds=5)
    made = after(job, forgotten=True)
    assert (made.questions, world(made).forgotten) == ((), True)
    assert after(ended(world(made)), forgotten=False).questions == ()


def test_not_while_a_launcher_runs_that_would_write_them_again() -> None:
    job = ended(clean_pod_policy="Never")
    assert after(job, *(one.running().build() for one in pods_of(job).values())).questions == ()


def test_not_under_an_id_that_the_user_chose_and_the_end_waits_for_nothing() -> None:
    own = a_template(env=[{"name": "PADDLE_JOB_ID", "value": "paddle"}])
    job = an_elastic_job().template(own).with_status(phase="Completed", completion_time=NOW_TEXT, world=COMPLETED)
    assert after(job.build()) == Plan(status=job.build().status)


def test_not_for_ever() -> None:
    assert after(ended(minutes=10)).questions == ()


def test_a_job_deletes_itself_only_when_its_keys_are_gone() -> None:
    made = after(ended(ttl_seconds_after_finished=0))
    assert (len(made.questions), made.expired) == (1, False)
    made = after(ended(replace(COMPLETED, forgotten=True), ttl_seconds_after_finished=0))
    assert (len(made.questions), made.expired) == (0, True)


def test_what_still_runs_or_starts_holds_no_job_longer_than_it_was_to_stay() -> None:
    """Its pods go with it anyway, whatever `cleanPodPolicy` says: first they, then its keys, then the job."""
    job = ended(clean_pod_policy="Never", ttl_seconds_after_finished=60)
    pods = [one.with_address("10.0.0.9").build() for one in pods_of(job).values()]
    seen = observe(job, pods)
    assert plan(job, seen, NOW + timedelta(seconds=59)).actions == ()
    made = plan(job, seen, NOW + timedelta(seconds=60))
    assert (deleted(made), made.questions, made.expired) == (["train-worker-0", "train-worker-1"], (), False)


def test_other_jobs_know_nothing_of_all_this() -> None:
    status = Status(phase="Completed", completion_time=NOW_TEXT)
    job = an_elastic_job().asking(elastic=None).with_status(status).build()
    assert after(job, forgotten=True) == Plan(status=status)
