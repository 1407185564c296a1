"""suspend: no pods exist while it is true; afterwards the job starts afresh, with a new start time.

Suspending ends the attempt, so that pods which are still going can never be taken for those of the next one.
"""

from __future__ import annotations

import msgspec

from paddlejob.api import Job, RoleStatus, Status
from paddlejob.core.observe import Observed


def suspended(job: Job, observed: Observed, base: Status) -> Status | None:
    """The status of a suspended job; None for one that may run."""
    if not job.spec.suspend:
        return None
    fresh = {name: RoleStatus(ready=f"0/{asked.replicas}") for name, asked in job.spec.roles}
    begun = job.status.phase not in (None, "Suspended") or any(slot.pod for slot in observed.slots)
    return msgspec.structs.replace(
        base,
        phase="Suspended",
        attempt=base.attempt + (1 if begun else 0),
        start_time=None,
        next_attempt_time=None,
        disruptions_in_a_row=0 if base.disruptions else None,
        launched=None,
        adopted=None,
        succeeded_indexes=None,
        replacing=(),
        reason="",
        message="",
        **fresh,
    )
