"""Jobs with fixed members: they start together, a lost one cannot come back alone, and all workers must succeed.

What such a job does about a lost member stands in `restart` and `replace`.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from paddlejob.api import Job, RoleStatus, Status
from paddlejob.api.names import RoleName
from paddlejob.api.status import Phase
from paddlejob.core import counting, ending
from paddlejob.core.actions import Body
from paddlejob.core.addresses import moved
from paddlejob.core.environment import shared_environment
from paddlejob.core.indexes import write
from paddlejob.core.observe import Observed, Slot
from paddlejob.core.replace import mends, refills

POD_DEFAULTS: Body = {"restartPolicy": "Never"}
WITHHELD: frozenset[str] = frozenset()

environment = shared_environment


def remember(job: Job, base: Status, observed: Observed, _: datetime) -> Status:
    done = write(slot.index for slot in observed.of_role("worker") if slot.state == "succeeded")
    return msgspec.structs.replace(
        base, succeeded_indexes=done or None, launched=ending.launches(job, observed) or None
    )


def judge(
    job: Job, _: Status, observed: Observed, __: datetime
) -> ending.Completed | ending.Failed | ending.Disrupted | None:
    """A changed address comes before failures, as any disruption does: peers fall because of it."""
    end = ending.judge(job, observed)
    changed = moved(job, observed) if end is None or isinstance(end, ending.Failed) else None
    return ending.Disrupted(changed) if changed else end


def counts(job: Job, observed: Observed, role: RoleName) -> RoleStatus:
    return counting.counts(_state(job, observed, slot) for slot in observed.of_role(role))


def phase(job: Job, _: Status, observed: Observed) -> Phase:
    # What the status remembers apart from the phase does not change it: some pods may still wait for a node.
    launched = ending.launched(job, observed) and not job.status.launched
    if launched and mends(job, observed):
        return "Starting"  # single pods are made anew; that a missing server is a lost one must not be forgotten
    return counting.phase((_state(job, observed, slot) for slot in observed.slots), launched)


def stall(_: Job, __: Observed) -> None:
    return None


def reported(status: Status, _: bool) -> Status:
    """Once all pods are placed, the phase tells that they have existed."""
    return msgspec.structs.replace(status, launched=None) if status.phase in ("Starting", "Running") else status


def builds(job: Job, _: Observed) -> bool:
    """Beside what another operator made nothing is: pods of two kinds would not find each other."""
    return not job.status.adopted


def fills(job: Job, observed: Observed, now: datetime) -> bool:
    """A pod that is missing after the launch is lost: a matter of how the job ends, unless it is replaced alone."""
    return not ending.launched(job, observed) or refills(job, observed, now)


def removes(_: Job, __: Observed) -> tuple[()]:
    return ()


def asks(_: Job, __: Observed, ___: datetime) -> tuple[()]:
    return ()


def wakes_at(_: Job, __: Observed) -> None:
    return None


def farewell(_: Job, __: Status, ___: Observed, ____: datetime) -> None:
    return None


def _state(job: Job, observed: Observed, slot: Slot) -> str:
    return "unknown" if ending.is_lost(job, observed, slot) else slot.state
