"""Whether a job that runs still moves. Paddle waits for ever where others fail: nothing but silence tells of it.

How long a pause may be is learned from the job's own, in `pauses`. A pause that is too long is no hang yet: all workers
are listened to once, and only if none of them has said anything meanwhile does the status tell since when, who fell
silent first, and its last line. What is told stands in the status until the training moves, or an attempt ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import msgspec

from paddlejob.api import Failure, HangPolicy, HangStatus, Job, Status, reasons
from paddlejob.core.actions import Listen
from paddlejob.core.children import Pod
from paddlejob.core.listening import listen_to
from paddlejob.core.observe import Observed
from paddlejob.core.pauses import budget_of, longest_pause
from paddlejob.core.silence import Silence, all_end, alone, silence
from paddlejob.core.stalls import Stall
from paddlejob.core.times import after, earliest, moment, timestamp

# Of a large job so many at a time are asked for their last lines.
MOST_AT_ONCE = 32
# Whole seconds are written: what comes within one is no news.
ONE_SECOND = timedelta(seconds=1)
# At the very moment at which somebody was listened to, that need not be done again.
AN_INSTANT = timedelta(milliseconds=1)
# A status is not the place for more of a line.
LONGEST_LINE = 500
# A job whose budget is learned is not started over after less, however short its steps are: to tell does no harm.
LEAST_BEFORE_RESTART = 300


def policy_of(job: Job, observed: Observed) -> HangPolicy | None:
    """On this machine every job is watched: nothing has to be read that is not at hand."""
    return job.spec.hang or (HangPolicy() if observed.scheduling.local else None)


def watched(job: Job, base: Status, observed: Observed) -> Status:
    """The status with what is to be said of pauses now."""
    known = job.status.hang or HangStatus()
    if policy_of(job, observed) is None:
        return base
    if known.since is not None and not _stands(job, known, observed):
        known = HangStatus(longest_pause=known.longest_pause)
    silences = tuple(_silences(job, observed)) if _is_heard(job, observed) else ()
    longest = max((longest_pause(one.said.readings) for one in silences), default=0)
    if longest > known.longest_pause * 5 // 4:  # told in few steps: each costs a call
        known = msgspec.structs.replace(known, longest_pause=longest)
    if known.since is None and (found := _hanging(job, observed, silences)):
        since, first = found
        line = first.said.lines[-1][:LONGEST_LINE] if first.said.lines else ""
        known = HangStatus(
            longest_pause=known.longest_pause,
            attempt=job.status.attempt,
            since=timestamp(since),
            worker=first.pod.metadata.name,
            line=line,
        )
    return base if known == (job.status.hang or HangStatus()) else msgspec.structs.replace(base, hang=known)


def hang_stall(status: Status) -> Stall | None:
    found = status.hang
    if found is None or found.since is None:
        return None
    said = f", after it had printed: {found.line}" if found.line else ""
    return Stall(reasons.HANGING, f"nothing has moved since {found.since}: {found.worker} fell silent first{said}")


def hang_failure(job: Job, status: Status, observed: Observed, now: datetime) -> Failure | None:
    """Why the attempt is to be given up, if the job wants that. Never by hearsay: what the status tells may be long
    ago, and somebody has to have listened once more by then."""
    at, found, told = _restarts_at(job, status, observed), status.hang, _told(status, observed)
    said = None if told is None else observed.said.get(told.metadata.uid)
    if found is None or at is None or now < at or said is None or said.at < at or said.error:
        return None
    return Failure(pod=found.worker, reason=reasons.HANGING, message=found.line)


def given_up(status: Status) -> Status:
    """The status of a job whose next attempt begins: what was learned of pauses stays true."""
    longest = status.hang.longest_pause if status.hang else 0
    return msgspec.structs.replace(status, hang=HangStatus(longest_pause=longest))


def hang_listens(job: Job, observed: Observed, now: datetime) -> tuple[Listen, ...]:
    """All workers of a job that may hang, once: those that nobody has listened to since then. While it hangs, only the
    one that is told of: when it says something, the hang is over. On this machine all of them all the time."""
    every = observed.listening.every
    if every is None or not _is_heard(job, observed):
        return ()
    if observed.scheduling.local:
        return tuple(listen_to(pod) for pod in _running(observed) if not _heard_since(observed, pod, now - every))
    if (told := _told(job.status, observed)) is not None:
        return () if _heard_since(observed, told, now - every) else (listen_to(told),)
    silences = tuple(_silences(job, observed))
    due = all_end(silences)
    if due is None or now < due:
        left = ((one.pod, until) for one, until in _alone(job, silences))
    else:
        left = ((pod, due) for pod in _running(observed))
    return tuple(listen_to(pod) for pod, until in left if _is_due(observed, pod, until, now - every))[:MOST_AT_ONCE]


def hang_looked_at(job: Job, status: Status, observed: Observed, now: datetime) -> datetime | None:
    """When a pause may have become too long, or a hang lasted long enough."""
    if not _is_heard(job, observed):
        return None
    silences = tuple(_silences(job, observed))
    ends = (one.ends for one in silences if one.budget is not None)
    return earliest(now, all_end(silences), *ends, _restarts_at(job, status, observed), *_again(job, observed))


def _again(job: Job, observed: Observed) -> Iterator[datetime]:
    """When to listen to those again who are listened to all the time, and to those whose answer was none."""
    every, told = observed.listening.every, _told(job.status, observed)
    for pod in _running(observed):
        said = observed.said.get(pod.metadata.uid)
        if said is not None and every is not None and (observed.scheduling.local or pod is told or said.error):
            yield after(said.at, every + AN_INSTANT)


def _hanging(job: Job, observed: Observed, silences: tuple[Silence, ...]) -> tuple[datetime, Silence] | None:
    """Since when nothing moves, and who fell silent first."""
    due = all_end(silences)
    if due is not None and all(_heard_since(observed, pod, due) for pod in _running(observed)):
        last = max(silences, key=lambda one: one.since)
        if last.lasts(due):
            return last.since, _first(silences, last)
    left = [one for one, until in _alone(job, silences) if one.lasts(until)]
    if left:
        first = min(left, key=lambda one: one.since)
        return first.since, first
    return None


def _first(silences: tuple[Silence, ...], last: Silence) -> Silence:
    """Who had said nothing for long before the others fell silent never says much: that tells nothing. One whose
    processes are stopped needs no comparison."""
    budget = max(one.budget for one in silences if one.budget is not None)
    candidates = [one for one in silences if after(one.since, budget) >= last.since]
    return min(candidates, key=lambda one: (not one.said.stopped, one.since, one.pod.metadata.name))


def _alone(job: Job, silences: tuple[Silence, ...]) -> Iterator[tuple[Silence, datetime]]:
    """Who is silent while others went on. It means nothing where the worker that speaks may change."""
    return iter(()) if job.spec.is_elastic else alone(job, silences)


def _silences(job: Job, observed: Observed) -> Iterator[Silence]:
    policy = policy_of(job, observed)
    for pod in _running(observed):
        said, running = observed.said.get(pod.metadata.uid), pod.training.state.running
        if said is None or policy is None:
            continue
        since = said.changed
        if since is None and policy.after_seconds is not None and running is not None:
            since = moment(running.started_at or "")
        if since is not None:
            yield silence(pod, said, since, budget_of(job, policy, said.readings))


def _stands(job: Job, known: HangStatus, observed: Observed) -> bool:
    """Whether a hang that was told goes on. What is not known does not end it: an operator may just have begun. Where
    nobody may listen any more it would never end."""
    told = _told(job.status, observed)
    if not _is_heard(job, observed) or known.attempt != job.status.attempt or told is None:
        return False
    said, moved = observed.said.get(told.metadata.uid), after(moment(known.since or ""), ONE_SECOND)
    return said is None or said.changed is None or said.changed <= moved


def _told(status: Status, observed: Observed) -> Pod | None:
    """The worker of a hang that the status tells of."""
    known = status.hang
    if known is None or known.since is None:
        return None
    return next((pod for pod in _running(observed) if pod.metadata.name == known.worker), None)


def _restarts_at(job: Job, status: Status, observed: Observed) -> datetime | None:
    policy, found = policy_of(job, observed), status.hang
    if policy is None or policy.action != "Restart" or found is None or found.since is None:
        return None
    least = 0 if policy.after_seconds is not None else LEAST_BEFORE_RESTART
    return after(moment(found.since), least)


def _is_heard(job: Job, observed: Observed) -> bool:
    """Whether it runs, is watched, and somebody may listen."""
    may_hang = job.status.phase == "Running" and policy_of(job, observed) is not None
    return may_hang and observed.listening.every is not None


def _running(observed: Observed) -> Iterator[Pod]:
    for slot in observed.of_role("worker"):
        if slot.pod is not None and slot.pod.state == "running" and not slot.pod.deleting:
            yield slot.pod


def _is_due(observed: Observed, pod: Pod, until: datetime, again: datetime) -> bool:
    """Whether nobody has listened since then; or in vain, and that was long ago."""
    said = observed.said.get(pod.metadata.uid)
    return said is None or said.at < until or (bool(said.error) and said.at <= again)


def _heard_since(observed: Observed, pod: Pod, due: datetime) -> bool:
    said = observed.said.get(pod.metadata.uid)
    return said is not None and said.at >= due
