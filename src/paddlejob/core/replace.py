"""Replacing a single pod, where Paddle can take a member back: workers of a PS job without gloo.

Every failure counts against backoffLimit; both it and a disruption wait as a restart of the whole job would.
A pod is counted before it is deleted, by its UID in the status: however often we look, it counts once.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from paddlejob.api import Job, Status
from paddlejob.core.actions import Delete, delete
from paddlejob.core.addresses import moved, workers_are_known
from paddlejob.core.backoff import after_lost_pods, backoff, not_before, starts_at
from paddlejob.core.disruption import is_disrupted
from paddlejob.core.ending import is_lost
from paddlejob.core.gang import is_queued
from paddlejob.core.observe import Observed, Slot

# The status names the pods that are being replaced, and its size must not grow with the job: the others wait in turn.
MOST_AT_ONCE = 8


def replaceable(job: Job, observed: Observed) -> bool:
    """Whether all that is broken can be replaced alone."""
    if job.status.adopted or workers_are_known(job) or moved(job, observed) or is_queued(job, observed):
        return False
    return all(slot.role == "worker" for slot in observed.slots if _broken(job, observed, slot))


def replacing(job: Job, base: Status, observed: Observed, now: datetime) -> Status | None:
    """The status in which what is broken is counted; None when no restart is left for it."""
    broken = [slot.pod for slot in observed.slots if slot.pod and _broken(job, observed, slot)]
    known = [pod for pod in broken if pod.metadata.uid in job.status.replacing]
    new = [pod for pod in broken if pod not in known][: MOST_AT_ONCE - len(known)]
    disrupted = [pod for pod in new if is_disrupted(pod)]
    failed = len(new) - len(disrupted)
    if base.restarts + base.hangs + failed > job.spec.backoff_limit:
        return None
    noted = after_lost_pods(base, disrupted, observed.pods, now) if disrupted else base
    start = not_before(now + backoff(base.restarts + failed - 1)) if failed else ""
    return msgspec.structs.replace(
        noted,
        restarts=base.restarts + failed,
        disruptions=base.disruptions + len(disrupted),
        next_attempt_time=max(start, noted.next_attempt_time or "") or None,
        replacing=tuple(pod.metadata.uid for pod in (*known, *new)),
    )


def remove(job: Job, observed: Observed) -> tuple[Delete, ...]:
    """Delete the pods that are counted already."""
    counted = [slot.pod for slot in observed.slots if slot.pod and slot.pod.metadata.uid in job.status.replacing]
    return tuple(delete(pod) for pod in counted if not pod.deleting)


def mends(job: Job, observed: Observed) -> bool:
    """Whether a job that goes on replaces workers."""
    return replaceable(job, observed) and any(_broken(job, observed, slot) for slot in observed.slots)


def refills(job: Job, observed: Observed, now: datetime) -> bool:
    """Whether missing workers are made again now."""
    start = starts_at(job.status)
    return mends(job, observed) and (start is None or now >= start)


def _broken(job: Job, observed: Observed, slot: Slot) -> bool:
    return slot.state == "failed" or is_lost(job, observed, slot)
