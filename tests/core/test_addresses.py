"""Addresses that change after the others were told of them, and addresses that PaddlePaddle cannot use."""

from __future__ import annotations

import msgspec
import pytest

from paddlejob.api import Failure
from paddlejob.core import ConfigMap, Update, observe, plan
from paddlejob.core.config_maps import config_map
from paddlejob.core.environment import shared_environment
from tests.builders import NOW, JobBuilder, a_job, a_ps_job, an_elastic_job, pods_of
from tests.core.world import World

TWO = a_job().with_workers(2)
PS = a_ps_job(2, 2)


def told(job: JobBuilder) -> World:
    """Every pod has an address, the ConfigMap is written, nothing has started."""
    world = World(job.build())
    for _ in range(3):
        world.settle()
        for name in world.pods:
            world.place(name)
    world.settle()
    assert world.job.status.phase == "Starting"
    return world


def running(job: JobBuilder) -> World:
    world = World(job.build())
    world.run()
    assert world.job.status.phase == "Running"
    return world


MOVES = {
    "a worker": (TWO, "train-worker-1"),
    "the first worker": (TWO, "train-worker-0"),
    "a server": (PS, "train-ps-1"),
    "a worker of a PS job": (PS, "train-worker-0"),
    "a heter worker": (PS.with_heter(1), "train-heter-0"),
    "a server without gloo": (PS.with_gloo(0), "train-ps-0"),
    "a worker that heter workers know": (PS.with_gloo(0).with_heter(1), "train-worker-0"),
    "on the host's network": (TWO.by("Host"), "train-worker-0"),
}


@pytest.mark.parametrize("begin", [told, running])
@pytest.mark.parametrize("case", MOVES)
def test_a_changed_address_starts_the_attempt_over_with_right_ones(case: str, begin: object) -> None:
    job, name = MOVES[case]
    world = told(job) if begin is told else running(job)
    old = world.pods[name].status.pod_ip
    world.move(name)
    new = world.pods[name].status.pod_ip
    made = world.turn()
    assert (made.status.phase, made.status.attempt, made.status.disruptions) == ("Restarting", 1, 1)
    assert made.status.failure == Failure(
        pod=name, reason="AddressChanged", message=f"its address is {new} now, and the other pods were told {old}"
    )
    assert made.status.message == f"{name} has another address (AddressChanged)"
    for _ in range(4):
        world.settle()
        world.empty()
        world.wait()
    world.run()
    assert (world.job.status.phase, world.job.status.attempt) == ("Running", 1)
    said = ",".join(world.environment.values())
    assert old not in said
    assert all(pod.status.pod_ip in said for pod in world.pods.values())


UNMOVED: dict[str, tuple[JobBuilder, str]] = {
    "a worker that nobody finds by its address": (PS.with_gloo(0), "train-worker-0"),
    "by name": (TWO.by_service(), "train-worker-0"),
    "an elastic worker": (an_elastic_job(), "train-worker-0"),
}


@pytest.mark.parametrize("case", UNMOVED)
def test_an_address_that_nobody_was_told_may_change(case: str) -> None:
    job, name = UNMOVED[case]
    world = running(job)
    world.move(name)
    world.settle()
    assert (world.job.status.phase, world.job.status.attempt) == ("Running", 0)


def test_a_change_before_anybody_was_told_is_of_no_account() -> None:
    world = World(TWO.build())
    world.settle()
    world.place("train-worker-0")
    world.settle()
    world.move("train-worker-0")
    world.run()
    assert (world.job.status.phase, world.job.status.attempt) == ("Running", 0)
    assert world.pods["train-worker-0"].status.pod_ip in world.environment["PADDLE_TRAINER_ENDPOINTS"]


def test_while_a_sandbox_is_made_anew_there_is_no_address_and_nothing_is_decided() -> None:
    world = running(TWO)
    pod = world.pods["train-worker-0"]
    status = msgspec.structs.replace(pod.status, pod_ip="")
    world.pods["train-worker-0"] = msgspec.structs.replace(pod, status=status)
    assert world.turn().status.phase == "Running"


def test_what_fails_because_an_address_changed_is_not_charged_to_the_program() -> None:
    world = running(TWO)
    world.move("train-worker-0")
    world.fail("train-worker-1")
    status = world.turn().status
    assert (status.phase, status.restarts, status.disruptions) == ("Restarting", 0, 1)


def test_of_a_job_too_large_for_endpoints_the_master_counts() -> None:
    job = a_job().with_workers(9999).in_phase("Running").build()
    pods = [one.running().build() for one in pods_of(job).values()]
    seen = observe(job, pods)
    data = shared_environment(job, seen)
    assert data is not None
    assert "PADDLE_TRAINER_ENDPOINTS" not in data
    there = msgspec.convert(config_map(job, data), ConfigMap)
    assert plan(job, observe(job, [*pods, there]), NOW).status.attempt == 0
    elsewhere = msgspec.structs.replace(there.data, master="10.9.9.9:2379")
    changed = msgspec.structs.replace(there, data=elsewhere)
    assert plan(job, observe(job, [*pods, changed]), NOW).status.attempt == 1


# IPv6: what was measured stands in docs/decisions/038.

SIX = ["fd00::1", "fd00::2"]


def on_six(job: JobBuilder) -> World:
    world = World(job.build())
    world.settle()
    for name, address in zip(sorted(world.pods), SIX, strict=False):
        pod = world.pods[name]
        world.place(name)
        status = msgspec.structs.replace(world.pods[name].status, pod_ip=address)
        world.pods[name] = msgspec.structs.replace(world.pods[name], status=status)
        assert pod.status.pod_ip == ""
    world.settle()
    return world


@pytest.mark.parametrize(
    "job", [TWO, TWO.by("Host"), a_ps_job(1, 1), an_elastic_job()], ids=["PodIP", "Host", "PS", "elastic"]
)
def test_a_job_on_ipv6_addresses_starts_nothing_and_says_what_to_do(job: JobBuilder) -> None:
    world = on_six(job)
    assert world.children["ConfigMap"] == {}
    status = world.job.status
    first = min(world.pods)
    assert status.reason == "IPv6Address"
    assert status.message == (
        f"{first} has the address fd00::1, and PaddlePaddle cannot connect by IPv6: on a cluster that has IPv4 too,"
        " use intranet: Service, or let IPv4 be its first family"
    )
    stalled = status.condition("Stalled")
    assert stalled is not None
    assert stalled.status == "True"


@pytest.mark.parametrize("job", [a_job(), TWO.by_service()], ids=["a lone worker", "by name"])
def test_a_job_that_needs_no_addresses_runs_on_ipv6_too(job: JobBuilder) -> None:
    world = on_six(job)
    assert world.job.status.reason == ""
    world.run()
    assert world.job.status.phase == "Running"


def test_the_config_map_of_the_attempt_before_says_nothing_of_this_one() -> None:
    world = running(TWO)
    world.evict("train-worker-0")
    for _ in range(3):
        world.settle()
        world.empty()
        world.wait()
    world.settle()
    for name in world.pods:
        world.place(name)
    assert any(isinstance(one, Update) for made in world.settle() for one in made.actions)
    assert world.job.status.attempt == 1
