"""Whole-job restarts: Paddle cannot take a lost member back, so all pods go and a new attempt begins.

A failure of the program, or a hang, counts against backoffLimit, a disruption is counted apart. How long each waits
stands in `backoff`.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from paddlejob.api import Job, RoleStatus, Status
from paddlejob.core.actions import Delete, delete
from paddlejob.core.backoff import after_lost_attempt, backoff, in_a_row, not_before, starts_at
from paddlejob.core.ending import Disrupted, Failed, Hung
from paddlejob.core.gang import old_groups
from paddlejob.core.observe import Observed
from paddlejob.core.times import LONG_AGO, moment

BREATH = timedelta(seconds=2)


def next_attempt(job: Job, base: Status, end: Failed | Disrupted | Hung, now: datetime) -> Status | None:
    """The status in which a new attempt waits for its start; None when no restart is left."""
    if isinstance(end, Disrupted):
        noted = after_lost_attempt(job, base, now)
        return _waiting(job, noted, disruptions=base.disruptions + 1)
    spent = base.restarts + base.hangs
    if spent < job.spec.backoff_limit:
        start = not_before(now + backoff(spent))
        # A long quiet run counts as one even if the program itself ended it.
        row = base.disruptions_in_a_row and in_a_row(job, base, now)
        noted = msgspec.structs.replace(base, next_attempt_time=start, disruptions_in_a_row=row)
        return _waiting(job, noted, **_counted(base, end))
    return None


def _counted(base: Status, end: Failed | Hung) -> dict[str, int]:
    return {"hangs": base.hangs + 1} if isinstance(end, Hung) else {"restarts": base.restarts + 1}


def _waiting(job: Job, base: Status, **counted: int) -> Status:
    fresh = {name: RoleStatus(pending=asked.replicas, ready=f"0/{asked.replicas}") for name, asked in job.spec.roles}
    return msgspec.structs.replace(
        base,
        phase="Restarting",
        attempt=base.attempt + 1,
        launched=None,
        adopted=None,
        succeeded_indexes=None,
        replacing=(),
        **fresh,
        **counted,
    )


def waits(job: Job, observed: Observed, now: datetime) -> bool:
    """Whether this attempt may not begin yet: its time has not come, or the earlier one is still there."""
    start = starts_at(job.status)
    left = bool(observed.leftovers) or any(old_groups(job, observed))
    return left or (job.status.phase == "Restarting" and start is not None and now < start)


def clear(job: Job, observed: Observed, now: datetime) -> tuple[Delete, ...]:
    """Delete what earlier attempts left. Nothing new is made before it is gone: attempts never mix."""
    if now < clears_at(job.status):
        return ()
    return tuple(delete(one) for one in (*observed.leftovers, *old_groups(job, observed)) if not one.deleting)


def clears_at(status: Status) -> datetime:
    """A moment after the job ceased to run: what falls with the first pod has fallen by then, and can still be read;
    what a lost node took along is being deleted, and need not be deleted twice."""
    running = status.condition("Running")
    if running is None or status.phase != "Restarting":
        return LONG_AGO
    return moment(running.last_transition_time) + BREATH
