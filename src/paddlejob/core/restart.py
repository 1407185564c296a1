"""Whole-job restarts: Paddle cannot take a lost member back, so all pods go and a new attempt begins.

A failure of the program counts against backoffLimit and waits longer each time. A disruption is counted apart; a job
that was running starts again at once, one that never got so far waits too, so that it cannot spin.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from paddlejob.api import Job, RoleStatus, Status, reasons
from paddlejob.core.actions import Delete, delete
from paddlejob.core.ending import Disrupted, Failed
from paddlejob.core.observe import Observed
from paddlejob.core.stalls import Stall
from paddlejob.core.times import LONG_AGO, moment, timestamp

FIRST_BACKOFF = timedelta(seconds=10)
LONGEST_BACKOFF = timedelta(minutes=6)
ONE_SECOND = timedelta(seconds=1)
BREATH = timedelta(seconds=2)
# How long after its grace period a pod may still be there before somebody should look.
PATIENCE = timedelta(seconds=30)


def next_attempt(job: Job, base: Status, end: Failed | Disrupted, now: datetime) -> Status | None:
    """The status in which a new attempt waits for its start; None when no restart is left."""
    if isinstance(end, Disrupted):
        ran = job.status.phase == "Running"
        start = timestamp(now) if ran else not_before(now + backoff(base.disruptions))
        return _waiting(job, base, start, disruptions=base.disruptions + 1)
    if base.restarts < job.spec.backoff_limit:
        return _waiting(job, base, not_before(now + backoff(base.restarts)), restarts=base.restarts + 1)
    return None


def backoff(restarts: int) -> timedelta:
    """10 s, 20 s, 40 s … up to 6 min."""
    return min(LONGEST_BACKOFF, FIRST_BACKOFF * (1 << min(restarts, 10)))


def _waiting(job: Job, base: Status, start: str, **counted: int) -> Status:
    fresh = {name: RoleStatus(pending=asked.replicas, ready=f"0/{asked.replicas}") for name, asked in job.spec.roles}
    return msgspec.structs.replace(
        base,
        phase="Restarting",
        attempt=base.attempt + 1,
        next_attempt_time=start,
        succeeded_indexes=None,
        replacing=(),
        **fresh,
        **counted,
    )


def not_before(start: datetime) -> str:
    """A time in whole seconds that is not earlier."""
    return timestamp(start if start.microsecond == 0 else start + ONE_SECOND)


def starts_at(status: Status) -> datetime | None:
    """When the attempt that waits may begin."""
    return moment(status.next_attempt_time) if status.next_attempt_time else None


def waits(job: Job, observed: Observed, now: datetime) -> bool:
    """Whether this attempt may not begin yet: its time has not come, or the earlier one is still there."""
    start = starts_at(job.status)
    return bool(observed.leftovers) or (job.status.phase == "Restarting" and start is not None and now < start)


def clear(job: Job, observed: Observed, now: datetime) -> tuple[Delete, ...]:
    """Delete what earlier attempts left. Nothing new is made before it is gone: attempts never mix."""
    if now < clears_at(job.status):
        return ()
    return tuple(delete(pod) for pod in observed.leftovers if not pod.deleting)


def clears_at(status: Status) -> datetime:
    """A moment after the job ceased to run: what falls with the first pod has fallen by then, and can still be read;
    what a lost node took along is being deleted, and need not be deleted twice."""
    running = status.condition("Running")
    if running is None or status.phase != "Restarting":
        return LONG_AGO
    return moment(running.last_transition_time) + BREATH


def leftover_stall(observed: Observed, now: datetime) -> Stall | None:
    """By a pod of an earlier attempt that does not go: its kubelet does not answer, or a finalizer holds it."""
    late = [pod for pod in observed.leftovers if (at := pod.metadata.deletion_timestamp) and now >= _overdue(at)]
    if not late:
        return None
    pod = min(late, key=lambda pod: pod.metadata.name)
    where = f" on node {pod.spec.node_name}" if pod.spec.node_name else ""
    text = (
        f"{len(late)} pods of an earlier attempt are still there: {pod.metadata.name}{where}: if the node is lost for"
        " good, delete the Node, or force-delete the pod; otherwise look for a finalizer"
    )
    return Stall(reasons.PODS_REMAIN, text)


def leftover_stalls_at(observed: Observed) -> datetime | None:
    """When it is time to call that a stall."""
    return min((_overdue(at) for pod in observed.leftovers if (at := pod.metadata.deletion_timestamp)), default=None)


def _overdue(deleted_at: str) -> datetime:
    return moment(deleted_at) + PATIENCE
