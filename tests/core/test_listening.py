"""Whose last lines are read, and when; one who may not listen hears nothing."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace

from paddlejob.api import Job
from paddlejob.core import Listen, Listening, Observed, Plan, Reading, Said, observe, plan
from paddlejob.core.children import ContainerState, Running
from paddlejob.core.listening import speaker
from paddlejob.core.times import LONG_AGO, NEVER, timestamp
from tests.builders import NOW, PodBuilder, a_config_map, a_job, a_pod

EVERY = timedelta(seconds=15)
TWO = a_job().with_workers(2).in_phase("Running").build()
RUNS = a_pod().running()


def seen(*pods: PodBuilder, job: Job = TWO, every: timedelta | None = EVERY, **said: Said) -> Observed:
    there = [one.of(job, "worker", index).build() for index, one in enumerate(pods)]
    found = observe(job, [*there, a_config_map(job)])
    heard = {f"uid-of-train-worker-{name[-1]}": one for name, one in said.items()}
    return replace(found, said=heard, listening=Listening(every))


def look(observed: Observed, seconds: float, job: Job = TWO) -> Plan:
    return plan(job, observed, NOW + timedelta(seconds=seconds))


def asked(made: Plan) -> list[str]:
    return [one.name for one in made.listens]


def silence(seconds: float) -> Said:
    return Said(NOW + timedelta(seconds=seconds))


def telling(seconds: float, *, last: bool = False) -> Said:
    at = NOW + timedelta(seconds=seconds)
    return Said(at, at, ("step 1/2",), (Reading(at, step=1, total=2),), last=last)


def test_nobody_is_listened_to_where_nobody_may() -> None:
    made = look(seen(RUNS, RUNS, every=None), 3600)
    assert (made.listens, made.wake_at) == ((), None)


@pytest.mark.parametrize("at", [LONG_AGO, NEVER])
def test_times_at_the_ends_of_the_calendar_hinder_no_plan(at: datetime) -> None:
    started = RUNS._container(ContainerState(running=Running(timestamp(at))))
    assert look(seen(started, RUNS), 16).status.phase == "Running"
    told = Said(NOW, NOW, ("step 1/2",), (Reading(at, step=1, total=2),))
    assert look(seen(started, RUNS, w0=told), 16).status.phase == "Running"


def test_a_worker_is_listened_to_when_it_has_run_for_a_while() -> None:
    early = look(seen(RUNS, RUNS), 14)
    assert (asked(early), early.wake_at) == ([], NOW + EVERY)
    assert look(seen(RUNS, RUNS), 15).listens == (Listen("train-worker-0", "uid-of-train-worker-0", "paddle"),)


def test_while_none_tells_anything_they_take_turns() -> None:
    once = look(seen(RUNS, RUNS, w0=silence(15)), 16)
    assert (asked(once), once.wake_at) == ([], NOW + 2 * EVERY)
    assert asked(look(seen(RUNS, RUNS, w0=silence(15)), 30)) == ["train-worker-1"]
    assert asked(look(seen(RUNS, RUNS, w0=silence(15), w1=silence(30)), 45)) == ["train-worker-0"]


def test_of_many_only_the_first_take_turns() -> None:
    job = a_job().with_workers(6).in_phase("Running").build()
    world = seen(*[RUNS] * 6, job=job, w0=silence(0), w1=silence(15), w2=silence(30), w3=silence(45))
    assert asked(look(world, 3600, job)) == ["train-worker-0"]


def test_one_that_tells_is_listened_to_from_then_on() -> None:
    world = seen(RUNS, RUNS, w0=silence(15), w1=telling(30))
    assert asked(look(world, 44)) == []
    assert asked(look(world, 45)) == ["train-worker-1"]


def test_of_several_that_tell_the_first_counts_as_long_as_it_tells() -> None:
    """Workers of parameter servers are at different steps: progress that leaps from one to another is none."""

    def who(first: Said, second: Said, pods: tuple[PodBuilder, ...] = (RUNS, RUNS)) -> str | None:
        found = speaker(seen(*pods, w0=first, w1=second))
        return None if found is None else found[0].metadata.name

    assert who(telling(30), telling(90)) == "train-worker-0"
    assert who(telling(30), telling(91)) == "train-worker-1"
    assert who(telling(90), telling(30)) == "train-worker-0"
    assert who(telling(90), telling(90), pods=(a_pod().succeeded(), RUNS)) == "train-worker-1"
    assert who(telling(10), telling(20), pods=(a_pod().succeeded(), a_pod().succeeded())) == "train-worker-1"
    assert who(silence(10), silence(20)) is None


@pytest.mark.parametrize(("ran", "pause"), [(600, 15), (3600, 15), (7200, 30), (86_400, 120)])
def test_the_longer_it_runs_the_more_rarely(ran: int, pause: int) -> None:
    made = look(seen(RUNS, RUNS, w0=telling(ran)), ran + 1)
    assert made.wake_at == NOW + timedelta(seconds=ran + pause)


def test_one_that_has_ended_is_listened_to_once_more_and_at_once() -> None:
    done = a_pod().succeeded()
    assert look(seen(done, RUNS, w0=telling(15)), 16).listens == (
        Listen("train-worker-0", "uid-of-train-worker-0", "paddle", last=True),
    )
    assert asked(look(seen(done, RUNS, w0=telling(16, last=True)), 17)) == []
    assert asked(look(seen(done, RUNS, w0=telling(16, last=True)), 40)) == ["train-worker-1"]
    assert asked(look(seen(done, RUNS), 14)) == []


def test_so_it_is_when_the_job_has_ended() -> None:
    ended = a_job().with_workers(2).in_phase("Completed").build()
    done = a_pod().succeeded()
    assert asked(look(seen(done, done, job=ended, w1=telling(15)), 16, ended)) == ["train-worker-1"]
    assert asked(look(seen(done, done, job=ended, w1=telling(16, last=True)), 17, ended)) == []


def test_what_was_heard_of_a_job_that_has_ended_is_of_use_until_it_stands_in_the_status() -> None:
    ended = a_job().with_workers(2).in_phase("Completed").build()
    done, heard_out = a_pod().succeeded(), telling(16, last=True)
    assert not look(seen(done, done, job=ended, w1=telling(15)), 16, ended).heard_out
    first = look(seen(done, done, job=ended, w1=heard_out), 17, ended)
    assert (first.heard_out, first.status.progress is None) == (False, False)
    written = replace(ended, status=first.status)
    second = look(seen(done, done, job=written, w1=heard_out), 18, written)
    assert (second.heard_out, second.status, second.listens) == (True, first.status, ())
    forgotten = look(seen(done, done, job=written), 19, written)
    assert forgotten == replace(second, heard_out=False)


def test_while_a_worker_of_a_job_that_has_ended_goes_on_it_is_not_forgotten() -> None:
    ended = a_job().with_workers(1).in_phase("Failed").cleaning("Never").build()
    written = replace(ended, status=look(seen(RUNS, job=ended, w0=telling(15)), 16, ended).status)
    assert not look(seen(RUNS, job=written, w0=telling(15)), 17, written).heard_out
    assert look(seen(job=written, w0=telling(15)), 17, written).heard_out
    assert not look(seen(RUNS, RUNS, w0=telling(15)), 17).heard_out


def test_one_that_is_going_away_or_does_not_run_is_left_alone() -> None:
    assert asked(look(seen(RUNS.deleting(), a_pod().placed(), w0=telling(1)), 60)) == []


def test_a_restarted_container_is_another_life() -> None:
    again = PodBuilder(
        replace(
            RUNS.pod,
            status=replace(
                RUNS.pod.status,
                container_statuses=tuple(replace(one, restart_count=2) for one in RUNS.pod.status.container_statuses),
            ),
        )
    )
    (listen,) = look(seen(again, RUNS), 15).listens
    assert listen.life == 2
