"""Deadlines by timers that stand in the status: exact whoever looks, and whenever."""

from __future__ import annotations

from datetime import timedelta

import pytest

from paddlejob.core import observe, plan
from paddlejob.core.deadline import next_deadline
from tests.builders import NOW, a_config_map, a_job, a_refusal, pods_of
from tests.core.world import World

TWO = a_job().with_workers(2)


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def test_a_job_that_runs_too_long_fails_at_its_time_and_not_before() -> None:
    world = World(TWO.asking(active_deadline_seconds=60).build())
    world.run()
    assert world.plan().wake_at == NOW + seconds(60)
    world.now = NOW + seconds(59.9)
    assert world.turn().status.phase == "Running"
    world.now = NOW + seconds(60)
    status = world.turn().status
    assert (status.phase, status.reason, status.failure) == ("Failed", "DeadlineExceeded", None)
    assert status.message == "it did not complete within activeDeadlineSeconds (60 s after its start)"
    assert status.completion_time == "2026-05-04T12:01:00Z"


def test_the_time_to_start_does_not_count_once_it_runs() -> None:
    world = World(TWO.asking(starting_deadline_seconds=30).build())
    world.turn()
    assert world.plan().wake_at == NOW + seconds(30)
    world.run()
    assert world.plan().wake_at is None
    world.now = NOW + seconds(3600)
    assert world.turn().status.phase == "Running"


def test_a_job_that_does_not_get_to_run_fails_and_says_why_it_waited() -> None:
    world = World(TWO.asking(starting_deadline_seconds=30).build(), refusals=[a_refusal("Pod", "train-worker-0")])
    world.turn()
    world.now = NOW + seconds(30)
    status = world.turn().status
    assert (status.phase, status.reason) == ("Failed", "StartingDeadlineExceeded")
    assert "within startingDeadlineSeconds (30 s): QuotaExceeded: Pod train-worker-0" in status.message


def test_each_restart_has_its_own_time_to_start_but_all_share_the_time_to_run() -> None:
    world = World(TWO.asking(starting_deadline_seconds=30, active_deadline_seconds=300, backoff_limit=5).build())
    world.run()
    world.now = NOW + seconds(100)
    world.fail("train-worker-0")
    world.turn()
    assert next_deadline(world.job, world.job.status) == NOW + seconds(140)  # its pause of 10 s does not count
    world.now = NOW + seconds(140)
    assert world.turn().status.reason == "StartingDeadlineExceeded"


def test_a_pause_longer_than_the_time_to_start_does_not_fail_the_job() -> None:
    job = TWO.asking(starting_deadline_seconds=30, backoff_limit=9).with_status(restarts=8, attempt=8)
    world = World(job.build())
    world.run()
    world.fail("train-worker-0")
    world.turn()
    world.wait()
    world.settle()
    world.empty()
    world.now = NOW + seconds(360)
    world.run()
    assert world.job.status.phase == "Running"


def test_a_restart_is_not_begun_when_the_time_to_run_is_over() -> None:
    world = World(TWO.asking(active_deadline_seconds=60, backoff_limit=5).build())
    world.run()
    world.now = NOW + seconds(60)
    world.fail("train-worker-0")
    assert world.turn().status.reason == "DeadlineExceeded"


def test_a_job_that_completes_as_its_deadline_fires_is_completed() -> None:
    job = TWO.asking(active_deadline_seconds=1).in_phase("Running").build()
    done = [one.succeeded().build() for one in pods_of(job).values()]
    assert plan(job, observe(job, [*done, a_config_map(job)]), NOW).status.phase == "Completed"


@pytest.mark.parametrize("asked", [{}, {"active_deadline_seconds": 60, "starting_deadline_seconds": 60}])
def test_a_finished_job_has_no_deadline(asked: dict[str, int]) -> None:
    job = TWO.asking(**asked).in_phase("Failed").build()
    assert next_deadline(job, job.status) is None


def test_a_status_without_conditions_does_not_start_the_clock() -> None:
    job = TWO.asking(starting_deadline_seconds=60).in_phase("Pending").build()
    assert next_deadline(job, job.status) is None
