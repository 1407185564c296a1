"""Pauses of a training: how long they have been, and how long the present one may be before it is likely a hang.

Learned from the times at which steps were told: three times the longest pause after which the training moved on, in
this attempt or an earlier one. Where a pause begins at which training often does something that it has not done yet (at
the end of an epoch, at the first 500th step), it may be an evaluation or a save of any length: there the watch is
patient. Before some steps were told nothing is known, and no budget is given.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from paddlejob.api import HangPolicy, Job
from paddlejob.core.observe import Reading
from paddlejob.core.progress import with_total
from paddlejob.core.times import moment

FACTOR = 3
# Shorter than that, a pause may be anything: a file system that is slow for once.
LEAST = 20
# As long as Paddle's own collectives wait for each other with NCCL.
PATIENCE = 30 * 60
# What was told before tells little of what will be usual: a program warms up.
LEAST_PAUSES, LEAST_HISTORY = 5, 30
# After how many steps people let their programs evaluate and save.
PERIODS = tuple(sorted(int(number * 10**power) for number in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8) for power in range(1, 8)))
SHORTEST_PERIOD = 50


def budget_of(job: Job, policy: HangPolicy, readings: Sequence[Reading]) -> int | None:
    """For how many seconds a worker may be silent that has told these steps last; None while that is not known."""
    if policy.after_seconds is not None:
        return policy.after_seconds
    if len(_pauses(readings)) < LEAST_PAUSES:
        return None
    first, last = _begun(job, readings), readings[-1]
    if first is None or last.step is None or (last.at - first.at).total_seconds() < LEAST_HISTORY:
        return None
    learned = learned_budget(max(longest_pause(readings), job.status.hang.longest_pause if job.status.hang else 0))
    is_patient = _may_end_an_epoch(job, readings) or _may_be_the_first(first.step or 0, readings)
    return max(learned, PATIENCE) if is_patient else learned


def learned_budget(longest: int) -> int:
    """In seconds, in the midst of an epoch, from the longest pause so far."""
    return max(LEAST, FACTOR * longest)


def longest_pause(readings: Sequence[Reading]) -> int:
    """In seconds."""
    return math.ceil(max(_pauses(readings), default=0))


def is_halfway(job: Job, readings: Sequence[Reading]) -> bool:
    """Whether the worker that told these steps last has surely more to do before it may wait for the others."""
    return bool(readings) and with_total(job, readings).total is not None and not _may_end_an_epoch(job, readings)


def _pauses(readings: Sequence[Reading]) -> list[float]:
    return [(later.at - one.at).total_seconds() for one, later in pairwise(readings) if later.at > one.at]


def _begun(job: Job, readings: Sequence[Reading]) -> Reading | None:
    """Where the program was when it was first heard, as far back as anybody knows."""
    if not readings or readings[0].step is None:
        return None
    known = job.status.progress
    if known is None or known.begun is None or known.attempt != job.status.attempt:
        return readings[0]
    earlier = Reading(at=min(moment(known.begun.at), readings[0].at), step=known.begun.step)
    return earlier if known.begun.step <= readings[0].step else readings[0]


def _reach(readings: Sequence[Reading]) -> tuple[int, int]:
    """The last step that was told, and the one that would be told next: what happens between them is not told."""
    steps = [one.step for one in readings if one.step is not None]
    stride = max((later - one for one, later in pairwise(steps)), default=1)
    return steps[-1], steps[-1] + max(1, stride)


def _may_end_an_epoch(job: Job, readings: Sequence[Reading]) -> bool:
    """Or the whole training. Where the number of steps is not known, nobody can tell when it ends."""
    last = with_total(job, readings)
    if last.step is None or last.total is None:
        return False
    low, high = _reach(readings)
    of_epoch = max(1, last.total // last.epochs) if last.epochs else last.total
    return high >= last.total or high // of_epoch * of_epoch >= low


def _may_be_the_first(begun: int, readings: Sequence[Reading]) -> bool:
    """Whether something that is done every so many steps may be due for the first time since it was first heard."""
    low, high = _reach(readings)
    return any(low <= (begun // period + 1) * period <= high for period in PERIODS if period >= SHORTEST_PERIOD)
