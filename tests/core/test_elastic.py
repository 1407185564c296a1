"""Elastic jobs, moment by moment: what is made first, who is replaced, and how often."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from paddlejob.api import World
from paddlejob.core import Answer, AskEtcd, observe, plan
from paddlejob.core.elastic import COMEBACKS
from tests.builders import (
    ETCD,
    NOW,
    NOW_TEXT,
    JobBuilder,
    PodBuilder,
    a_pod,
    an_elastic_job,
)
from tests.core.elastic_looks import ID, SETTLED, answered, created, deleted, look, running, runs, world

# Before the first worker.


def test_nothing_is_made_before_etcd_has_answered() -> None:
    job = an_elastic_job().build()
    made = plan(job, observe(job), NOW)
    assert made.questions == (AskEtcd(ETCD, ID),)
    assert created(made) == []
    assert (made.status.phase, made.status.elastic) == ("Pending", "NONE")


def test_all_workers_are_made_when_it_has() -> None:
    made = look(an_elastic_job())
    assert created(made) == ["train-worker-0", "train-worker-1"]
    assert made.wake_at == NOW + timedelta(seconds=10)


def test_nothing_is_made_while_etcd_cannot_be_reached_and_the_job_says_so() -> None:
    made = look(an_elastic_job(), heard=answered(error="etcd at 10.96.0.50:2379 cannot be reached"))
    assert created(made) == []
    assert (made.status.reason, made.status.elastic) == ("EtcdUnreachable", "ERROR")
    assert made.wake_at == NOW + timedelta(seconds=3)


def test_a_job_without_an_etcd_says_what_to_do_and_asks_nobody() -> None:
    made = look(an_elastic_job().annotated({}))
    assert (made.status.reason, made.status.elastic) == ("EtcdMissing", "ERROR")
    assert (made.questions, made.actions) == ((), ())
    stalled = made.status.condition("Stalled")
    assert stalled is not None
    assert stalled.status == "True"


def test_it_trains_on_when_etcd_is_silent_later() -> None:
    made = look(running(), runs(), runs(), heard=answered(error="gone"))
    assert (made.status.phase, made.status.reason, made.status.elastic) == ("Running", "EtcdUnreachable", "ERROR")
    assert (made.questions, made.actions) == ((), ())


# Who is replaced.

Fate = str
EXITS: dict[str, tuple[PodBuilder, Answer, Fate]] = {
    "it runs": (runs(), answered(), "stays"),
    "it exits 0 and nobody has asked since": (runs().succeeded(), answered("completed"), "is asked about"),
    "it exits 0 alone, without having trained": (runs().succeeded(), answered("running", 1), "is replaced"),
    "it exits 0 and etcd has forgotten the job": (runs().succeeded(), answered("", 1), "is replaced"),
    "it exits 0 and etcd cannot be asked": (runs().succeeded(), answered("", 1, error="gone"), "stays"),
    "it lost its peers": (runs().failed(250), answered(), "is replaced"),
    "it was too few": (runs().failed(241), answered(), "is replaced"),
    "its launcher lost etcd": (runs().failed(1), answered(), "is replaced"),
    "it was killed": (runs().failed(137), answered(), "is replaced"),
    "its node gives no code": (runs().in_phase("Failed"), answered(), "is replaced"),
    "its node threw it out": (runs().evicted(), answered(), "is replaced, not counted"),
    "it is being deleted": (runs().deleting(), answered(), "stays"),
    "its program failed": (runs().failed(7), answered(), "fails the job"),
    "it came back in place": (runs().restarted(1, 250), answered(), "stays"),
    "it came back in place after its program failed": (runs().restarted(1, 7), answered(), "fails the job"),
}


def fate(job: JobBuilder, one: PodBuilder, heard: Answer) -> Fate:
    made = look(job, runs(), one, heard=heard)
    if made.status.phase == "Failed":
        return "fails the job"
    if made.questions:
        return "is asked about"
    assert deleted(made) == []  # nothing is done before it is written
    if not made.status.replacing:
        return "stays"
    assert deleted(look(job.with_status(made.status), runs(), one, heard=heard)) == ["train-worker-1"]
    assert world(made).comebacks + made.status.disruptions == 1
    return "is replaced" if world(made).comebacks else "is replaced, not counted"


@pytest.mark.parametrize(("one", "heard", "expected"), EXITS.values(), ids=EXITS)
def test_a_worker(one: PodBuilder, heard: Answer, expected: Fate) -> None:
    assert fate(running(), one, heard) == expected


def test_the_question_names_the_workers_that_the_answer_will_judge() -> None:
    made = look(running(), runs(), runs().succeeded(), heard=answered("completed"))
    assert made.questions == (AskEtcd(ETCD, ID, ("uid-of-train-worker-1",)),)


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
    made = look(running(), a_pod().unschedulable("no node"), runs().succeeded(), heard=answered("", 1))
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
    made = look(running(spent), runs().succeeded(), runs(), heard=answered("", 0))
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
    heard = replace(answered(), id="team-train-8f432e67-0001")
    assert world(look(job, heard=heard)) == World(attempt=1)


def test_a_backoff_limit_restarts_the_whole_job_for_a_failure_of_the_program() -> None:
    made = look(running().asking(backoff_limit=1), runs(), runs().failed(7))
    assert (made.status.phase, made.status.restarts) == ("Restarting", 1)
