"""ttlSecondsAfterFinished: a finished job deletes itself, and with it all that it owns."""

from __future__ import annotations

from datetime import datetime

from paddlejob.api import PaddleJob
from paddlejob.core.actions import DeleteJob
from paddlejob.core.times import after, moment


def expires_at(job: PaddleJob) -> datetime | None:
    ttl = job.spec.ttl_seconds_after_finished
    if ttl is None or not job.status.finished or job.status.completion_time is None:
        return None
    return after(moment(job.status.completion_time), ttl)


def expire(job: PaddleJob, now: datetime) -> tuple[DeleteJob, ...]:
    at = expires_at(job)
    return (DeleteJob(job.metadata.uid),) if at is not None and now >= at else ()
