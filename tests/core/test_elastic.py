"""Elastic jobs, moment by moment: who is replaced, when it is completed, how it is scaled, what is said meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace

from paddlejob.api import PaddleJob, Status, World
from paddlejob.core import AskEtcd, Create, Delete, Etcd, ForgetEtcd, Observed, Plan, Pod, Said, observe, plan
from paddlejob.core.elastic import COMEBACKS
from tests.builders import (
    ETCD,
    NOW,
    NOW_TEXT,
    JobBuilder,
    PodBuilder,
    a_config_map,
    a_pod,
    an_elastic_job,
    pods_of,
)

ID = "team-train-8f432e67-0000"
LATER = NOW + timedelta(minutes=5)
SETTLED = World(replicas=2)


def running(world: World = SETTLED, workers: int = 2) -> JobBuilder:
    """A job that trains with two workers, asked for so many."""
    return an_elastic_job(workers).with_status(phase="Running", start_time=NOW_TEXT, world=world)


def said(value: str = "running", *exited: int, error: str = "") -> Said:
    """An answer that judges the workers with these numbers."""
    return Said(ID, NOW, value, frozenset(f"uid-of-train-worker-{one}" for one in exited), error)


def look(job: JobBuilder, *pods: PodBuilder | None, heard: Said | None = None, at: datetime = NOW) -> Plan:
    """One look at a job whose workers are these."""
    made = job.build()
    there = [one.of(made, "worker", index).build() for index, one in enumerate(pods) if one is not None]
    seen = observe(made, there, (), [a_config_map(made)] if there else [])
    return plan(made, replace(seen, etcd=Etcd(said=heard or said())), at)


def runs(address: str = "10.0.0.1") -> PodBuilder:
    return a_pod().with_address(address).running().touched()


def deleted(made: Plan) -> list[str]:
    return [one.name for one in made.actions if isinstance(one, Delete)]


def created(made: Plan) -> list[str]:
    return [one.name for one in made.actions if isinstance(one, Create)]


def world(made: Plan) -> World:
    assert made.status.world is not None
    return made.status.world


# Before the first worker.


def test_nothing_is_made_before_etcd_has_answered() -> None:
    job = an_elastic_job().build()
    made = plan(job, observe(job), NOW)
    assert [one for one in made.actions if isinstance(one, AskEtcd)] == [AskEtcd(ETCD, ID)]
    assert created(made) == []
    assert (made.status.phase, made.status.elastic) == ("Pending", "NONE")


def test_all_workers_are_made_when_it_has() -> None:
    made = look(an_elastic_job())
    assert created(made) == ["train-worker-0", "train-worker-1"]
    assert made.wake_at == NOW + timedelta(seconds=10)


def test_nothing_is_made_while_etcd_cannot_be_reached_and_the_job_says_so() -> None:
    made = look(an_elastic_job(), heard=said(error="etcd at 10.96.0.50:2379 cannot be reached"))
    assert created(made) == []
    assert (made.status.reason, made.status.elastic) == ("EtcdUnreachable", "ERROR")
    assert made.wake_at == NOW + timedelta(seconds=3)


def test_a_job_without_an_etcd_says_what_to_do_and_asks_nobody() -> None:
    made = look(an_elastic_job().annotated({}))
    assert (made.status.reason, made.status.elastic) == ("EtcdMissing", "ERROR")
    assert not [one for one in made.actions if isinstance(one, AskEtcd | Create)]
    stalled = made.status.condition("Stalled")
    assert stalled is not None
    assert stalled.status == "True"


def test_it_trains_on_when_etcd_is_silent_later() -> None:
    made = look(running(), runs(), runs(), heard=said(error="gone"))
    assert (made.status.phase, made.status.reason, made.status.elastic) == ("Running", "EtcdUnreachable", "ERROR")
    assert made.actions[1:] == ()  # told, and nothing else


# Who is replaced.

Fate = str
EXITS: dict[str, tuple[PodBuilder, Said, Fate]] = {
    "it runs": (runs(), said(), "stays"),
    "it exits 0 and nobody has asked since": (runs().succeeded(), said("completed"), "is asked about"),
    "it exits 0 alone, without having trained": (runs().succeeded(), said("running", 1), "is replaced"),
    "it exits 0 and etcd has forgotten the job": (runs().succeeded(), said("", 1), "is replaced"),
    "it exits 0 and etcd cannot be asked": (runs().succeeded(), said("", 1, error="gone"), "stays"),
    "it lost its peers": (runs().failed(250), said(), "is replaced"),
    "it was too few": (runs().failed(241), said(), "is replaced"),
    "its launcher lost etcd": (runs().failed(1), said(), "is replaced"),
    "it was killed": (runs().failed(137), said(), "is replaced"),
    "its node gives no code": (runs().in_phase("Failed"), said(), "is replaced"),
    "its node threw it out": (runs().evicted(), said(), "is replaced, not counted"),
    "it is being deleted": (runs().deleting(), said(), "stays"),
    "its program failed": (runs().failed(7), said(), "fails the job"),
    "it came back in place": (runs().restarted(1, 250), said(), "stays"),
    "it came back in place after its program failed": (runs().restarted(1, 7), said(), "fails the job"),
}


def fate(job: JobBuilder, one: PodBuilder, heard: Said) -> Fate:
    made = look(job, runs(), one, heard=heard)
    if made.status.phase == "Failed":
        return "fails the job"
    if [one for one in made.actions if isinstance(one, AskEtcd)]:
        return "is asked about"
    assert deleted(made) == []  # nothing is done before it is written
    if not made.status.replacing:
        return "stays"
    assert deleted(look(job.with_status(made.status), runs(), one, heard=heard)) == ["train-worker-1"]
    assert world(made).comebacks + made.status.disruptions == 1
    return "is replaced" if world(made).comebacks else "is replaced, not counted"


@pytest.mark.parametrize(("one", "heard", "expected"), EXITS.values(), ids=EXITS)
def test_a_worker(one: PodBuilder, heard: Said, expected: Fate) -> None:
    assert fate(running(), one, heard) == expected


def test_the_question_names_the_workers_that_the_answer_will_judge() -> None:
    made = look(running(), runs(), runs().succeeded(), heard=said("completed"))
    assert AskEtcd(ETCD, ID, ("uid-of-train-worker-1",)) in made.actions


def test_a_worker_that_is_gone_is_made_again_at_once() -> None:
    made = look(running(), runs(), None)
    assert created(made) == ["train-worker-1"]
    assert (made.status.phase, made.status.worker.pending if made.status.worker else 0) == ("Starting", 1)
    assert world(made).comebacks == 0


def test_a_worker_is_counted_once_however_long_its_end_takes() -> None:
    job = running()
    for _ in range(3):
        made = look(job, runs(), runs().failed(250))
        job = job.with_status(made.status)
    assert world(made).comebacks == 1
    made = look(job, runs().failed(250), runs().failed(250).deleting())
    assert (world(made).comebacks, made.status.replacing) == (2, ("uid-of-train-worker-0",))


def test_only_a_few_are_replaced_at_once_so_that_the_status_stays_small() -> None:
    job = an_elastic_job(20, most=20).with_status(start_time=NOW_TEXT)
    made = look(job, *[runs().failed(250) for _ in range(20)])
    assert (world(made).comebacks, len(made.status.replacing)) == (8, 8)
    made = look(job.with_status(made.status), *[runs().failed(250) for _ in range(20)])
    assert (world(made).comebacks, len(deleted(made))) == (8, 8)


def test_a_worker_that_waits_in_vain_for_a_peer_without_a_place_is_not_to_blame() -> None:
    made = look(running(), a_pod().unschedulable("no node"), runs().succeeded(), heard=said("", 1))
    assert (world(made).comebacks, made.status.replacing) == (0, ("uid-of-train-worker-1",))
    assert made.status.reason == "Unschedulable"


# The budget.


def test_workers_that_exit_again_and_again_fail_the_job() -> None:
    allowed = COMEBACKS * 2
    fine = look(running(), runs().restarted(allowed, 250), runs())
    assert fine.status.phase == "Running"
    made = look(running(), runs(), runs().restarted(allowed + 1, 250))
    assert made.status.phase == "Failed"
    assert made.status.failure is not None
    assert made.status.message == "train-worker-1 failed with exit code 250 (TooManyComebacks)"
    assert "do they run paddle.distributed.launch?" in made.status.failure.message


def test_a_program_that_never_completes_though_it_exits_0_fails_the_job() -> None:
    spent = replace(SETTLED, comebacks=COMEBACKS * 2)
    made = look(running(spent), runs().succeeded(), runs(), heard=said("", 0))
    assert made.status.message == "train-worker-0 failed with exit code 0 (TooManyComebacks)"


def test_each_hour_allows_some_more() -> None:
    tired = runs().restarted(COMEBACKS * 2 + 1, 250)
    assert look(running(), tired, runs(), at=NOW + timedelta(hours=1)).status.phase == "Running"


def test_replaced_workers_count_with_all_their_lives() -> None:
    spent = replace(SETTLED, comebacks=COMEBACKS * 2 - 3)
    made = look(running(spent), runs(), runs().restarted(3, 250).failed(250))
    assert world(made).comebacks == COMEBACKS * 2 - 3 + 1
    with_lives = a_pod().restarted(3, 250).in_phase("Failed")
    made = look(running(spent), runs(), with_lives)
    assert (world(made).comebacks, made.status.phase) == (COMEBACKS * 2 + 1, "Failed")


def test_a_job_that_lost_all_its_workers_fails_by_its_own_name() -> None:
    made = look(running(replace(SETTLED, comebacks=COMEBACKS * 2 + 1)))
    assert made.status.failure is not None
    assert (made.status.failure.pod, made.status.failure.exit_code) == ("train", None)


def test_another_attempt_begins_a_new_account() -> None:
    job = running(replace(SETTLED, comebacks=9, completed=NOW_TEXT)).with_status(attempt=1)
    heard = replace(said(), id="team-train-8f432e67-0001")
    assert world(look(job, heard=heard)) == World(attempt=1)


def test_a_backoff_limit_restarts_the_whole_job_for_a_failure_of_the_program() -> None:
    made = look(running().asking(backoff_limit=1), runs(), runs().failed(7))
    assert (made.status.phase, made.status.restarts) == ("Restarting", 1)


# Completion.


def test_it_is_completed_when_the_launcher_says_so_after_the_first_exit() -> None:
    made = look(running(), runs(), runs().succeeded(), heard=said("completed", 1), at=LATER)
    assert made.status.phase == "Running"
    assert world(made).completed == "2026-05-04T12:05:00Z"
    job = running().with_status(made.status)
    made = look(job, runs().succeeded(), runs().succeeded(), heard=said("completed", 1))
    assert (made.status.phase, made.status.elastic) == ("Completed", "NONE")
    assert made.status.message == "2 of 2 workers succeeded"


def test_all_at_once_too() -> None:
    made = look(running(), runs().succeeded(), runs().succeeded(), heard=said("completed", 0, 1))
    assert made.status.phase == "Completed"


COMPLETED = replace(SETTLED, completed=NOW_TEXT)
AFTERWARDS: dict[str, tuple[PodBuilder | None, datetime, str]] = {
    "the other still writes": (runs(), LATER, "Running"),
    "it exits 0": (runs().succeeded(), LATER, "Completed"),
    "it fails": (runs().failed(7), LATER, "Completed"),
    "it is gone": (None, LATER, "Completed"),
    "it hangs": (runs(), NOW + timedelta(minutes=10), "Completed"),
}


@pytest.mark.parametrize(("other", "at", "expected"), AFTERWARDS.values(), ids=AFTERWARDS)
def test_after_the_first_has_completed(other: PodBuilder | None, at: datetime, expected: str) -> None:
    made = look(running(COMPLETED), runs().succeeded(), other, heard=said("running", 0), at=at)
    assert made.status.phase == expected
    assert not [one for one in made.actions if isinstance(one, Create | Delete | AskEtcd)]
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


def ended(known: World = COMPLETED, minutes: int = 0, **fields: object) -> PaddleJob:
    at = (NOW - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return an_elastic_job().asking(**fields).with_status(phase="Completed", completion_time=at, world=known).build()


def after(job: PaddleJob, *pods: Pod, forgotten: bool = False) -> Plan:
    seen: Observed = replace(observe(job, pods), etcd=Etcd(forgotten=forgotten))
    return plan(job, seen, NOW)


def test_its_keys_are_removed_from_etcd_until_that_is_known_to_be_done() -> None:
    job = ended()
    made = after(job)
    (removed,) = made.actions
    assert isinstance(removed, ForgetEtcd)
    assert removed.keys == (f"/paddle/{ID}",)
    assert made.wake_at == NOW + timedelta(seconds=5)
    made = after(job, forgotten=True)
    assert (made.actions, world(made).forgotten) == ((), True)
    assert after(ended(world(made)), forgotten=False).actions == ()


def test_not_while_a_launcher_runs_that_would_write_them_again() -> None:
    job = ended(clean_pod_policy="Never")
    assert after(job, *(one.running().build() for one in pods_of(job).values())).actions == ()


def test_not_for_ever() -> None:
    assert after(ended(minutes=10)).actions == ()


def test_a_job_deletes_itself_only_when_its_keys_are_gone() -> None:
    job = ended(ttl_seconds_after_finished=0)
    kinds: Callable[[Plan], list[str]] = lambda made: [type(one).__name__ for one in made.actions]  # noqa: E731
    assert kinds(after(job)) == ["ForgetEtcd"]
    assert kinds(after(ended(replace(COMPLETED, forgotten=True), ttl_seconds_after_finished=0))) == ["DeleteJob"]


def test_other_jobs_know_nothing_of_all_this() -> None:
    status = Status(phase="Completed", completion_time=NOW_TEXT)
    job = an_elastic_job().asking(elastic=None).with_status(status).build()
    assert after(job, forgotten=True) == Plan((), status)
