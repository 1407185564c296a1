"""The counts of each role, and the phase that follows from them.

One table: two workers in every state that matters.
"""

from __future__ import annotations

import pytest

from paddlejob.api import RoleStatus
from paddlejob.api.status import Phase
from paddlejob.core import observe
from paddlejob.core.fixed import counts, phase
from tests.builders import JobBuilder, PodBuilder, a_config_map, a_job, a_pod

JOB = a_job().with_workers(2)
LATER = JOB.in_phase("Running")
POD = a_pod()
Pods = tuple[PodBuilder | None, PodBuilder | None]

CASES: dict[str, tuple[JobBuilder, Pods, Phase, RoleStatus]] = {
    "nothing there": (JOB, (None, None), "Pending", RoleStatus(pending=2, ready="0/2")),
    "one made": (JOB, (POD, None), "Pending", RoleStatus(pending=2, ready="0/2")),
    "one placed": (JOB, (POD.placed(), POD), "Pending", RoleStatus(pending=1, starting=1, ready="0/2")),
    "one runs, one waits for a node": (
        JOB,
        (POD.running(), POD),
        "Pending",
        RoleStatus(pending=1, running=1, ready="1/2"),
    ),
    "all placed": (JOB, (POD.placed(), POD.placed()), "Starting", RoleStatus(starting=2, ready="0/2")),
    "one runs": (JOB, (POD.running(), POD.placed()), "Starting", RoleStatus(starting=1, running=1, ready="1/2")),
    "all run": (JOB, (POD.running(), POD.running()), "Running", RoleStatus(running=2, ready="2/2")),
    "one is done": (
        LATER,
        (POD.succeeded(), POD.running()),
        "Running",
        RoleStatus(running=1, succeeded=1, ready="1/2"),
    ),
    "all done": (LATER, (POD.succeeded(), POD.succeeded()), "Running", RoleStatus(succeeded=2, ready="0/2")),
    "one failed": (LATER, (POD.failed(), POD.running()), "Running", RoleStatus(running=1, failed=1, ready="1/2")),
    "one unknown": (
        LATER,
        (POD.in_phase("Unknown"), POD.running()),
        "Running",
        RoleStatus(running=1, unknown=1, ready="1/2"),
    ),
    "one lost": (LATER, (None, POD.running()), "Running", RoleStatus(running=1, unknown=1, ready="1/2")),
    "one going away": (
        LATER,
        (POD.running().deleting(), POD.running()),
        "Running",
        RoleStatus(running=1, unknown=1, ready="1/2"),
    ),
    "one done and then deleted is succeeded": (
        LATER.with_status(succeeded_indexes="0"),
        (None, POD.running()),
        "Running",
        RoleStatus(running=1, succeeded=1, ready="1/2"),
    ),
    "it stays so when the other is done": (
        LATER.with_status(succeeded_indexes="0"),
        (None, POD.succeeded()),
        "Running",
        RoleStatus(succeeded=2, ready="0/2"),
    ),
}


@pytest.mark.parametrize(("job", "pods", "expected", "workers"), CASES.values(), ids=CASES.keys())
def test_when(job: JobBuilder, pods: Pods, expected: Phase, workers: RoleStatus) -> None:
    built = job.build()
    there = [one.of(built, "worker", index).build() for index, one in enumerate(pods) if one]
    observed = observe(built, there)
    assert phase(built, built.status, observed) == expected
    assert counts(built, observed, "worker") == workers


def test_servers_are_counted_apart() -> None:
    job = a_job().with_servers(1).in_phase("Running").build()
    observed = observe(job, [a_pod().of(job, "ps", 0).running().build(), a_config_map(job)])
    assert counts(job, observed, "ps") == RoleStatus(running=1, ready="1/1")
    assert counts(job, observed, "worker") == RoleStatus(unknown=1, ready="0/1")


def test_a_job_that_wants_no_pods_does_not_run() -> None:
    job = a_job().without_workers().build()
    assert phase(job, job.status, observe(job)) == "Pending"
