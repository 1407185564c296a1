"""How far a job is: the counts of each role, and the phase that follows from them."""

from __future__ import annotations

from collections import Counter

from paddlejob.api import PaddleJob, RoleStatus
from paddlejob.api.names import RoleName
from paddlejob.api.status import Phase
from paddlejob.core.ending import deleted_after_success, is_lost, launched
from paddlejob.core.observe import Observed, Slot
from paddlejob.core.replace import mends


def counts(job: PaddleJob, observed: Observed, role: RoleName) -> RoleStatus:
    slots = observed.of_role(role)
    done = deleted_after_success(job, observed) if role == "worker" else 0
    tally = Counter(_state(job, observed, slot) for slot in slots)
    return RoleStatus(
        pending=tally["pending"],
        starting=tally["starting"],
        running=tally["running"],
        failed=tally["failed"],
        succeeded=tally["succeeded"] + done,
        unknown=tally["unknown"] - done,
        ready=f"{tally['running']}/{len(slots)}",
    )


def phase(job: PaddleJob, observed: Observed) -> Phase:
    """The phase of a job that has not ended."""
    states = {_state(job, observed, slot) for slot in observed.slots}
    if launched(job, observed) and ("pending" in states or mends(job, observed)):
        return "Starting"  # single pods are made anew; that a missing server is a lost one must not be forgotten
    if "pending" in states or not states:
        return "Pending"
    return "Starting" if "starting" in states else "Running"


def _state(job: PaddleJob, observed: Observed, slot: Slot) -> str:
    return "unknown" if is_lost(job, observed, slot) else slot.state
