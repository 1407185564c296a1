"""How a job ends: named worlds, and the end that each one shows.

Workers decide about success, any pod about failure, and a pod that vanished is lost, unless it had succeeded before.
"""

from __future__ import annotations

from typing import Any

import pytest

from paddlejob.api import Failure, Job
from paddlejob.core import Pod, observe
from paddlejob.core.children import ContainerState, ContainerStatus, PodStatus, Terminated
from paddlejob.core.ending import Completed, Disrupted, Failed, describe, judge, launched
from tests.builders import JobBuilder, PodBuilder, a_config_map, a_job, a_pod, a_ps_job, pods_of

RUNNING = a_ps_job().in_phase("Running")


def end_of(job: JobBuilder, **changed: PodBuilder | None) -> str:
    """How a job ends whose pods all run, except those named: `worker_0=None` is not there."""
    built = job.build()
    pods: dict[str, PodBuilder | None] = {name: one.running() for name, one in pods_of(built).items()}
    for place, one in changed.items():
        pods[f"train-{place.replace('_', '-')}"] = one
    observed = observe(built, [one.build() for one in pods.values() if one])
    match judge(built, observed):
        case None:
            return "goes on"
        case Completed():
            return "Completed"
        case Failed(failure):
            return f"Failed by {failure.pod}: {failure.reason}"
        case Disrupted(failure):
            return f"Disrupted at {failure.pod}: {failure.reason}"


def pod(job: JobBuilder, place: str) -> PodBuilder:
    return pods_of(job.build())[f"train-{place}"]


W0, W1, PS0 = (pod(RUNNING, place) for place in ("worker-0", "worker-1", "ps-0"))
AFTER_ONE = RUNNING.with_status(succeeded_indexes="0")
AFTER_TWO = RUNNING.with_status(succeeded_indexes="0-1")
WORLDS: dict[str, tuple[JobBuilder, dict[str, Any], str]] = {
    "all run": (RUNNING, {}, "goes on"),
    "one worker succeeded": (RUNNING, {"worker_0": W0.succeeded()}, "goes on"),
    "all workers succeeded, servers run": (
        RUNNING,
        {"worker_0": W0.succeeded(), "worker_1": W1.succeeded()},
        "Completed",
    ),
    "servers that exit make no success": (RUNNING, {"ps_0": PS0.succeeded()}, "goes on"),
    "a worker failed": (RUNNING, {"worker_1": W1.failed(1)}, "Failed by train-worker-1: Error"),
    "a server failed": (RUNNING, {"ps_0": PS0.failed(139)}, "Failed by train-ps-0: Error"),
    "a server failed after all workers succeeded": (
        RUNNING,
        {"worker_0": W0.succeeded(), "worker_1": W1.succeeded(), "ps_0": PS0.failed(1)},
        "Completed",
    ),
    "a server ended after all workers succeeded": (
        RUNNING,
        {"worker_0": W0.succeeded(), "worker_1": W1.succeeded(), "ps_0": None},
        "Completed",
    ),
    "the first of two failures is told": (
        RUNNING,
        {"worker_0": W0.failed(1, at="2026-01-01T00:00:02Z"), "worker_1": W1.failed(1, at="2026-01-01T00:00:01Z")},
        "Failed by train-worker-1: Error",
    ),
    "a failure at an unknown time comes last": (
        RUNNING,
        {"ps_0": PS0.failed(1, at=None), "worker_0": W0.in_phase("Failed"), "worker_1": W1.failed(1)},
        "Failed by train-worker-1: Error",
    ),
    "an evicted worker": (RUNNING, {"worker_0": W0.evicted()}, "Disrupted at train-worker-0: Evicted"),
    "a worker vanished": (RUNNING, {"worker_0": None}, "Disrupted at train-worker-0: PodLost"),
    "a server vanished": (RUNNING, {"ps_0": None}, "Disrupted at train-ps-0: PodLost"),
    "a worker is being deleted": (
        RUNNING,
        {"worker_0": W0.running().deleting()},
        "Disrupted at train-worker-0: PodLost",
    ),
    "a succeeded worker is being deleted": (RUNNING, {"worker_0": W0.succeeded().deleting()}, "goes on"),
    "a worker that was being deleted exited 0": (
        RUNNING,
        {"worker_0": W0.succeeded("2026-05-04T12:00:20Z").deleting("2026-05-04T12:00:30Z", 30)},
        "Disrupted at train-worker-0: PodLost",
    ),
    "all exited 0 because they were being deleted": (
        RUNNING,
        {
            "worker_0": W0.succeeded("2026-05-04T12:00:20Z").deleting("2026-05-04T12:00:30Z", 30),
            "worker_1": W1.succeeded("2026-05-04T12:00:20Z").deleting("2026-05-04T12:00:30Z", 30),
        },
        "Disrupted at train-worker-0: PodLost",
    ),
    "a worker that Kubernetes takes away exited 0": (
        RUNNING,
        {"worker_0": W0.succeeded().targeted("DeletionByTaintManager")},
        "Disrupted at train-worker-0: DeletionByTaintManager",
    ),
    "a loss counts before a failure: its peers fall after it": (
        RUNNING,
        {"ps_0": None, "worker_1": W1.failed(1)},
        "Disrupted at train-ps-0: PodLost",
    ),
    "an eviction counts before a failure": (
        RUNNING,
        {"ps_0": PS0.evicted(), "worker_1": W1.failed(250)},
        "Disrupted at train-ps-0: Evicted",
    ),
    "of two failures in one second, a launcher that lost its peer came second": (
        RUNNING,
        {"worker_0": W0.failed(250), "worker_1": W1.failed(1)},
        "Failed by train-worker-1: Error",
    ),
    "a worker that had succeeded was deleted": (AFTER_ONE, {"worker_0": None}, "goes on"),
    "it is deleted, and the other succeeded": (
        AFTER_ONE,
        {"worker_0": None, "worker_1": W1.succeeded()},
        "Completed",
    ),
    "what succeeded once is not undone by what becomes of its pod": (
        AFTER_ONE,
        {"worker_0": W0.evicted(), "worker_1": W1.succeeded()},
        "Completed",
    ),
    "the other succeeded and is deleted, but this one vanished": (
        RUNNING.with_status(succeeded_indexes="1"),
        {"worker_0": None, "worker_1": None},
        "Disrupted at train-worker-0: PodLost",
    ),
    "it was deleted, and the other vanished too": (
        AFTER_ONE,
        {"worker_0": None, "worker_1": None},
        "Disrupted at train-worker-1: PodLost",
    ),
    "the other one vanished, not the succeeded": (
        AFTER_ONE,
        {"worker_0": W0.succeeded(), "worker_1": None},
        "Disrupted at train-worker-1: PodLost",
    ),
    "all had succeeded and were deleted": (AFTER_TWO, {"worker_0": None, "worker_1": None}, "Completed"),
    "a server is lost beside a deleted succeeded worker": (
        AFTER_ONE,
        {"worker_0": None, "ps_0": None},
        "Disrupted at train-ps-0: PodLost",
    ),
    "nothing was made yet": (
        a_ps_job(),
        {"worker_0": None, "worker_1": None, "ps_0": None, "ps_1": None},
        "goes on",
    ),
    "a pod of a pending job vanished": (a_ps_job().in_phase("Pending"), {"worker_0": None}, "goes on"),
    "a pod of an unknown phase": (RUNNING, {"worker_0": W0.in_phase("Unknown")}, "goes on"),
}


@pytest.mark.parametrize(("job", "changed", "end"), WORLDS.values(), ids=WORLDS.keys())
def test_when(job: JobBuilder, changed: dict[str, PodBuilder | None], end: str) -> None:
    assert end_of(job, **changed) == end


def test_a_job_without_workers_does_not_complete() -> None:
    job = a_ps_job().without_workers().in_phase("Running").build()
    pods = [one.succeeded().build() for one in pods_of(job).values()]
    assert judge(job, observe(job, pods)) is None


LAUNCHED: dict[str, tuple[Job, bool, bool]] = {
    # name: job, whether its ConfigMap exists, whether a missing pod is lost
    "new": (a_job().build(), False, False),
    "pending by address": (a_job().in_phase("Pending").build(), False, False),
    "pending by address, all addresses known": (a_job().in_phase("Pending").build(), True, True),
    "pending by service": (a_job().by_service().in_phase("Pending").build(), True, False),
    "starting": (a_job().by_service().in_phase("Starting").build(), True, True),
    "running": (a_job().in_phase("Running").build(), False, True),
}


@pytest.mark.parametrize(("job", "config_map", "expected"), LAUNCHED.values(), ids=LAUNCHED.keys())
def test_launched(job: Job, config_map: bool, expected: bool) -> None:
    observed = observe(job, [a_config_map(job)] if config_map else [])
    assert launched(job, observed) is expected


def ends(*exits: tuple[int, str, str | None]) -> tuple[ContainerStatus, ...]:
    states = (ContainerState(terminated=Terminated(code, reason, f"said {code}\n", at)) for code, reason, at in exits)
    return tuple(ContainerStatus(name="c", state=state) for state in states)


def failed_pod(**status: Any) -> Pod:
    made = a_pod().named("p").build()
    return Pod(metadata=made.metadata, status=PodStatus(phase="Failed", **status))


DESCRIBED: dict[str, tuple[Pod, Failure]] = {
    "the container's last words": (
        a_pod().named("p").failed(137, reason="OOMKilled", message="killed\n").build(),
        Failure(pod="p", exit_code=137, reason="OOMKilled", message="killed"),
    ),
    "the node's words before the container's": (
        failed_pod(reason="Evicted", message="low on memory", container_statuses=ends((137, "Error", None))),
        Failure(pod="p", exit_code=137, reason="Evicted", message="low on memory"),
    ),
    "the container that failed first": (
        failed_pod(container_statuses=ends((2, "B", "2026-01-01T00:00:02Z"), (1, "A", "2026-01-01T00:00:01Z"))),
        Failure(pod="p", exit_code=1, reason="A", message="said 1"),
    ),
    "not one that exited 0": (
        failed_pod(container_statuses=ends((0, "Completed", "2026-01-01T00:00:01Z"), (3, "Error", None))),
        Failure(pod="p", exit_code=3, reason="Error", message="said 3"),
    ),
    "an init container": (
        failed_pod(init_container_statuses=ends((4, "", None)), container_statuses=(ContainerStatus(),)),
        Failure(pod="p", exit_code=4, reason="Error", message="said 4"),
    ),
    "nobody said anything": (failed_pod(), Failure(pod="p", reason="Error")),
}


@pytest.mark.parametrize(("one", "failure"), DESCRIBED.values(), ids=DESCRIBED.keys())
def test_a_failure_tells(one: Pod, failure: Failure) -> None:
    assert describe(one) == failure
