"""The one idea: from a job and what is there, what to do next and what to say.

`plan` is pure, total and idempotent: when its actions are done and its status is written, it asks for nothing more.
It looks at what is, never at which event came.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from paddlejob.api import Failure, PaddleJob, Status
from paddlejob.api.status import FINAL
from paddlejob.core.actions import Action
from paddlejob.core.announcing import announcements
from paddlejob.core.building import build
from paddlejob.core.cleaning import clean
from paddlejob.core.conditions import conditions, timestamp
from paddlejob.core.ending import Completed, judge
from paddlejob.core.observe import Observed
from paddlejob.core.progress import counts, phase
from paddlejob.core.stalling import stall, unrunnable


class Plan(msgspec.Struct, frozen=True):
    actions: tuple[Action, ...]
    status: Status
    wake_at: datetime | None = None


def plan(job: PaddleJob, observed: Observed, now: datetime) -> Plan:
    if job.metadata.deletion_timestamp is not None:
        return _leave(job)
    for end in FINAL:
        if job.status.phase == end:
            return Plan(clean(job.spec.cleaning, end, observed), job.status)
    status = _status(job, observed, now)
    actions: tuple[Action, ...] = announcements(job, status)
    if not status.finished and not unrunnable(job):
        actions += build(job, observed, now)
    return Plan(actions, status, _wake_at(observed, now))


def _leave(job: PaddleJob) -> Plan:
    """A job that is being deleted gets nothing new: garbage collection takes what it owns."""
    if job.status.finished:
        return Plan((), job.status)
    return Plan((), msgspec.structs.replace(job.status, phase="Terminating"))


def _status(job: PaddleJob, observed: Observed, now: datetime) -> Status:
    base = msgspec.structs.replace(
        job.status,
        mode=job.spec.mode,
        observed_generation=job.metadata.generation,
        start_time=job.status.start_time or timestamp(now),
        **{name: counts(job, observed, name) for name, _ in job.spec.roles},
    )
    end = judge(job, observed)
    if end is None:
        return _going_on(job, observed, base, now)
    return _ended(job, _completed(base) if isinstance(end, Completed) else _failed(base, end.failure), now)


def _going_on(job: PaddleJob, observed: Observed, base: Status, now: datetime) -> Status:
    cause = stall(job, observed)
    current = phase(job, observed)
    return msgspec.structs.replace(
        base,
        phase=current,
        reason=cause.reason if cause else "",
        message=cause.message if cause else "",
        conditions=conditions(job, current, "", cause, now),
    )


def _completed(base: Status) -> Status:
    workers = base.worker.succeeded if base.worker else 0
    text = f"{workers} of {workers} workers succeeded"
    return msgspec.structs.replace(base, phase="Completed", reason="", message=text)


def _failed(base: Status, failure: Failure) -> Status:
    code = "" if failure.exit_code is None else f" with exit code {failure.exit_code}"
    text = f"{failure.pod} failed{code} ({failure.reason})"
    return msgspec.structs.replace(base, phase="Failed", reason=failure.reason, message=text, failure=failure)


def _ended(job: PaddleJob, status: Status, now: datetime) -> Status:
    """The counts stay as they are at this moment: they tell how the job ended, not what is left of it."""
    assert status.phase is not None
    return msgspec.structs.replace(
        status,
        completion_time=timestamp(now),
        conditions=conditions(job, status.phase, status.message, None, now),
    )


def _wake_at(observed: Observed, now: datetime) -> datetime | None:
    return min((one.retry_at for one in observed.refusals if one.retry_at > now), default=None)
