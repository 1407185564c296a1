"""What holds for every elastic job, whatever happens to its workers: no lone exit ends it, and it always ends."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.builders import an_elastic_job
from tests.core.properties.test_properties import crash, happen, paths, rounds
from tests.core.world import World

Happening = tuple[str, int]
HAPPENINGS = ["turn", "turn", "crash", "scale", "place", "start", "succeed", "fail", "evict", "delete", "lose", "reap"]


def scale(world: World, workers: int) -> None:
    spec = world.job.spec
    assert spec.worker is not None
    world.job = replace(world.job, spec=replace(spec, worker=replace(spec.worker, replicas=2 + workers % 3)))


def turn(world: World) -> None:
    before = world.job.status
    made = world.turn()
    created = made.creates
    if before.finished or (before.world and before.world.completed):
        assert not created
    assert len(world.pods) <= 4
    if made.status.phase == "Completed":
        assert world.launcher == "completed"  # exit 0 alone is not success


def go(world: World, path: list[Happening]) -> None:
    for what, which in path:
        match what:
            case "turn":
                turn(world)
            case "crash":
                crash(world, which)
            case "scale":
                scale(world, which)
            case _:
                happen(world, what, which)


def to_the_end(world: World) -> None:
    """Nothing bad happens any more, and as soon as enough workers run they train to the end."""
    for _ in rounds(world, turn):
        running = [name for name, pod in world.pods.items() if pod.state == "running" and not pod.deleting]
        for name in sorted(world.pods):
            world.place(name)
            world.start(name)
            if len(running) >= 2 or world.launcher:
                world.complete(name)


@paths
@given(
    st.lists(st.tuples(st.sampled_from(HAPPENINGS), st.integers(0, 5)), max_size=40),
    st.integers(2, 4),
)
def test_every_path_leads_to_completion_by_the_launchers_word(path: list[Happening], workers: int) -> None:
    world = World(an_elastic_job(workers).build())
    go(world, path)
    to_the_end(world)
    status = world.job.status
    assert status.phase == "Completed" or (status.failure and status.failure.reason == "TooManyComebacks")
    world.settle()
    assert world.job.status.world is not None
    assert world.job.status.world.forgotten
