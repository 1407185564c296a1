"""What people are told, from the difference of two statuses: each thing once.

What is not worth a word stands in the table with an empty tuple.
"""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from paddlejob.api import Condition, Status, World
from paddlejob.api.status import Phase
from paddlejob.core import Announce
from paddlejob.core.announcing import announcements
from tests.builders import JobBuilder, a_job, a_ps_job, an_elastic_job

PENDING = a_job().in_phase("Pending")


def status(phase: Phase, reason: str = "", message: str = "", **counted: Any) -> Status:
    return Status(phase=phase, mode="PS", reason=reason, message=message, **counted)


def stalled(reason: str, phase: Phase = "Pending") -> Status:
    condition = Condition(type="Stalled", status="True", reason=reason, message="why")
    return Status(phase=phase, reason=reason, message="why", conditions=(condition,))


OVER = Status(phase="Pending", conditions=(Condition(type="Stalled", status="False", reason="Progressing"),))
CREATED = Announce("Normal", "Created", "creating 2 ps and 2 worker pods in PS mode", 0)
CASES: dict[str, tuple[JobBuilder, Status, tuple[Announce, ...]]] = {
    "a new job is told": (a_ps_job(), status("Pending"), (CREATED,)),
    "a job that cannot run is not": (
        an_elastic_job().by("Host"),
        stalled("NotSupported"),
        (Announce("Warning", "NotSupported", "why", 0),),
    ),
    "nothing new, nothing told": (PENDING, status("Pending"), ()),
    "starting is not worth a word": (PENDING, status("Starting"), ()),
    "running": (PENDING, status("Running"), (Announce("Normal", "Started", "all pods run", 0),)),
    "still running": (a_job().in_phase("Running"), status("Running"), ()),
    "completed": (PENDING, status("Completed", message="done"), (Announce("Normal", "Completed", "done", 0),)),
    "failed": (PENDING, status("Failed", "Error", "bad"), (Announce("Warning", "Failed", "bad", 0),)),
    "stalled": (PENDING, stalled("ImagePull"), (Announce("Warning", "ImagePull", "why", 0),)),
    "still stalled": (PENDING.with_status(stalled("ImagePull")), stalled("ImagePull"), ()),
    "stalled by something else": (
        PENDING.with_status(stalled("Unschedulable")),
        stalled("ImagePull"),
        (Announce("Warning", "ImagePull", "why", 0),),
    ),
    "stalled again": (PENDING.with_status(OVER), stalled("ImagePull"), (Announce("Warning", "ImagePull", "why", 0),)),
    "stalled no more": (PENDING.with_status(stalled("ImagePull")), OVER, ()),
    "stalled while it begins to run": (
        PENDING,
        stalled("CrashLoopBackOff", "Running"),
        (Announce("Warning", "CrashLoopBackOff", "why", 0), Announce("Normal", "Started", "all pods run", 0)),
    ),
    "in a later attempt": (
        PENDING.with_status(restarts=2, attempt=2),
        status("Running", restarts=2, attempt=2),
        (Announce("Normal", "Started", "all pods run", 2),),
    ),
    "restarted": (
        PENDING.with_status(phase="Running"),
        status("Restarting", restarts=1, attempt=1, message="train-worker-0 failed"),
        (Announce("Warning", "Restarted", "train-worker-0 failed", 1),),
    ),
    "scaling": (
        an_elastic_job(3).in_phase("Running"),
        status("Scaling", world=World(replicas=2, scalings=1)),
        (Announce("Normal", "Scaling", "from 2 to 3 workers", 1),),
    ),
    "an elastic worker is replaced": (
        an_elastic_job().in_phase("Running").with_status(world=World(comebacks=1)),
        status("Running", world=World(comebacks=2)),
        (Announce("Warning", "Replaced", "a worker that had gone is replaced, the others stay", 2),),
    ),
    "an elastic job without an etcd": (
        an_elastic_job(),
        replace(stalled("EtcdMissing"), elastic="ERROR"),
        (Announce("Warning", "EtcdMissing", "why", 0),),
    ),
    "replaced": (
        PENDING.with_status(phase="Running"),
        status("Starting", disruptions=1, message="train-worker-0 was lost"),
        (Announce("Warning", "Replaced", "train-worker-0 was lost", 1),),
    ),
    "suspended": (
        PENDING,
        status("Suspended", attempt=1),
        (Announce("Normal", "Suspended", "no pods exist until it is resumed", 1),),
    ),
    "resumed": (
        PENDING.with_status(phase="Suspended"),
        status("Pending", attempt=1),
        (Announce("Normal", "Created", "creating 1 worker pods in PS mode", 1),),
    ),
}


@pytest.mark.parametrize(("job", "after", "told"), CASES.values(), ids=CASES.keys())
def test_when(job: JobBuilder, after: Status, told: tuple[Announce, ...]) -> None:
    assert announcements(job.build(), after) == told
