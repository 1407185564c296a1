"""How long a pause may be, learned from those before it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from paddlejob.api import HangPolicy, HangStatus, Mark, Progress
from paddlejob.core.observe import Reading
from paddlejob.core.pauses import PATIENCE, budget_of, is_halfway, learned_budget, longest_pause
from paddlejob.core.times import timestamp
from tests.builders import NOW, JobBuilder, a_job

LEARN = HangPolicy()
JOB = a_job().with_workers(2)


def steps(
    *at: float, first: int = 101, stride: int = 1, total: int | None = None, epochs: int | None = None
) -> list[Reading]:
    """Steps that were told so many seconds from now."""
    return [
        Reading(at=NOW + timedelta(seconds=when), step=first + index * stride, total=total, epochs=epochs)
        for index, when in enumerate(at)
    ]


TEN = steps(*range(0, 100, 10))
BEGUN = Progress(begun=Mark(step=1, at=timestamp(NOW - timedelta(hours=1))))
KNOWN = Progress(step=101, total=121)
CASES: dict[str, tuple[JobBuilder, list[Reading], int | None]] = {
    "nothing was told": (JOB, [], None),
    "hardly anything": (JOB, TEN[:5], None),
    "only for a moment": (JOB, steps(*range(10)), None),
    "an hour, though only the end of it is known": (JOB.with_status(progress=BEGUN), steps(*range(10)), 20),
    "what is known is of an earlier attempt": (JOB.with_status(progress=BEGUN, attempt=1), steps(*range(10)), None),
    "what is known is of steps to come": (
        JOB.with_status(progress=Progress(begun=Mark(step=900, at=timestamp(NOW)))),
        TEN,
        30,
    ),
    "lines without steps": (JOB, [Reading(at=one.at, loss=0.1) for one in TEN], None),
    "a last line without a step": (JOB, [*TEN, Reading(at=NOW + timedelta(seconds=100))], None),
    "ten seconds each": (JOB, TEN, 30),
    "one of them longer": (JOB, steps(0, 10, 20, 30, 130, 140, 150), 300),
    "one of an earlier attempt longer": (JOB.with_status(hang=HangStatus(longest_pause=50)), TEN, 150),
    "steps that are over at once": (JOB, steps(*range(0, 40, 4)), 20),
    "in the midst of an epoch": (JOB, steps(*range(0, 100, 10), first=131, total=900, epochs=3), 30),
    "at the end of an epoch": (JOB, steps(*range(0, 100, 10), first=291, total=900, epochs=3), PATIENCE),
    "just before the end of an epoch": (JOB, steps(*range(0, 100, 10), first=290, total=900, epochs=3), PATIENCE),
    "just after it": (JOB, steps(*range(0, 100, 10), first=292, total=900, epochs=3), 30),
    "at the end of all": (JOB, steps(*range(0, 100, 10), first=101, total=110), PATIENCE),
    "at the end of all, which was told once": (
        JOB.with_status(progress=KNOWN),
        steps(*range(0, 100, 10), first=112),
        PATIENCE,
    ),
    "before the end of all, which was told once": (JOB.with_status(progress=KNOWN), TEN, 30),
    "at the end of all of an earlier attempt": (
        JOB.with_status(progress=KNOWN, attempt=1),
        steps(*range(0, 100, 10), first=112),
        30,
    ),
    "epochs of one step": (JOB, steps(*range(0, 100, 10), first=101, total=900, epochs=900), PATIENCE),
    "more epochs than steps": (JOB, steps(*range(0, 100, 10), first=101, total=900, epochs=2000), PATIENCE),
    "before the first 150th step": (JOB, steps(*range(0, 100, 10), first=141), PATIENCE),
    "before it, in larger strides": (JOB, steps(*range(0, 100, 10), first=51, stride=10), PATIENCE),
    "after it": (JOB, steps(*range(0, 100, 10), first=161), 30),
    "before a step that is not round": (JOB, steps(*range(0, 100, 10), first=120), 30),
    "steps that stand still": (JOB, steps(*range(0, 100, 10), stride=0), 30),
    "long pauses, at an end": (JOB, steps(*range(0, 10_000, 1000), first=101, total=110), 3000),
}


@pytest.mark.parametrize("name", CASES)
def test_the_budget_is_learned_from_the_steps_before(name: str) -> None:
    job, readings, expected = CASES[name]
    assert budget_of(job.build(), LEARN, readings) == expected


def test_what_the_user_says_needs_no_history() -> None:
    assert budget_of(JOB.build(), HangPolicy(after_seconds=7), []) == 7


def test_the_longest_pause_is_counted_in_whole_seconds() -> None:
    assert longest_pause(steps(0, 1.2, 4.7)) == 4
    assert longest_pause([]) == 0
    assert [learned_budget(longest) for longest in (0, 6, 7)] == [20, 20, 21]


def test_a_worker_is_halfway_if_it_has_more_to_do_than_to_end_an_epoch() -> None:
    job, knows = JOB.build(), JOB.with_status(progress=KNOWN).build()
    assert is_halfway(job, steps(0, 1, total=900))
    assert not is_halfway(job, steps(0, 1))
    assert not is_halfway(job, steps(0, 1, total=102))
    assert not is_halfway(job, [])
    assert is_halfway(knows, steps(0, 1))
    assert not is_halfway(knows, steps(0, 1, first=119))
