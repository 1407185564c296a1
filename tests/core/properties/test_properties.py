"""What holds for every job in every world: `plan` never raises, changes nothing it is given, asks for nothing twice,
and leads every job to an end that is true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from paddlejob.api import Job, Status
from paddlejob.api.status import as_json
from paddlejob.core import ConfigMap, Plan, Pod, Refusal, Scheduling, Service, observe, plan
from paddlejob.core.groups import Group
from paddlejob.core.managed import is_ours
from paddlejob.core.times import moment
from tests.builders import NOW, JobBuilder, PodBuilder, a_config_map, a_job, a_refusal, pods_of
from tests.core.strategies import EXAMPLES, children, jobs, runnable_jobs, schedulings
from tests.core.world import World, asks, attempt_of, cut

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
many = settings(patient, max_examples=EXAMPLES)
paths = settings(patient, max_examples=EXAMPLES)

NATURAL = ["place", "start", "succeed"]
HARMFUL = ["fail", "evict", "delete", "lose", "reap"]
Happening = tuple[str, int]
Children = tuple[list[Pod], list[Service], list[ConfigMap | Group], list[Refusal]]


def happenings(*kinds: str) -> st.SearchStrategy[list[Happening]]:
    """What happens to which of the pods that are there, one after the other."""
    return st.lists(st.tuples(st.sampled_from(kinds), st.integers(0, 5)), max_size=40)


@many
@given(jobs, children, schedulings)
def test_plan_is_total_and_pure(job: Job, there: Children, scheduling: Scheduling) -> None:
    pods, services, others, refusals = there
    seen = replace(observe(job, [*pods, *services, *others], refusals), scheduling=scheduling)
    before = msgspec.json.encode((job, seen))
    made = plan(job, seen, NOW)
    assert isinstance(made, Plan)
    assert msgspec.json.encode((job, seen)) == before
    assert plan(job, seen, NOW) == made
    msgspec.json.encode([one.body for one in made.creates])
    msgspec.json.encode(as_json(made.status))
    if is_ours(job) and job.metadata.deletion_timestamp is None and not made.status.finished:
        longest = NOW + timedelta(minutes=6, seconds=1)
        assert moment(made.status.next_attempt_time or "") <= longest  # whoever wrote the one before


@many
@given(jobs, children, schedulings)
def test_a_still_world_settles_and_nothing_is_asked_twice(job: Job, there: Children, scheduling: Scheduling) -> None:
    pods, services, others, refusals = there
    world = World(job, [*pods, *services, *others], refusals)
    world.scheduling = scheduling
    turns = world.settle()
    asked = [msgspec.json.encode(one) for made in turns for one in (*made.events, *made.actions, *made.questions)]
    assert len(asked) == len(set(asked))
    again = world.plan()
    assert (asks(again), again.status) == (False, world.job.status)


def happen(world: World, what: str, which: int) -> None:
    """To one of the pods that are there. A parameter server never exits by itself."""
    names = [name for name in sorted(world.pods) if what != "succeed" or "worker" in name]
    if names:
        getattr(world, what)(names[which % len(names)])


def assert_sound(world: World, made: Plan, before: Job) -> None:
    """What must hold at every moment, whatever happened."""
    attempts = {attempt_of(pod) for pod in world.pods.values()}
    assert len(attempts) <= 1  # pods of two attempts never live together
    created = [one for one in made.creates if one.kind == "Pod"]
    if before.status.finished or (before.status.phase in ("Starting", "Running") and before.spec.with_gloo):
        assert not created
    if made.status.phase == "Completed":
        assert world.trained >= {slot.name for slot in world.seen().of_role("worker")}
    assert made.status.restarts <= max(before.status.restarts, before.spec.backoff_limit)
    if before.spec.network == "PodIP":
        known = ",".join(world.environment.get(name, "") for name in ENDPOINTS)
        single = before.spec.mode == "PS" and not before.spec.with_gloo
        running = [
            pod for name, pod in world.pods.items() if pod.state == "running" and not ("worker" in name and single)
        ]
        assert all(f"{pod.status.pod_ip}:2379" in known.split(",") for pod in running)


ENDPOINTS = (
    "PADDLE_TRAINER_ENDPOINTS",
    "PADDLE_PSERVERS_IP_PORT_LIST",
    "PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST",
)


def turn(world: World) -> None:
    before = world.job
    made = world.turn()
    assert_sound(world, made, before)


def crash(world: World, done: int) -> None:
    """A turn cut short: some of its actions are done, and its status is never written."""
    made = world.plan()
    world.apply(replace(cut(made, done), status=world.job.status))


def go(world: World, path: list[Happening]) -> None:
    for what, which in path:
        match what:
            case "turn":
                turn(world)
            case "crash":
                crash(world, which)
            case _:
                happen(world, what, which)


def to_the_end(world: World, failing: set[int]) -> None:
    """Every pod goes on: it is placed, it starts, and, if it is a worker, it ends."""
    for _ in rounds(world, turn):
        for index, name in enumerate(sorted(world.pods)):
            world.place(name)
            world.start(name)
            if "worker" in name and world.job.status.phase == "Running":
                (world.fail if index in failing else world.succeed)(name)


def rounds(world: World, turn: Callable[[World], None]) -> Iterator[None]:
    """Time goes on, what is deleted goes, the operator looks: until the job has ended."""
    for _ in range(40):
        world.wait()
        turn(world)
        world.empty()
        turn(world)
        if world.job.status.finished:
            return
        yield
    raise AssertionError(f"no end in sight: {world.job.status}")


def begun(job: Job, running: bool) -> World:
    """A world with a new job, or one whose pods all run already."""
    world = World(job)
    for _ in range(6 if running else 0):
        turn(world)
        for name in world.pods:
            world.place(name)
            world.start(name)
    assert not running or world.job.status.phase == "Running"
    return world


def without_stall(status: Status) -> Status:
    """How it ended. What keeps it from being cleaned up comes and goes."""
    return msgspec.structs.replace(status, conditions=tuple(one for one in status.conditions if one.type != "Stalled"))


@paths
@given(
    st.builds(begun, runnable_jobs(), st.booleans()),
    happenings("turn", "crash", *NATURAL, *NATURAL, *HARMFUL),
    st.sets(st.integers(0, 5), max_size=2),
)
def test_every_path_leads_to_an_end_and_stays_there(world: World, path: list[Happening], failing: set[int]) -> None:
    go(world, path)
    to_the_end(world, failing)
    end = without_stall(world.job.status)
    world.settle()
    go(world, path)
    world.settle()
    assert without_stall(world.job.status) == end


@paths
@given(st.builds(begun, runnable_jobs(), st.booleans()), happenings(*NATURAL, *NATURAL, *HARMFUL))
def test_an_attentive_operator_fails_a_job_only_for_a_failure_of_its_program(
    world: World, path: list[Happening]
) -> None:
    for what, which in path:
        turn(world)
        happen(world, what, which)
    to_the_end(world, failing=set())
    if world.job.status.phase == "Failed":
        assert world.failures > world.job.spec.backoff_limit


@paths
@given(st.builds(begun, runnable_jobs(), st.just(True)), st.lists(st.booleans()))
def test_succeeded_workers_that_someone_deletes_do_no_harm(world: World, deleted: list[bool]) -> None:
    chosen = iter(deleted)
    for name in [one for one in sorted(world.pods) if "worker" in one]:
        world.succeed(name)
        world.settle()
        for finished in sorted(world.trained & world.pods.keys()):
            if next(chosen, False):
                world.lose(finished)
                world.settle()
    assert world.job.status.phase == "Completed"


CROWDS: dict[str, Callable[[PodBuilder], PodBuilder | None]] = {
    "new": lambda _: None,
    "placed": PodBuilder.placed,
    "running": PodBuilder.running,
    "succeeded": PodBuilder.succeeded,
    "failed": lambda pod: pod.failed(137, reason="OOMKilled", message="m" * 200),
    "lost": lambda pod: pod.deleting(),
    "unschedulable": lambda pod: pod.unschedulable("0/3 nodes are available"),
    "without image": lambda pod: pod.waiting("ErrImagePull", "not found"),
}


def size(job: Job, pods: list[Pod], refused: bool = False) -> int:
    refusals = [a_refusal("Pod", name, "Forbidden") for name in pods_of(job)] if refused else []
    seen = observe(job, [*pods, *([a_config_map(job)] if pods else [])], refusals)
    return len(msgspec.json.encode(as_json(plan(job, seen, NOW).status)))


@pytest.mark.parametrize("crowd", CROWDS)
@pytest.mark.parametrize("refused", [False, True])
def test_the_status_does_not_grow_with_the_number_of_pods(crowd: str, refused: bool) -> None:
    sizes = []
    for workers in (1, 500):
        job: JobBuilder = a_job().with_servers(1).with_workers(workers)
        changed = [CROWDS[crowd](one) for one in pods_of(job.build()).values()]
        sizes.append(size(job.build(), [one.build() for one in changed if one], refused))
    assert abs(sizes[1] - sizes[0]) < 32  # a few digits more, and "(and 500 more like it)"
