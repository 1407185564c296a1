"""How many pods of each role are in which state, and the phase that follows from all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from paddlejob.api import RoleStatus
from paddlejob.api.status import Phase


def counts(states: Iterable[str]) -> RoleStatus:
    tally = Counter(states)
    return RoleStatus(
        pending=tally["pending"],
        starting=tally["starting"],
        running=tally["running"],
        failed=tally["failed"],
        succeeded=tally["succeeded"],
        unknown=tally["unknown"],
        ready=f"{tally['running']}/{tally.total()}",
    )


def phase(states: Iterable[str], launched: bool) -> Phase:
    """The phase of a job that has not ended."""
    found = {*states}
    if "pending" in found or not found:
        return "Starting" if found and launched else "Pending"
    return "Starting" if "starting" in found else "Running"
