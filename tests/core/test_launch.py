"""By name, pods meet before all of them are placed: one that is lost then takes the attempt along, as it does later.

A pod that nobody can have met is just made again.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.builders import JobBuilder, a_ps_job, a_refusal
from tests.core.world import World

JOB = a_ps_job(1, 2).by_service()
HOMELESS = "train-worker-1"


def start_all_but_one(world: World, homeless: str = HOMELESS) -> None:
    """One pod finds no node; the others run."""
    for _ in range(3):
        world.settle()
        for name in [one for one in world.pods if one != homeless]:
            world.place(name)
            world.start(name)
    world.settle()


def first_attempt(job: JobBuilder = JOB) -> World:
    world = World(job.build())
    start_all_but_one(world)
    return world


def second_attempt() -> World:
    world = World(JOB.build())
    world.run()
    world.evict("train-ps-0")
    for _ in range(3):
        world.settle()
        world.empty()
        world.wait()
    start_all_but_one(world)
    assert (world.job.status.phase, world.job.status.attempt) == ("Restarting", 1)
    return world


LOSSES: dict[str, Callable[[World, str], None]] = {
    "it is deleted": World.delete,
    "it vanishes while nobody looks": World.lose,
    "its node throws it out": World.evict,
}


@pytest.mark.parametrize("how", LOSSES)
@pytest.mark.parametrize("begun", [first_attempt, second_attempt])
@pytest.mark.parametrize("lost", ["train-ps-0", "train-worker-0"])
def test_a_pod_lost_before_all_are_placed_starts_the_attempt_over(
    begun: Callable[[], World], how: str, lost: str
) -> None:
    world = begun()
    attempt = world.job.status.attempt
    LOSSES[how](world, lost)
    status = world.turn().status
    assert (status.phase, status.attempt, status.launched) == ("Restarting", attempt + 1, None)
    assert status.disruptions == attempt + 1


def test_the_job_is_still_pending_and_then_runs_as_any_other() -> None:
    world = first_attempt()
    assert (world.job.status.phase, world.job.status.launched) == ("Pending", True)
    world.run()
    assert (world.job.status.phase, world.job.status.launched) == ("Running", None)


def test_nothing_is_remembered_of_a_job_whose_pods_are_placed_together() -> None:
    world = World(JOB.build())
    world.settle()
    for name in world.pods:
        world.place(name)
    world.settle()
    for name in world.pods:
        world.start(name)
        assert world.turn().status.launched is None


@pytest.mark.parametrize("lost", ["train-ps-0", HOMELESS])
def test_a_pod_that_nobody_can_have_met_is_made_again(lost: str) -> None:
    world = World(JOB.build())
    world.settle()
    world.place("train-ps-0")
    world.settle()
    world.lose(lost)
    world.settle()
    assert (world.job.status.attempt, lost in world.pods) == (0, True)


def test_a_pod_that_was_never_made_is_not_lost() -> None:
    world = World(JOB.build(), refusals=[a_refusal("Pod", HOMELESS, "NameTaken")])
    start_all_but_one(world)
    assert (world.job.status.launched, world.job.status.attempt) == (None, 0)
    world.now += timedelta(seconds=31)
    world.settle()
    assert (world.job.status.attempt, HOMELESS in world.pods) == (0, True)


def test_a_server_that_is_deleted_before_the_last_pod_is_made_starts_the_attempt_over() -> None:
    world = World(JOB.build(), refusals=[a_refusal("Pod", HOMELESS, "NameTaken")])
    start_all_but_one(world)
    world.delete("train-ps-0")
    assert world.turn().status.attempt == 1


def test_a_worker_that_can_come_back_alone_does_so() -> None:
    world = first_attempt(JOB.with_gloo(0))
    world.lose("train-worker-0")
    world.run()
    assert (world.job.status.phase, world.job.status.attempt) == ("Running", 0)


def test_a_suspended_job_begins_afresh() -> None:
    world = first_attempt()
    world.ask(suspend=True)
    assert world.turn().status.launched is None
