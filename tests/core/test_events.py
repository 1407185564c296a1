"""Events, from the difference of two statuses: each once.

What is not worth an event stands in the table with an empty tuple.
"""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from paddlejob.api import Condition, Status, World
from paddlejob.api.status import Phase
from paddlejob.core import JobEvent
from paddlejob.core.events import events
from tests.builders import JobBuilder, a_job, a_ps_job, an_elastic_job

PENDING = a_job().in_phase("Pending")


def status(phase: Phase, reason: str = "", message: str = "", **counted: Any) -> Status:
    return Status(phase=phase, mode="PS", reason=reason, message=message, **counted)


def stalled(reason: str, phase: Phase = "Pending") -> Status:
    condition = Condition(type="Stalled", status="True", reason=reason, message="why")
    return Status(phase=phase, reason=reason, message="why", conditions=(condition,))


OVER = Status(phase="Pending", conditions=(Condition(type="Stalled", status="False", reason="Progressing"),))
CREATED = JobEvent("Normal", "Created", "creating 2 ps and 2 worker pods in PS mode", 0)
CASES: dict[str, tuple[JobBuilder, Status, tuple[JobEvent, ...]]] = {
    "a new job": (a_ps_job(), status("Pending"), (CREATED,)),
    "a job that cannot run is not": (
        a_job().without_workers(),
        stalled("NoWorkers"),
        (JobEvent("Warning", "NoWorkers", "why", 0),),
    ),
    "nothing new": (PENDING, status("Pending"), ()),
    "starting is not worth a word": (PENDING, status("Starting"), ()),
    "running": (PENDING, status("Running"), (JobEvent("Normal", "Started", "all pods are running", 0),)),
    "still running": (a_job().in_phase("Running"), status("Running"), ()),
    "completed": (PENDING, status("Completed", message="done"), (JobEvent("Normal", "Completed", "done", 0),)),
    "failed": (PENDING, status("Failed", "Error", "bad"), (JobEvent("Warning", "Failed", "bad", 0),)),
    "stalled": (PENDING, stalled("ImagePull"), (JobEvent("Warning", "ImagePull", "why", 0),)),
    "still stalled": (PENDING.with_status(stalled("ImagePull")), stalled("ImagePull"), ()),
    "stalled by something else": (
        PENDING.with_status(stalled("Unschedulable")),
        stalled("ImagePull"),
        (JobEvent("Warning", "ImagePull", "why", 0),),
    ),
    "stalled again": (PENDING.with_status(OVER), stalled("ImagePull"), (JobEvent("Warning", "ImagePull", "why", 0),)),
    "stalled no more": (PENDING.with_status(stalled("ImagePull")), OVER, ()),
    "stalled while it begins to run": (
        PENDING,
        stalled("CrashLoopBackOff", "Running"),
        (JobEvent("Warning", "CrashLoopBackOff", "why", 0), JobEvent("Normal", "Started", "all pods are running", 0)),
    ),
    "in a later attempt": (
        PENDING.with_status(restarts=2, attempt=2),
        status("Running", restarts=2, attempt=2),
        (JobEvent("Normal", "Started", "all pods are running", 2),),
    ),
    "restarted": (
        PENDING.with_status(phase="Running"),
        status("Restarting", restarts=1, attempt=1, message="train-worker-0 failed"),
        (JobEvent("Warning", "Restarted", "train-worker-0 failed", 1),),
    ),
    "scaling": (
        an_elastic_job(3).in_phase("Running"),
        status("Scaling", world=World(replicas=2, scalings=1)),
        (JobEvent("Normal", "Scaling", "from 2 to 3 workers", 1),),
    ),
    "an elastic worker is replaced": (
        an_elastic_job().in_phase("Running").with_status(world=World(comebacks=1)),
        status("Running", world=World(comebacks=2)),
        (JobEvent("Warning", "Replaced", "replacing a lost worker; the others keep running", 2),),
    ),
    "an elastic job without an etcd": (
        an_elastic_job(),
        replace(stalled("EtcdMissing"), elastic="ERROR"),
        (JobEvent("Warning", "EtcdMissing", "why", 0),),
    ),
    "replaced": (
        PENDING.with_status(phase="Running"),
        status("Starting", disruptions=1, message="train-worker-0 was lost"),
        (JobEvent("Warning", "Replaced", "train-worker-0 was lost", 1),),
    ),
    "suspended": (
        PENDING,
        status("Suspended", attempt=1),
        (JobEvent("Normal", "Suspended", "the job has no pods until it is resumed", 1),),
    ),
    "resumed": (
        PENDING.with_status(phase="Suspended"),
        status("Pending", attempt=1),
        (JobEvent("Normal", "Created", "creating 1 worker pods in PS mode", 1),),
    ),
}


@pytest.mark.parametrize(("job", "after", "expected"), CASES.values(), ids=CASES.keys())
def test_when(job: JobBuilder, after: Status, expected: tuple[JobEvent, ...]) -> None:
    assert events(job.build(), after) == expected
