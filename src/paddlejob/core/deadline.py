"""Deadlines: the longest a job may run since its start, and the longest it may wait before it runs.

Both are counted from times that stand in the status, so they are the same after a restart of the operator.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from paddlejob.api import Job, Status, reasons
from paddlejob.core.times import after, moment


class Deadline(msgspec.Struct, frozen=True):
    at: datetime
    reason: str
    message: str


def exceeded(job: Job, status: Status, now: datetime) -> Deadline | None:
    """`status` is what would be said if there were no deadline."""
    passed = (deadline for deadline in _deadlines(job, status) if now >= deadline.at)
    return min(passed, key=lambda deadline: deadline.at, default=None)


def next_deadline(job: Job, status: Status) -> datetime | None:
    return min((deadline.at for deadline in _deadlines(job, status)), default=None)


def _deadlines(job: Job, status: Status) -> list[Deadline]:
    found = []
    active, starting = job.spec.active_deadline_seconds, job.spec.starting_deadline_seconds
    if status.finished or status.start_time is None:
        return []
    if active is not None:
        text = f"it did not complete within activeDeadlineSeconds ({active} s after its start)"
        found.append(Deadline(after(moment(status.start_time), active), reasons.DEADLINE_EXCEEDED, text))
    if starting is not None and (since := _waits_since(status)):
        why = f": {status.reason}: {status.message}" if status.reason else ""
        text = f"it was not running within startingDeadlineSeconds ({starting} s){why}"
        found.append(Deadline(after(since, starting), reasons.STARTING_DEADLINE_EXCEEDED, text))
    return found


def _waits_since(status: Status) -> datetime | None:
    """Since when the job is not running; None while it runs."""
    running = status.condition("Running")
    if running is None or running.status == "True":
        return None
    # A job that was suspended was not running long before it started afresh; nor is a pause of ours its fault.
    begun = (running.last_transition_time, status.start_time or "", status.next_attempt_time or "")
    return max(map(moment, begun))
