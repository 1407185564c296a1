"""ttlSecondsAfterFinished: a finished job deletes itself, and with it all that it owns."""

from __future__ import annotations

from datetime import datetime

from paddlejob.api import Job
from paddlejob.core.times import after, moment


def expires_at(job: Job) -> datetime | None:
    ttl = job.spec.ttl_seconds_after_finished
    if ttl is None or not job.status.finished or job.status.completion_time is None:
        return None
    return after(moment(job.status.completion_time), ttl)


def is_expired(job: Job, now: datetime) -> bool:
    at = expires_at(job)
    return at is not None and now >= at
