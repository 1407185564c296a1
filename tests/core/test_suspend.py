"""suspend: at creation and in the middle, and what comes after it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from paddlejob.api.status import Phase
from paddlejob.core import Delete, observe, plan
from tests.builders import NOW, a_config_map, a_job, pods_of
from tests.core.world import World

SUSPENDED = a_job().with_workers(2).asking(suspend=True)


def test_a_job_suspended_from_the_beginning_makes_nothing() -> None:
    job = SUSPENDED.build()
    made = plan(job, observe(job), NOW)
    status = made.status
    assert made.creates == ()
    assert (status.phase, status.attempt, status.start_time) == ("Suspended", 0, None)
    found = status.condition("Suspended")
    assert found is not None
    assert found.status == "True"


@pytest.mark.parametrize("phase", ["Pending", "Starting", "Running", "Restarting"])
def test_suspending_ends_the_attempt_before_any_pod_is_deleted(phase: Phase) -> None:
    job = SUSPENDED.in_phase(phase).build()
    pods = [one.running().build() for one in pods_of(job).values()]
    made = plan(job, observe(job, [*pods, a_config_map(job)]), NOW)
    assert (made.status.phase, made.status.attempt) == ("Suspended", 1)
    assert not [one for one in made.actions if isinstance(one, Delete)]


def test_pods_whose_job_never_said_that_it_began_go_too() -> None:
    job = SUSPENDED.build()
    world = World(job, [one.running().build() for one in pods_of(job).values()])
    world.settle()
    assert all(pod.deleting for pod in world.pods.values())
    assert (world.job.status.phase, world.job.status.attempt) == ("Suspended", 1)


def test_a_failure_while_suspended_does_not_count_but_success_does() -> None:
    job = SUSPENDED.in_phase("Running").build()
    failed = [one.failed(1).build() for one in pods_of(job).values()]
    status = plan(job, observe(job, failed), NOW).status
    assert (status.phase, status.restarts) == ("Suspended", 0)
    done = [one.succeeded().build() for one in pods_of(job).values()]
    assert plan(job, observe(job, done), NOW).status.phase == "Completed"


def test_a_resumed_job_starts_afresh_once_its_old_pods_are_gone() -> None:
    world = World(a_job().with_workers(2).build())
    world.run()
    world.ask(suspend=True)
    world.settle()
    world.now += timedelta(seconds=20)
    world.ask(suspend=False)
    world.settle()
    assert all(pod.deleting for pod in world.pods.values())
    assert world.job.status.phase == "Pending"
    world.empty()
    world.run()
    status = world.job.status
    assert (status.phase, status.start_time, status.attempt) == ("Running", "2026-05-04T12:00:20Z", 1)
    assert (status.restarts, status.disruptions) == (0, 0)
    assert [one.reason for one in world.events] == ["Created", "Started", "Suspended", "Created", "Started"]
    found = status.condition("Suspended")
    assert found is not None
    assert found.status == "False"


def test_while_suspended_no_deadline_passes() -> None:
    job = SUSPENDED.asking(active_deadline_seconds=1, starting_deadline_seconds=1).in_phase("Suspended")
    built = job.with_status(start_time=None).build()
    made = plan(built, observe(built), NOW + timedelta(days=1))
    assert (made.status.phase, made.wake_at) == ("Suspended", None)
