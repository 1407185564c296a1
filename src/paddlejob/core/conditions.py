"""Standard conditions, so that `kubectl wait --for=condition=Completed pdj/NAME` works.

A condition's time changes only when its status does.
"""

from __future__ import annotations

from datetime import datetime

from paddlejob.api import Condition, Job, Status, reasons
from paddlejob.api.status import ConditionStatus, ConditionType, Phase
from paddlejob.core.stalls import Stall
from paddlejob.core.times import timestamp


def conditions(job: Job, phase: Phase, message: str, stall: Stall | None, now: datetime) -> tuple[Condition, ...]:
    """Running always; an end when it came; Suspended and Stalled from the first time on."""
    # Training goes on while workers come and go.
    made = [_condition(job, "Running", phase in ("Running", "Scaling"), (phase, ""), now)]
    for end in ("Completed", "Failed"):
        if phase == end:
            made.append(_condition(job, end, True, (phase, message), now))
    if phase == "Suspended" or job.status.condition("Suspended"):
        made.append(_condition(job, "Suspended", phase == "Suspended", (phase, ""), now))
    if stall:
        made.append(_condition(job, "Stalled", True, (stall.reason, stall.message), now))
    elif job.status.condition("Stalled"):
        made.append(_condition(job, "Stalled", False, (reasons.PROGRESSING, ""), now))
    return tuple(made)


def with_stall(job: Job, status: Status, stall: Stall | None, now: datetime) -> tuple[Condition, ...]:
    """The conditions of a status that stays as it is otherwise."""
    before = status.condition("Stalled")
    if stall is None and (before is None or before.status == "False"):
        return status.conditions
    why = (stall.reason, stall.message) if stall else (reasons.PROGRESSING, "")
    others = tuple(one for one in status.conditions if one.type != "Stalled")
    return (*others, _condition(job, "Stalled", stall is not None, why, now))


def _condition(job: Job, type_: ConditionType, holds: bool, why: tuple[str, str], now: datetime) -> Condition:
    before = job.status.condition(type_)
    status: ConditionStatus = "True" if holds else "False"
    unchanged = before is not None and before.status == status
    reason, message = why
    return Condition(
        type=type_,
        status=status,
        reason=reason,
        message=message,
        last_transition_time=before.last_transition_time if before and unchanged else timestamp(now),
        observed_generation=job.metadata.generation,
    )
