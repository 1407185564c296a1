"""What a living job still lacks, and in which order it is made: by address and by service.

Actions are compared by kind and name; the bodies are the business of test_pods and test_services.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta

import pytest

from paddlejob.api import Job
from paddlejob.core import Action, ConfigMap, Create, Refusal, Touch, observe
from paddlejob.core.building import build
from tests.builders import (
    CONFIG_MAP_UID,
    NOW,
    PodBuilder,
    a_config_map,
    a_job,
    a_pod,
    a_ps_job,
    a_refusal,
    a_service,
    pods_of,
    services_of,
)

BY_ADDRESS = a_ps_job().build()
BY_SERVICE = a_ps_job().by_service().build()
PODS = ["Pod train-ps-0", "Pod train-ps-1", "Pod train-worker-0", "Pod train-worker-1"]
SERVICES = [one.replace("Pod", "Service") for one in PODS]
CONFIG_MAP = "ConfigMap train"
TOUCHES = [one.replace("Pod", "touch") for one in PODS]
Change = Callable[[PodBuilder], PodBuilder]


def listed(actions: Iterable[Action]) -> list[str]:
    """Each action in two words. Building creates and touches, nothing else."""
    words = []
    for one in actions:
        assert isinstance(one, Create | Touch)
        words.append(f"{one.kind} {one.name}" if isinstance(one, Create) else f"touch {one.name}")
    return words


def by_address(change: Change | None, config_map: bool = False, **others: Change | None) -> list[str]:
    """What is done when all pods are like this (None: not there), but for those named in others."""
    pods = []
    for name, one in pods_of(BY_ADDRESS).items():
        how = others.get(name.removeprefix("train-").replace("-", "_"), change)
        pods += [how(one).build()] if how else []
    maps = [a_config_map(BY_ADDRESS)] if config_map else []
    return listed(build(BY_ADDRESS, observe(BY_ADDRESS, [*pods, *maps]), NOW))


def just_made(pod: PodBuilder) -> PodBuilder:
    return pod.with_address("")


def as_is(pod: PodBuilder) -> PodBuilder:
    return pod


ADDRESSES: dict[str, tuple[list[str], list[str]]] = {
    "nothing there: pods, servers first": (by_address(None), PODS),
    "some there: the others": (by_address(just_made, ps_0=None, worker_1=None), [PODS[0], PODS[3]]),
    "all there: wait for addresses": (by_address(just_made), []),
    "one address missing: wait": (by_address(as_is, worker_1=just_made), []),
    "all addresses known: ConfigMap": (by_address(as_is), [CONFIG_MAP]),
    "ConfigMap there: touch who waits for it": (by_address(as_is, config_map=True), TOUCHES),
    "touched already": (by_address(PodBuilder.touched, config_map=True), []),
    "touched for an older ConfigMap": (by_address(lambda pod: pod.touched("old"), config_map=True), TOUCHES),
    "running pods need no touch": (by_address(PodBuilder.running, config_map=True), []),
    "nor those going away": (by_address(as_is, config_map=True, ps_0=PodBuilder.deleting), TOUCHES[1:]),
    "a pod is going away: its place is taken until it is gone": (by_address(as_is, ps_0=PodBuilder.deleting), []),
    "a pod is missing after the launch: it is lost, not made again": (
        by_address(PodBuilder.touched, config_map=True, worker_0=None),
        [],
    ),
}


@pytest.mark.parametrize(("done", "expected"), ADDRESSES.values(), ids=ADDRESSES.keys())
def test_by_address(done: list[str], expected: list[str]) -> None:
    assert done == expected


def by_service(
    job: Job = BY_SERVICE, services: bool = True, config_map: bool = True, pods: tuple[PodBuilder, ...] = ()
) -> list[str]:
    maps: list[ConfigMap] = [a_config_map(job)] if config_map else []
    seen = observe(job, [*(one.build() for one in pods), *(services_of(job) if services else []), *maps])
    return listed(build(job, seen, NOW))


ALL_PODS = tuple(pods_of(BY_SERVICE).values())
SERVED: dict[str, tuple[list[str], list[str]]] = {
    "nothing there: names first": (by_service(services=False, config_map=False), [CONFIG_MAP, *SERVICES]),
    "ConfigMap missing": (by_service(config_map=False), [CONFIG_MAP]),
    "services missing": (by_service(services=False), SERVICES),
    "names there: pods, servers first": (by_service(), PODS),
    "a pod missing": (by_service(pods=ALL_PODS[1:]), PODS[:1]),
    "a pod missing after the launch": (
        by_service(a_ps_job().by_service().in_phase("Running").build(), pods=ALL_PODS[1:]),
        [],
    ),
    "all there: nobody is touched": (by_service(pods=ALL_PODS), []),
}


@pytest.mark.parametrize(("done", "expected"), SERVED.values(), ids=SERVED.keys())
def test_by_service(done: list[str], expected: list[str]) -> None:
    assert done == expected


def test_a_service_that_is_going_away_holds_nothing_up() -> None:
    job = a_job().by_service().build()
    seen = observe(job, [a_service(job, "worker", 0, deleting=True), a_config_map(job)])
    assert listed(build(job, seen, NOW)) == [PODS[2]]


def test_a_service_deleted_by_someone_is_made_again() -> None:
    job = a_job().by_service().in_phase("Running").build()
    pods = [one.running().build() for one in pods_of(job).values()]
    assert listed(build(job, observe(job, [*pods, a_config_map(job)]), NOW)) == ["Service train-worker-0"]


def test_a_touch_names_the_config_map_it_is_for() -> None:
    job = a_job().build()
    seen = observe(job, [a_pod().of(job, "worker", 0).with_address("10.0.0.1").build(), a_config_map(job)])
    assert [*build(job, seen, NOW)] == [Touch("train-worker-0", "batch.paddlepaddle.org/environment", CONFIG_MAP_UID)]


REFUSED: dict[str, tuple[Job, Refusal, list[str]]] = {
    "a pod is refused, and the others wait with it": (BY_ADDRESS, a_refusal("Pod", "train-worker-0"), []),
    "then one goes ahead, and not the same again": (
        BY_ADDRESS,
        a_refusal("Pod", "train-ps-0", seconds=0),
        [PODS[1]],
    ),
    "a name is taken, the others are not": (
        BY_ADDRESS,
        a_refusal("Pod", "train-worker-0", "NameTaken"),
        [*PODS[:2], PODS[3]],
    ),
    "until its time has come": (BY_ADDRESS, a_refusal("Pod", "train-worker-0", "NameTaken", seconds=0), PODS),
    "of another kind: nothing is held back": (BY_ADDRESS, a_refusal("Service", "train-worker-0"), PODS),
    "a service is held back, and the pods wait with it": (
        BY_SERVICE,
        a_refusal("Service", "train-ps-0"),
        [CONFIG_MAP],
    ),
}


@pytest.mark.parametrize(("job", "refusal", "expected"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(job: Job, refusal: Refusal, expected: list[str]) -> None:
    assert listed(build(job, observe(job, refusals=[refusal]), NOW)) == expected


def test_pods_are_not_made_while_a_service_is_refused() -> None:
    refused = a_refusal("Service", "train-ps-0")
    seen = observe(BY_SERVICE, [*services_of(BY_SERVICE)[1:], a_config_map(BY_SERVICE)], [refused])
    assert not [*build(BY_SERVICE, seen, NOW)]
    assert listed(build(BY_SERVICE, seen, NOW + timedelta(minutes=1))) == ["Service train-ps-0"]
