"""What the operator remembers of a job between two looks, and may forget at any time without harm.

Refusals are learned again after a restart; the time of the last status write only spaces out counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import msgspec

from paddlejob.api import Job, reasons
from paddlejob.core import Create, Plan, Refusal, Update
from paddlejob.core.children import KindName

FIRST_DELAY = timedelta(seconds=2)
LONGEST_DELAY = timedelta(seconds=60)
# A name that was taken is soon free again in most cases, and asking is cheap.
LONGEST_DELAY_FOR_A_NAME = timedelta(seconds=5)
COUNTS_INTERVAL = 1.0
PATIENT_INTERVAL = 30.0


class _Entry(msgspec.Struct):
    generation: int = 0
    rounds: int = 0
    refusals: tuple[Refusal, ...] = ()
    status_written: float | None = None
    counts_written: int = 0


class Memory:
    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}

    def forget(self, uid: str) -> None:
        self._entries.pop(uid, None)

    def refusals(self, job: Job) -> tuple[Refusal, ...]:
        """What was refused; a changed spec deserves a new try."""
        entry = self._entry(job)
        if entry.generation != job.metadata.generation:
            entry.generation, entry.rounds, entry.refusals = job.metadata.generation, 0, ()
        return entry.refusals

    def remember(self, job: Job, tried: Plan, refused: tuple[Refusal, ...]) -> bool:
        """Store what was refused; True if that changed, so that the status must report it."""
        entry = self._entry(job)
        names = {*_asked_for(job, tried)}
        waiting = tuple(refusal for refusal in entry.refusals if (refusal.kind, refusal.name) not in names)
        if not names and not refused:
            return False
        entry.rounds = entry.rounds + 1 if refused else 0
        new = waiting + tuple(_postponed(refusal, entry.rounds) for refusal in refused)
        before, entry.refusals = entry.refusals, new
        return before != new

    def pause_before_counts(self, job: Job, clock: float, *, patient: bool) -> float:
        """How much longer a change of counts alone may wait. The pause grows: the next phase reports the counts too."""
        entry = self._entry(job)
        if entry.status_written is None:
            return 0.0
        interval = PATIENT_INTERVAL * 2 ** min(entry.counts_written, 3) if patient else COUNTS_INTERVAL
        return entry.status_written + interval - clock

    def status_written(self, job: Job, clock: float, *, only_counts: bool) -> None:
        entry = self._entry(job)
        entry.status_written = clock
        entry.counts_written = entry.counts_written + 1 if only_counts else 0

    def _entry(self, job: Job) -> _Entry:
        return self._entries.setdefault(job.metadata.uid, _Entry(generation=job.metadata.generation))


def _asked_for(job: Job, tried: Plan) -> Iterator[tuple[KindName, str]]:
    if tried.ports:
        yield job.kind, job.metadata.name
    for action in tried.actions:
        match action:
            case Create(kind=kind, name=name) | Update(kind=kind, name=name):
                yield kind, name
            case _:
                pass


def _postponed(refusal: Refusal, rounds: int) -> Refusal:
    longest = LONGEST_DELAY_FOR_A_NAME if refusal.reason == reasons.NAME_TAKEN else LONGEST_DELAY
    delay = min(longest, FIRST_DELAY * 2 ** min(rounds - 1, 10))
    return msgspec.structs.replace(refusal, retry_at=refusal.retry_at + delay)
