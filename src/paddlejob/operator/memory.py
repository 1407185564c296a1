"""What the operator remembers of a job between two looks, and may forget at any time without harm.

Refusals are learned again after a restart; the time of the last status write only spaces out counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import msgspec

from paddlejob.api import Job, reasons
from paddlejob.core import Plan, Refusal
from paddlejob.core.refusals import Refusable, Sort, Wish, concerns_one

FIRST_DELAY = timedelta(seconds=2)
# What often passes by itself is tried again sooner.
FIRST_DELAY_OF_A_BLIP = timedelta(seconds=0.25)
LONGEST_DELAY = timedelta(seconds=60)
# A name that was taken is soon free again in most cases, and asking is cheap.
LONGEST_DELAY_FOR_A_NAME = timedelta(seconds=5)
COUNTS_INTERVAL = 1.0
PATIENT_INTERVAL = 30.0


class _Entry(msgspec.Struct):
    generation: int = 0
    rounds: dict[Sort, int] = msgspec.field(default_factory=dict)
    """How often in a row something of the group was refused."""
    refusals: tuple[Refusal, ...] = ()
    status_written: float | None = None
    counts_written: int = 0
    status_rounds: int = 0
    """How often in a row the status was refused, and until when it is not tried again."""
    status_held: datetime | None = None


class Memory:
    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}

    def forget(self, uid: str) -> None:
        self._entries.pop(uid, None)

    def refusals(self, job: Job) -> tuple[Refusal, ...]:
        """What was refused; a changed spec deserves a new try."""
        entry = self._entry(job)
        if entry.generation != job.metadata.generation:
            entry.generation, entry.rounds, entry.refusals = job.metadata.generation, {}, ()
        return entry.refusals

    def remember(self, job: Job, tried: Plan, refused: tuple[Refusal, ...]) -> bool:
        """Store what was refused; True if that changed, so that the status must report it."""
        entry = self._entry(job)
        asked = {*_asked_for(job, tried)}
        closed = {_group(refusal) for refusal in refused}
        passed = {_group(wish) for wish in asked} - closed
        for group in closed:
            entry.rounds[group] = entry.rounds.get(group, 0) + 1
        for group in passed:
            entry.rounds.pop(group, None)

        def waits(one: Refusal) -> bool:
            """What went ahead has passed: the others follow it."""
            follows = _group(one) in passed and not concerns_one(one)
            return not follows and Wish(one.verb, one.kind, one.name) not in asked

        new = (
            *(one for one in entry.refusals if waits(one)),
            *(_postponed(one, entry.rounds[_group(one)]) for one in refused),
        )
        before, entry.refusals = entry.refusals, new
        return before != new

    def status_refused(self, job: Job, refused: Refusal, now: datetime) -> float:
        """For how long not to write it again."""
        entry = self._entry(job)
        entry.status_rounds += 1
        entry.status_held = _postponed(refused, entry.status_rounds).retry_at
        return self.pause_before_status(job, now)

    def pause_before_status(self, job: Job, now: datetime) -> float:
        held = self._entry(job).status_held
        return (held - now).total_seconds() if held is not None else 0.0

    def pause_before_counts(self, job: Job, clock: float, *, patient: bool) -> float:
        """How much longer a change of counts alone may wait. The pause grows: the next phase reports the counts too."""
        times = self._entry(job).counts_written
        return self._pause(job, clock, PATIENT_INTERVAL * 2 ** min(times, 3) if patient else COUNTS_INTERVAL)

    def pause_before_words(self, job: Job, clock: float) -> float:
        """The same for a change of the message alone: a person waits for it, and it may change again and again."""
        return self._pause(job, clock, COUNTS_INTERVAL * 4 ** min(self._entry(job).counts_written, 3))

    def status_written(self, job: Job, clock: float, *, only_counts: bool) -> None:
        entry = self._entry(job)
        entry.status_written, entry.status_rounds, entry.status_held = clock, 0, None
        entry.counts_written = entry.counts_written + 1 if only_counts else 0

    def _pause(self, job: Job, clock: float, interval: float) -> float:
        written = self._entry(job).status_written
        return 0.0 if written is None else written + interval - clock

    def _entry(self, job: Job) -> _Entry:
        return self._entries.setdefault(job.metadata.uid, _Entry(generation=job.metadata.generation))


def _asked_for(job: Job, tried: Plan) -> Iterator[Wish]:
    if tried.ports or tried.releases:
        yield Wish("patch", job.kind, job.metadata.name)
    if tried.expired:
        yield Wish("delete", job.kind, job.metadata.name)
    for action in tried.actions:
        yield Wish(action.verb, action.kind, action.name)


def _group(one: Refusable) -> Sort:
    return (one.verb, one.kind)


def _postponed(refusal: Refusal, rounds: int) -> Refusal:
    delay = min(_longest(refusal), _first(refusal) * 2 ** min(rounds - 1, 10))
    return msgspec.structs.replace(refusal, retry_at=refusal.retry_at + delay, times=rounds)


def _first(refusal: Refusal) -> timedelta:
    return FIRST_DELAY_OF_A_BLIP if refusal.reason in reasons.PASSING else FIRST_DELAY


def _longest(refusal: Refusal) -> timedelta:
    return LONGEST_DELAY_FOR_A_NAME if concerns_one(refusal) else LONGEST_DELAY
