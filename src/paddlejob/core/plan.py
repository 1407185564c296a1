"""The one idea: from a job and what is there, what to do next and what to say.

`plan` is pure, total and idempotent: when its actions are done and its status is written, it asks for nothing more.
It looks at what is, never at which event came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain

import msgspec

from paddlejob.api import Condition, Failure, Job, Status, reasons
from paddlejob.api.status import FINAL, FinalPhase
from paddlejob.core import bus_error
from paddlejob.core.actions import Action, Plan
from paddlejob.core.admission import gang_inquiries, gang_looked_at, gang_stall
from paddlejob.core.avoiding import with_nodes
from paddlejob.core.backoff import believed, starts_at
from paddlejob.core.building import build
from paddlejob.core.cleaning import clean
from paddlejob.core.complaints import inquires_at, inquiries
from paddlejob.core.conditions import conditions, with_stall
from paddlejob.core.deadline import exceeded, next_deadline
from paddlejob.core.ending import Completed, Disrupted, Failed, Hung, first_cause
from paddlejob.core.events import events
from paddlejob.core.hang import given_up, hang_failure, hang_listens, hang_looked_at, hang_stall, watched
from paddlejob.core.inheriting import inherited, releases
from paddlejob.core.listening import heard_out, last_listens, listens, listens_at, merged
from paddlejob.core.lives import Life, life_of
from paddlejob.core.managed import is_ours
from paddlejob.core.observe import Observed
from paddlejob.core.progress import progressed
from paddlejob.core.refusals import Wish, is_permitted, permitted
from paddlejob.core.remaining import remaining_stall, remaining_stalls_at
from paddlejob.core.replace import remove, replaceable, replacing
from paddlejob.core.reserving import reserve
from paddlejob.core.restart import clear, clears_at, next_attempt, waits
from paddlejob.core.stalls import Stall, refusal_stall, spec_stall, stall
from paddlejob.core.steps import first_step
from paddlejob.core.suspend import suspended
from paddlejob.core.times import earliest, timestamp
from paddlejob.core.ttl import expires_at, is_expired
from paddlejob.core.usage import with_usage

# What became of a pod that did not exit.
HOW = {reasons.ADDRESS_CHANGED: "has another address", reasons.HANGING: "fell silent first"}


def plan(job: Job, observed: Observed, now: datetime) -> Plan:
    if not is_ours(job):
        return Plan(status=job.status)
    planned = _plan(inherited(job, observed), observed, now)
    return msgspec.structs.replace(planned, releases=True) if releases(job, observed, now) else planned


def _plan(job: Job, observed: Observed, now: datetime) -> Plan:
    if job.metadata.deletion_timestamp is not None:
        return _leave(job)
    life = life_of(job)
    for end in FINAL:
        if job.status.phase == end:
            return _after(job, life, end, observed, now)
    status = with_usage(job, with_nodes(job, _status(job, life, observed, now), observed, now), now)
    timers = (starts_at(status), clears_at(status), next_deadline(job, status))
    looks = (inquires_at(observed, now), listens_at(observed, now), gang_looked_at(job, observed, now))
    hangs_at = hang_looked_at(job, status, observed, now)
    others = (life.wakes_at(job, observed), hangs_at, *looks, *_retries(observed, now))
    return msgspec.structs.replace(
        _work(job, life, observed, status, now),
        events=events(job, status),
        inquiries=(*inquiries(observed, now), *gang_inquiries(job, observed, now)),
        listens=merged(listens(observed, now), hang_listens(job, observed, now)),
        wake_at=earliest(now, *timers, *others),
    )


def _after(job: Job, life: Life, end: FinalPhase, observed: Observed, now: datetime) -> Plan:
    """A job that has ended: what it leaves is removed, and at last perhaps the job itself."""
    # What was refused while it lived is not wanted any more, but for what has to go.
    refusals = tuple(one for one in observed.refusals if one.verb == "delete")
    observed = msgspec.structs.replace(observed, refusals=refusals)
    status = _final(job, observed, now)
    planned = life.farewell(job, status, observed, now)
    may_go = planned is None and is_permitted(Wish("delete", job.kind, job.metadata.name), observed, now)
    if may_go and is_expired(job, now):
        return Plan(status=status, events=events(job, status), expired=True)
    planned = planned or Plan(status=status, wake_at=expires_at(job))
    return msgspec.structs.replace(
        _doing(planned, clean(job, end, observed, now), observed, now),
        events=events(job, status),
        listens=last_listens(observed),
        heard_out=status == job.status and heard_out(observed),
        wake_at=earliest(now, planned.wake_at, *_retries(observed, now)),
    )


def _doing(planned: Plan, actions: Iterable[Action], observed: Observed, now: datetime) -> Plan:
    step = first_step(permitted(actions, observed, now))
    return msgspec.structs.replace(planned, actions=step.actions, more=step.more)


def _retries(observed: Observed, now: datetime) -> Iterator[datetime | None]:
    """When what was refused may be tried again, and when somebody should look at what does not go."""
    yield remaining_stalls_at(observed, now)
    yield from (refusal.retry_at for refusal in observed.refusals)


def _leaving_stall(observed: Observed, now: datetime) -> Stall | None:
    """Of a job that only has to get rid of its pods."""
    return remaining_stall(observed, now) or refusal_stall(observed.refusals)


def _leave(job: Job) -> Plan:
    """A job that is being deleted gets nothing new: garbage collection takes what it owns."""
    if job.status.finished:
        return Plan(status=job.status)
    return Plan(status=msgspec.structs.replace(job.status, phase="Terminating"))


def _final(job: Job, observed: Observed, now: datetime) -> Status:
    """An end stays as it is; only what led to it may be seen later, and what keeps it from being cleaned up."""
    cause, status = first_cause(job, observed), msgspec.structs.replace(job.status, progress=progressed(job, observed))
    if cause is not None and cause != status.failure:
        status = _failed(status, cause)
        status = msgspec.structs.replace(status, conditions=conditions(job, "Failed", status.message, None, now))
    held_up = _leaving_stall(observed, now)
    return msgspec.structs.replace(status, conditions=with_stall(job, status, held_up, now))


def _work(job: Job, life: Life, observed: Observed, status: Status, now: datetime) -> Plan:
    """What to remove and to make. A decision that is not written yet is not acted upon: it could be forgotten."""
    decided = (status.attempt, status.replacing) == (job.status.attempt, job.status.replacing)
    if status.finished or not decided:
        return Plan(status=status)
    gone = (*clear(job, observed, now), *remove(job, observed))
    if gone or waits(job, observed, now) or status.phase == "Suspended" or spec_stall(job):
        return _doing(Plan(status=status), gone, observed, now)
    builds = life.builds(job, observed)
    planned = Plan(
        status=status,
        questions=life.asks(job, observed, now),
        ports=reserve(job, observed, now) if builds else 0,
    )
    wanted = chain(life.removes(job, observed), build(job, observed, now) if builds else ())
    return _doing(planned, wanted, observed, now)


def _status(job: Job, life: Life, observed: Observed, now: datetime) -> Status:
    base = msgspec.structs.replace(
        job.status,
        mode=job.spec.mode,
        observed_generation=job.metadata.generation,
        start_time=job.status.start_time or timestamp(now),
        next_attempt_time=believed(job.status, now),
        progress=progressed(job, observed),
        **{name: life.counts(job, observed, name) for name, _ in job.spec.roles},
    )
    base = watched(job, life.remember(job, base, observed, now), observed)
    end = life.judge(job, base, observed, now)
    if isinstance(end, Completed):
        return _ended(job, _completed(base), now)
    if held := suspended(job, observed, base):
        cause = _leaving_stall(observed, now)
        return _explained(held, cause, conditions(job, "Suspended", "", cause, now))
    if end is None and (cause_of_hang := hang_failure(job, base, observed, now)):
        going_on = _broken(job, observed, given_up(base), Hung(cause_of_hang), now)
    elif end is None:
        going_on = _going_on(job, life, observed, base, now)
    elif replaced := _replaced(job, observed, base, end.failure, now):
        going_on = _going_on(job, life, observed, replaced, now)
    else:
        going_on = _broken(job, observed, base, end, now)
    if late := exceeded(job, going_on, now):
        return _ended(job, msgspec.structs.replace(base, phase="Failed", reason=late.reason, message=late.message), now)
    return going_on


def _replaced(job: Job, observed: Observed, base: Status, cause: Failure, now: datetime) -> Status | None:
    """The status that counts the broken pods; None if they cannot be replaced alone or no restart is left."""
    counted = replacing(job, base, observed, now) if replaceable(job, observed) else None
    if counted is None:
        return None
    is_new = (counted.restarts, counted.disruptions) != (base.restarts, base.disruptions)
    return msgspec.structs.replace(counted, failure=cause if is_new else base.failure)


def _broken(job: Job, observed: Observed, base: Status, end: Failed | Disrupted | Hung, now: datetime) -> Status:
    """A pod is gone or failed, and cannot be replaced, or all hang: start all again, or fail."""
    failed = _failed(base, end.failure)
    alone = not isinstance(end, Hung) and replaceable(job, observed)
    again = None if alone else next_attempt(job, failed, end, now)
    if again is None:
        return _ended(job, failed, now)
    return msgspec.structs.replace(again, conditions=conditions(job, "Restarting", "", None, now))


def _going_on(job: Job, life: Life, observed: Observed, base: Status, now: datetime) -> Status:
    own = life.stall(job, observed)
    first = remaining_stall(observed, now) or spec_stall(job) or own or refusal_stall(observed.refusals)
    cause = first or gang_stall(job, observed, now) or stall(job, observed) or hang_stall(base)
    current = "Pending" if waits(job, observed, now) else life.phase(job, base, observed)
    again = base.next_attempt_time is not None and current != "Running"
    start = starts_at(base)
    pauses = start is not None and now < start  # an elastic job may run meanwhile
    if again and (current == "Pending" or job.status.phase == "Restarting"):
        current = "Restarting"  # until all pods run again
    # While a restart goes on, what led to it is the best answer to "why is it not running".
    why = _failed(base, base.failure) if again and base.failure else _waiting(base, start if again and pauses else None)
    later = base.next_attempt_time if again or pauses else None
    status = msgspec.structs.replace(why, phase=current, next_attempt_time=later)
    return life.reported(_explained(status, cause, conditions(job, current, "", cause, now)), own is not None)


def _waiting(base: Status, until: datetime | None) -> Status:
    """For its time alone, which stands in the status, whoever wrote it there."""
    if until is None:
        return msgspec.structs.replace(base, reason="", message="")
    text = f"the next attempt begins at {timestamp(until)}"
    return msgspec.structs.replace(base, reason=reasons.BACK_OFF, message=text)


def _explained(status: Status, cause: Stall | None, said: tuple[Condition, ...]) -> Status:
    if cause is None:
        return msgspec.structs.replace(status, conditions=said)
    return msgspec.structs.replace(status, reason=cause.reason, message=cause.message, conditions=said)


def _completed(base: Status) -> Status:
    workers = base.worker.succeeded if base.worker else 0
    text = f"{workers} of {workers} workers succeeded"
    return msgspec.structs.replace(base, phase="Completed", reason="", message=text, failure=None)


def _failed(base: Status, failure: Failure) -> Status:
    how = HOW.get(failure.reason, "was lost")
    if failure.exit_code is not None:
        how = f"failed with exit code {failure.exit_code}"
    why = bus_error.advice(failure)
    text = f"{failure.pod} {how} ({failure.reason})" + (f": {why}" if why else "")
    return msgspec.structs.replace(base, phase="Failed", reason=failure.reason, message=text, failure=failure)


def _ended(job: Job, status: Status, now: datetime) -> Status:
    """The counts stay as they are at this moment: they tell how the job ended, not what is left of it."""
    assert status.phase is not None
    return msgspec.structs.replace(
        status,
        completion_time=timestamp(now),
        next_attempt_time=None,
        launched=None,
        succeeded_indexes=None,
        replacing=(),
        conditions=conditions(job, status.phase, status.message, None, now),
    )
