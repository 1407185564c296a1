"""Pauses: what is disrupted again and again waits longer each time, and a long quiet run makes the pauses short again.

Each job lives through real looks, and its status goes through JSON between them, as if the operator were restarted.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import msgspec
import pytest
from msgspec.structs import replace

from paddlejob.api import Condition, Status
from paddlejob.api.status import as_json
from paddlejob.core import observe, plan
from paddlejob.core.backoff import QUIET_RUN, backoff
from tests.builders import EARLIER, NOW, NOW_TEXT, JobBuilder, a_job, a_ps_job, an_elastic_job, pods_of
from tests.core.world import World

WHOLE = a_job().with_workers(2)
SINGLE = a_ps_job(1, 2).with_gloo(0)
ELASTIC = an_elastic_job(workers=3, least=2, most=4)
LOST = "train-worker-1"


def restarted(world: World) -> None:
    """All that another operator knows of the job is what was written."""
    status = msgspec.json.decode(msgspec.json.encode(as_json(world.job.status)), type=Status)
    world.job = replace(world.job, status=status)


def pause_after(world: World, harm: Callable[[World], None]) -> float:
    """How long it takes until the pod that was harmed is there again; then all run again."""
    world.now += timedelta(seconds=5)
    harmed, before = world.pods[LOST].metadata.uid, world.now
    harm(world)
    for _ in range(60):
        restarted(world)
        world.settle()
        world.empty()
        world.settle()
        if LOST in world.pods and world.pods[LOST].metadata.uid != harmed:
            break
        world.wait()
    waited = (world.now - before).total_seconds()
    world.run()
    assert world.job.status.phase == "Running"
    return waited


def evict(world: World) -> None:
    world.evict(LOST)


def delete(world: World) -> None:
    world.delete(LOST)


# A restart of the whole job takes two seconds in which other pods may still be read.
LIVES: dict[str, tuple[JobBuilder, Callable[[World], None], list[int]]] = {
    "a whole job that is evicted": (WHOLE, evict, [2, 10, 20, 40, 80, 160, 320, 360, 360]),
    "a whole job whose pod is deleted": (WHOLE, delete, [2, 10, 20, 40, 80, 160, 320, 360, 360]),
    "a worker that is replaced alone": (SINGLE, evict, [0, 10, 20, 40, 80, 160, 320, 360, 360]),
    "such a worker that is deleted": (SINGLE, delete, [0, 10, 20, 40, 80, 160, 320, 360, 360]),
    "an elastic worker": (ELASTIC, evict, [0, 10, 20, 40, 80, 160, 320, 360, 360]),
}


@pytest.mark.parametrize("life", LIVES)
def test_what_is_disrupted_again_and_again_waits_longer_each_time(life: str) -> None:
    job, harm, pauses = LIVES[life]
    world = World(job.build())
    world.run()
    assert [pause_after(world, harm) for _ in pauses] == pauses


@pytest.mark.parametrize("life", LIVES)
def test_a_long_quiet_run_makes_the_pauses_short_again(life: str) -> None:
    job, harm, pauses = LIVES[life]
    world = World(job.build())
    world.run()
    assert [pause_after(world, harm) for _ in range(5)] == pauses[:5]
    world.now += QUIET_RUN
    assert [pause_after(world, harm) for _ in range(3)] == pauses[:3]


def test_a_run_that_is_not_quite_long_enough_resets_nothing() -> None:
    world = World(WHOLE.build())
    world.run()
    assert [pause_after(world, evict) for _ in range(3)] == [2, 10, 20]
    world.now += QUIET_RUN - timedelta(seconds=6)  # and five more pass before the next disruption
    assert pause_after(world, evict) == 40


def test_a_long_quiet_run_that_the_program_itself_ended_counts_too() -> None:
    world = World(WHOLE.asking(backoff_limit=1).build())
    world.run()
    assert [pause_after(world, evict) for _ in range(3)] == [2, 10, 20]
    world.now += QUIET_RUN
    assert pause_after(world, lambda world: world.fail(LOST)) == 10
    assert pause_after(world, evict) == 2


def test_a_resumed_job_has_no_pauses_behind_it() -> None:
    world = World(WHOLE.build())
    world.run()
    assert [pause_after(world, evict) for _ in range(3)] == [2, 10, 20]
    world.ask(suspend=True)
    world.settle()
    world.empty()
    world.ask(suspend=False)
    world.run()
    assert pause_after(world, evict) == 2


def test_an_elastic_job_trains_on_while_one_worker_waits() -> None:
    world = World(ELASTIC.build())
    world.run()
    assert [pause_after(world, evict) for _ in range(3)] == [0, 10, 20]
    world.now += timedelta(seconds=5)
    world.evict(LOST)
    world.settle()
    assert (world.job.status.phase, len(world.pods)) == ("Running", 2)
    assert world.job.status.next_attempt_time == "2026-05-04T12:01:30Z"


def test_a_node_that_takes_many_along_is_one_disruption() -> None:
    world = World(a_ps_job(1, 20).with_gloo(0).build())
    world.run()
    for name in [one for one in world.pods if "worker" in one]:
        world.now += timedelta(seconds=1)
        world.evict(name)
        world.turn()
    for _ in range(6):
        world.settle()
        world.run()
    status = world.job.status
    assert (status.phase, status.disruptions, status.disruptions_in_a_row) == ("Running", 20, 1)


def test_a_job_of_an_earlier_release_goes_on_with_what_it_counted() -> None:
    job = WHOLE.in_phase("Running").with_status(disruptions=3, attempt=3).build()
    pods = [one.evicted().build() for one in pods_of(job).values()]
    assert plan(job, observe(job, pods), NOW).status.next_attempt_time == "2026-05-04T12:00:40Z"


def test_the_pause_doubles_from_ten_seconds_to_six_minutes() -> None:
    assert [backoff(n).total_seconds() for n in (-1, 0, 1, 2, 5, 6, 10**6)] == [10, 10, 20, 40, 320, 360, 360]


# A time that somebody else wrote, or a clock that was wrong.

TIMES = {
    "in a thousand years": ("3026-05-04T12:00:00Z", "2026-05-04T12:06:00Z"),
    "in an hour": ("2026-05-04T13:00:00Z", "2026-05-04T12:06:00Z"),
    "as late as it can be": ("2026-05-04T12:06:01Z", "2026-05-04T12:06:01Z"),
    "soon": ("2026-05-04T12:00:10Z", "2026-05-04T12:00:10Z"),
}


@pytest.mark.parametrize("case", TIMES)
def test_a_next_attempt_beyond_any_pause_is_not_believed(case: str) -> None:
    written, believed = TIMES[case]
    stopped = Condition(type="Running", status="False", last_transition_time=EARLIER)
    job = WHOLE.with_status(phase="Restarting", attempt=1, next_attempt_time=written, conditions=(stopped,))
    world = World(job.build())
    world.settle()
    assert (world.job.status.next_attempt_time, world.plan().wake_at) == (
        believed,
        msgspec.json.decode(f'"{believed}"', type=type(NOW)),
    )
    # Nothing says what ended the attempt before; that it waits, and how long, is told all the same.
    assert (world.job.status.reason, world.job.status.message) == (
        "BackOff",
        f"the next attempt begins at {believed}",
    )
    world.wait()
    world.run()
    assert world.job.status.phase == "Running"


def test_a_time_that_cannot_be_read_holds_nothing_up() -> None:
    world = World(WHOLE.with_status(phase="Restarting", attempt=1, next_attempt_time="soon").build())
    world.run()
    assert (world.job.status.phase, world.now) == ("Running", NOW)


def test_the_pause_of_a_job_that_never_ran_begins_at_ten_seconds() -> None:
    job = WHOLE.with_status(phase="Starting", start_time=NOW_TEXT).build()
    pods = [one.evicted().build() for one in pods_of(job).values()]
    assert plan(job, observe(job, pods), NOW).status.next_attempt_time == "2026-05-04T12:00:10Z"
