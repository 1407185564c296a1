"""What people are told, from the difference of two statuses: each thing once.

What is not worth a word stands in the table with an empty tuple.
"""

from __future__ import annotations

import pytest

from paddlejob.api import Condition, Status
from paddlejob.api.status import Phase
from paddlejob.core import Announce
from paddlejob.core.announcing import announcements
from tests.builders import JobBuilder, a_job, a_ps_job

PENDING = a_job().in_phase("Pending")


def status(phase: Phase, reason: str = "", message: str = "", restarts: int = 0) -> Status:
    return Status(phase=phase, mode="PS", reason=reason, message=message, restarts=restarts)


def stalled(reason: str, phase: Phase = "Pending") -> Status:
    condition = Condition(type="Stalled", status="True", reason=reason, message="why")
    return Status(phase=phase, reason=reason, message="why", conditions=(condition,))


OVER = Status(phase="Pending", conditions=(Condition(type="Stalled", status="False", reason="Progressing"),))
CREATED = Announce("Normal", "Created", "creating 2 ps and 2 worker pods in PS mode", 0)
CASES: dict[str, tuple[JobBuilder, Status, tuple[Announce, ...]]] = {
    "a new job is told": (a_ps_job(), status("Pending"), (CREATED,)),
    "a job that cannot run is not": (
        a_job().asking(elastic=1),
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
        PENDING.with_status(restarts=2),
        status("Running", restarts=2),
        (Announce("Normal", "Started", "all pods run", 2),),
    ),
}


@pytest.mark.parametrize(("job", "after", "told"), CASES.values(), ids=CASES.keys())
def test_when(job: JobBuilder, after: Status, told: tuple[Announce, ...]) -> None:
    assert announcements(job.build(), after) == told
