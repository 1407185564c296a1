"""A large job is worked on in steps: no plan asks for more than a step, and together they do everything once."""

from __future__ import annotations

from typing import Any

import pytest

from paddlejob.core import Create, Delete, Plan, Touch, observe, plan
from paddlejob.core.steps import STEP, first_step
from tests.builders import NOW, JobBuilder, a_job, a_refusal, a_template
from tests.core.world import World

PODS = 2 * STEP + 5
LARGE = a_job().with_workers(PODS)
IN_STEPS = [STEP, STEP, 5]


def steps(world: World, kind: type[Create | Delete | Touch]) -> list[int]:
    """Turn until a plan has no more; how many actions of the kind each asked for."""
    turns = [world.turn()]
    while turns[-1].more:
        turns.append(world.turn())
    return [sum(isinstance(one, kind) for one in made.actions) for made in turns]


def placed(job: JobBuilder) -> World:
    world = World(job.build())
    steps(world, Create)
    for name in world.pods:
        world.place(name)
    return world


def running(job: JobBuilder) -> World:
    world = placed(job)
    world.turn()
    steps(world, Touch)
    for name in world.pods:
        world.start(name)
    world.settle()
    assert world.job.status.phase == "Running"
    return world


@pytest.mark.parametrize("job", [LARGE, LARGE.by_service()], ids=["by address", "by service"])
def test_every_pod_is_made_once(job: JobBuilder) -> None:
    world = World(job.build())
    made: list[Plan] = [world.turn()]
    while made[-1].more or made[-1].actions:
        made.append(world.turn())
    names = [(one.kind, one.name) for turn in made for one in turn.creates]
    assert len(names) == len({*names})
    assert len(world.pods) == PODS
    assert max(len(turn.actions) for turn in made) == STEP


def test_what_is_created_comes_in_steps() -> None:
    assert steps(World(LARGE.build()), Create) == IN_STEPS


def test_pods_that_wait_are_touched_in_steps() -> None:
    world = placed(LARGE)
    world.turn()  # writes the ConfigMap
    assert steps(world, Touch) == IN_STEPS


def test_what_an_earlier_attempt_left_is_deleted_in_steps() -> None:
    world = running(LARGE)
    world.lose("train-worker-0")
    world.turn()  # decides
    world.wait()
    assert steps(world, Delete) == [STEP, STEP, 4]


def test_what_a_finished_job_leaves_is_deleted_in_steps() -> None:
    world = running(LARGE.cleaning("Always"))
    for name in world.pods:
        world.succeed(name)
    world.turn()  # decides
    assert steps(world, Delete) == IN_STEPS
    assert not world.pods


def test_a_job_of_exactly_one_step_has_no_more() -> None:
    assert steps(World(a_job().with_workers(STEP).build()), Create) == [STEP]
    assert first_step([]) == ((), False)


class Template(dict[str, Any]):
    """Counts how often pods are made of it."""

    read = 0

    def get(self, name: str, default: Any = None) -> Any:
        self.read += name == "metadata"
        return super().get(name, default)


def test_what_is_not_made_in_this_step_is_not_built() -> None:
    template = Template(a_template())
    job = LARGE.template(template).build()
    plan(job, observe(job), NOW)
    assert template.read <= STEP + 1


def test_what_cannot_be_made_now_is_not_built() -> None:
    template = Template(a_template())
    job = LARGE.template(template).build()
    refusals = [a_refusal("Pod", f"train-worker-{index}") for index in range(PODS)]
    assert not plan(job, observe(job, refusals=refusals), NOW).actions
    assert template.read == 0
