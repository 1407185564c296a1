"""How far the training is, by what its workers have printed: steps, loss, speed, and when it will be at the end.

The time that is left follows from the speed on average since the program was first heard: evaluations and saves
count. What is written changes when a person would see a difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from paddlejob.api import Job, Mark, Progress
from paddlejob.core.listening import heard, speaker
from paddlejob.core.observe import Observed, Reading
from paddlejob.core.times import after, moment, timestamp

# What is further away is no estimate.
FURTHEST = timedelta(days=3650).total_seconds()
# An estimate that moves by less of the time that is left, or by less than so many seconds, is the same to a person.
SAME_SHARE, SAME_SECONDS = 0.05, 10.0
UNREADABLE = "unreadable pattern"


def progressed(job: Job, observed: Observed) -> Progress | None:
    """The progress to report; as it was, if nobody would see a difference."""
    before, found = job.status.progress, speaker(observed)
    if found is None:
        wrong = any(said.unreadable for _, said in heard(observed))
        return Progress(summary=UNREADABLE) if wrong else _at_rest(before, observed)
    made = _progress(job, before, found[1].readings)
    if found[0].state != "running":
        return replace(made, eta=None)
    return made if before is None or _differs(before, made, observed.listening.patience) else before


def _at_rest(before: Progress | None, observed: Observed) -> Progress | None:
    """Nobody can say when it will be at the end while it stands still."""
    runs = any(slot.state == "running" for slot in observed.of_role("worker"))
    return before if before is None or runs or before.eta is None else replace(before, eta=None)


def _progress(job: Job, before: Progress | None, readings: Sequence[Reading]) -> Progress:
    ours = _ours(job)
    last = with_total(job, readings)
    lately = _one_run(readings)
    begun = _begun(ours, last, lately[0])
    speed = _speed(lately[0].step, lately[0].at, last) or last.speed or (before.speed if before else None)
    average = speed
    if begun is not None and begun.step < (lately[0].step or 0):
        average = _speed(begun.step, moment(begun.at), last)
    percent = _percent(last)
    return Progress(
        at=timestamp(last.at),
        summary=_summary(last, percent),
        step=last.step,
        total=last.total,
        percent=percent,
        epoch=last.epoch,
        loss=last.loss,
        metrics=dict(last.metrics),
        speed=speed,
        eta=_eta(last, average or speed),
        attempt=job.status.attempt,
        begun=begun,
    )


def _ours(job: Job) -> Progress | None:
    """What is known of this attempt."""
    before = job.status.progress
    return before if before is not None and before.attempt == job.status.attempt else None


def with_total(job: Job, readings: Sequence[Reading]) -> Reading:
    """The newest of them. How much there is to do may have been told once, in a line that nobody reads again."""
    before, last = _ours(job), readings[-1]
    if before is None or before.step is None or before.total is None or last.step is None:
        return last
    goes_on = before.step <= last.step <= before.total
    told = any(one.total is not None for one in readings)
    return replace(last, total=before.total) if goes_on and not told else last


def _one_run(readings: Sequence[Reading]) -> Sequence[Reading]:
    """The newest of them, back to where steps went down or others were to do: something began anew there."""
    first = len(readings) - 1
    while first > 0 and _goes_on(readings[first - 1], readings[first]):
        first -= 1
    return readings[first:]


def _goes_on(one: Reading | Progress, later: Reading) -> bool:
    """A total may come to be known; it does not change."""
    if one.step is None or later.step is None or one.step > later.step:
        return False
    return one.total is None or one.total == later.total


def _begun(before: Progress | None, last: Reading, first: Reading) -> Mark | None:
    if before is not None and before.begun is not None and _goes_on(before, last):
        return before.begun
    return None if first.step is None else Mark(step=first.step, at=timestamp(first.at))


def _speed(step: int | None, at: datetime, last: Reading) -> float | None:
    """Steps a second from there on."""
    seconds = (last.at - at).total_seconds()
    if step is None or last.step is None or last.step <= step or seconds <= 0:
        return None
    return float(f"{(last.step - step) / seconds:.4g}")


def _percent(last: Reading) -> int | None:
    """Of an epoch that goes on nothing counts yet, where nobody knows how many steps it has."""
    if last.step is not None and last.total:
        done, whole = last.step, last.total
    elif last.epoch is not None and last.epochs:
        done, whole = last.epoch - 1, last.epochs
    else:
        return None
    return max(0, min(100, done * 100 // whole))


def _summary(last: Reading, percent: int | None) -> str:
    if percent is not None:
        return f"{percent}%"
    if last.step is not None:
        return f"step {last.step}"
    return "" if last.epoch is None else f"epoch {last.epoch}"


def _eta(last: Reading, speed: float | None) -> str | None:
    """When it will be at the end: by the speed, or as the program says itself."""
    left = last.eta
    if last.step is not None and last.total is not None and speed:
        left = (last.total - last.step) / speed
    return None if left is None or not 0 <= left <= FURTHEST else timestamp(after(last.at, round(left)))


def _differs(before: Progress, made: Progress, patience: timedelta) -> bool:
    """Whether a person sees it in a list; or in what is told about one job, which is not told as often."""
    if before.attempt != made.attempt or before.summary != made.summary or _moved(before, made):
        return True
    return before != made and abs(moment(made.at) - moment(before.at)) >= patience


def _moved(before: Progress, made: Progress) -> bool:
    """Whether the end has come nearer or gone farther away."""
    if before.eta is None or made.eta is None:
        return before.eta != made.eta
    left = (moment(made.eta) - moment(made.at)).total_seconds()
    return abs((moment(made.eta) - moment(before.eta)).total_seconds()) > max(SAME_SECONDS, SAME_SHARE * left)
