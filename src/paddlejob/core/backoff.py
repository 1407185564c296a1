"""Pauses before a restart or a replacement: how long each is, and when a long quiet run makes them short again.

After a failure of the program the first pause is 10 s. After a disruption there is none the first time; what is
disrupted again and again waits as a failing job does, or it would spin. How many disruptions came in a row stands in
the status, so that it outlives the operator.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec

from paddlejob.api import Job, Status
from paddlejob.core.children import Pod
from paddlejob.core.times import moment, timestamp

FIRST_BACKOFF = timedelta(seconds=10)
LONGEST_BACKOFF = timedelta(minutes=6)
# A kubelet forgets a container's crashes after as long.
QUIET_RUN = timedelta(minutes=10)
ONE_SECOND = timedelta(seconds=1)


def backoff(restarts: int) -> timedelta:
    """10 s, 20 s, 40 s … up to 6 min."""
    return min(LONGEST_BACKOFF, FIRST_BACKOFF * (1 << min(max(restarts, 0), 10)))


def not_before(start: datetime) -> str:
    """A time in whole seconds that is not earlier."""
    return timestamp(start if start.microsecond == 0 else start + ONE_SECOND)


def starts_at(status: Status) -> datetime | None:
    """When the attempt that waits may begin."""
    return moment(status.next_attempt_time) if status.next_attempt_time else None


def believed(status: Status, now: datetime) -> str | None:
    """`nextAttemptTime` as far as it can be true: a later one was written by somebody else, or a clock was wrong."""
    start, latest = starts_at(status), now + LONGEST_BACKOFF
    return not_before(latest) if start and start > latest + ONE_SECOND else status.next_attempt_time


def after_lost_attempt(job: Job, base: Status, now: datetime) -> Status:
    """A disruption of the whole job, noted. Only what ran may start again at once: anything else would spin."""
    before = in_a_row(job, base, now)
    pause = _pause(before) if job.status.phase == "Running" else backoff(before)
    return msgspec.structs.replace(base, disruptions_in_a_row=before + 1, next_attempt_time=not_before(now + pause))


def in_a_row(job: Job, base: Status, now: datetime) -> int:
    """How many disruptions the job had since its last long quiet run, which may just have ended."""
    running = job.status.condition("Running")
    if running and running.status == "True" and now - moment(running.last_transition_time) >= QUIET_RUN:
        return 0
    return base.disruptions if base.disruptions_in_a_row is None else base.disruptions_in_a_row


def after_lost_pods(base: Status, lost: Iterable[Pod], there: Iterable[Pod], now: datetime) -> Status:
    """A disruption of pods that are replaced alone, noted. Those which were there at the last one belong to it: a node
    that takes many along is one disruption. `there`: all pods of the job.
    """
    before, last = base.disruptions_in_a_row or 0, moment(base.newest_pod_time or "")
    again = [made for pod in lost if (made := _made(pod)) > last]
    if before and not again:
        return msgspec.structs.replace(base, next_attempt_time=base.next_attempt_time or timestamp(now))
    if all(now - made >= QUIET_RUN for made in again):
        before = 0
    return msgspec.structs.replace(
        base,
        disruptions_in_a_row=before + 1,
        newest_pod_time=max((pod.metadata.creation_timestamp or "" for pod in there), default="") or None,
        next_attempt_time=not_before(now + _pause(before)),
    )


def _pause(before: int) -> timedelta:
    """None for the first disruption in a row."""
    return backoff(before - 1) if before else timedelta()


def _made(pod: Pod) -> datetime:
    return moment(pod.metadata.creation_timestamp or "")
