"""Single pods replaced where Paddle takes a member back: workers of a PS job without gloo."""

from __future__ import annotations

from datetime import timedelta

import pytest

from paddlejob.core import Delete
from paddlejob.core.replace import MOST_AT_ONCE
from tests.builders import NOW, JobBuilder, a_job, a_ps_job
from tests.core.world import World

FREE = a_ps_job(1, 2).with_gloo(0).asking(backoff_limit=2)


def running(job: JobBuilder) -> World:
    world = World(job.build())
    world.run()
    return world


@pytest.mark.parametrize("network", ["PodIP", "Service"])
def test_a_worker_that_failed_is_replaced_alone_after_a_pause(network: str) -> None:
    world = running(FREE.asking(intranet=network))
    uids = {name: pod.metadata.uid for name, pod in world.pods.items()}
    world.fail("train-worker-1")
    made = world.turn()
    status = made.status
    assert (status.restarts, status.attempt, status.replacing) == (1, 0, (uids["train-worker-1"],))
    assert not [one for one in made.actions if isinstance(one, Delete)]  # counted before it is deleted
    world.settle()
    assert set(world.pods) == {"train-ps-0", "train-worker-0"}
    assert world.plan().wake_at == NOW + timedelta(seconds=10)
    assert world.job.status.message == "train-worker-1 failed with exit code 1 (Error)"
    world.wait()
    world.run()
    after = {name: pod.metadata.uid for name, pod in world.pods.items()}
    assert {name for name in uids if uids[name] != after[name]} == {"train-worker-1"}
    status = world.job.status
    assert (status.phase, status.restarts, status.replacing, status.next_attempt_time) == ("Running", 1, (), None)
    assert [one.reason for one in world.events] == ["Created", "Started", "Replaced", "Started"]


def test_a_disrupted_worker_is_replaced_at_once_and_not_charged() -> None:
    world = running(FREE.asking(backoff_limit=0))
    world.evict("train-worker-0")
    world.settle()
    world.run()
    status = world.job.status
    assert (status.phase, status.restarts, status.disruptions, status.attempt) == ("Running", 0, 1, 0)


def test_a_worker_that_is_just_gone_is_made_again() -> None:
    world = running(FREE)
    world.lose("train-worker-0")
    world.run()
    assert world.job.status.phase == "Running"
    assert "train-worker-0" in world.pods


def test_beyond_the_limit_the_job_fails() -> None:
    world = running(FREE.asking(backoff_limit=1))
    world.fail("train-worker-0")
    world.fail("train-worker-1")
    assert world.turn().status.phase == "Failed"


@pytest.mark.parametrize(
    "job", [FREE.with_gloo(1), a_job().with_workers(2).with_gloo(0).asking(backoff_limit=2)], ids=["gloo", "collective"]
)
def test_any_other_job_starts_again_as_a_whole(job: JobBuilder) -> None:
    world = running(job)
    world.fail("train-worker-0")
    assert world.turn().status.attempt == 1


def test_a_lost_server_takes_the_whole_job_along() -> None:
    world = running(FREE)
    world.lose("train-ps-0")
    assert world.turn().status.attempt == 1


def test_a_worker_that_had_succeeded_is_not_made_again() -> None:
    world = running(FREE)
    world.succeed("train-worker-0")
    world.settle()
    world.lose("train-worker-0")
    world.settle()
    assert "train-worker-0" not in world.pods
    world.succeed("train-worker-1")
    assert world.turn().status.phase == "Completed"


def made_since(world: World, before: dict[str, str]) -> set[str]:
    return {name for name, pod in world.pods.items() if before.get(name) != pod.metadata.uid}


@pytest.mark.parametrize("trouble", ["evict", "lose", "fail"])
@pytest.mark.parametrize("looked", [True, False])
def test_only_the_worker_that_broke_is_made_anew_and_not_one_that_had_succeeded(trouble: str, looked: bool) -> None:
    """Its pod was collected, and perhaps nobody looked since."""
    world = running(FREE)
    world.succeed("train-worker-0")
    world.settle()
    uids = {name: pod.metadata.uid for name, pod in world.pods.items()}
    world.lose("train-worker-0")
    if looked:
        world.settle()
    getattr(world, trouble)("train-worker-1")
    for _ in range(3):
        world.settle()
        world.wait()
        world.run()
    assert made_since(world, uids) == {"train-worker-1"}
    assert (world.job.status.phase, world.job.status.succeeded_indexes) == ("Running", "0")
    world.succeed("train-worker-1")
    assert world.turn().status.phase == "Completed"


def test_a_success_is_credited_to_the_worker_that_had_it() -> None:
    """Worker 1 succeeds in the moment in which worker 0, which had not, vanishes."""
    world = running(FREE)
    world.succeed("train-worker-1")
    world.settle()
    world.lose("train-worker-1")
    world.lose("train-worker-0")
    world.run()
    assert [name for name in world.pods if "worker" in name] == ["train-worker-0"]


def test_the_next_attempt_runs_all_workers_again() -> None:
    world = running(FREE)
    world.succeed("train-worker-0")
    world.settle()
    world.lose("train-ps-0")
    assert world.turn().status.succeeded_indexes is None
    world.wait()
    world.settle()
    world.empty()
    world.run()
    assert (world.job.status.phase, len(world.pods)) == ("Running", 3)


def test_the_status_names_only_a_few_at_once_and_comes_to_all() -> None:
    world = running(a_ps_job(1, 20).with_gloo(0))
    for name in [one for one in world.pods if "worker" in one]:
        world.evict(name)
    for _ in range(12):
        assert len(world.turn().status.replacing) <= MOST_AT_ONCE
    world.run()
    assert (world.job.status.phase, world.job.status.disruptions) == ("Running", 20)
