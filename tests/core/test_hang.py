"""Hangs: when silence is one, who is named and asked, and what follows. Each test is a moment, or a few in a row."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from paddlejob.api import HangPolicy, HangStatus
from paddlejob.core.hang import AN_INSTANT, LEAST_BEFORE_RESTART, hang_listens, hang_looked_at, watched
from paddlejob.core.observe import Listening, Reading, Said
from paddlejob.core.times import timestamp
from tests.builders import NOW, JobBuilder, an_elastic_job, pods_of
from tests.core.hang_looks import (
    AT_ONCE,
    BUDGET,
    EARLIER,
    FIRST,
    HANGS,
    LATE,
    LEARNED,
    RESTART,
    SECOND,
    SECOND_WORKER,
    SILENT,
    TELL,
    both,
    seen,
    status_of,
    told,
)

AFTER_A_PAUSE = (*told(NOW, NOW).readings, Reading(LATE + SECOND, 111, 900))
NOTHING_NEW: dict[str, Any] = {"longest_pause": 10}
CASES: dict[str, tuple[JobBuilder, dict[str, Said], HangStatus | None]] = {
    "all are silent for too long": (TELL, SILENT, HANGS),
    "not yet": (TELL, both(LATE - SECOND, NOW, EARLIER), LEARNED),
    "one was not asked yet": (TELL, {**SILENT, FIRST: told(LATE - SECOND, NOW)}, LEARNED),
    "one was never listened to": (TELL, {FIRST: SILENT[FIRST]}, LEARNED),
    "the one that spoke last cannot be read": (TELL, {**SILENT, FIRST: told(LATE, NOW, error="gone")}, LEARNED),
    "another cannot be read": (
        TELL,
        {**SILENT, SECOND_WORKER: told(LATE, EARLIER, "second", error="gone")},
        HANGS,
    ),
    "one never says much": (
        TELL,
        {**SILENT, SECOND_WORKER: Said(at=LATE, changed=NOW - timedelta(hours=1), lines=("ready",))},
        replace(HANGS, worker=FIRST, line="first"),
    ),
    "one has said nothing at all": (
        TELL,
        {**SILENT, SECOND_WORKER: Said(at=LATE)},
        replace(HANGS, worker=FIRST, line="first"),
    ),
    "the processes of one are stopped": (
        TELL,
        {**SILENT, FIRST: told(LATE, NOW, "first", stopped=True)},
        replace(HANGS, worker=FIRST, line="first"),
    ),
    "of those silent in the same moment the first": (
        TELL,
        both(LATE, NOW, NOW),
        replace(HANGS, worker=FIRST, line="first"),
    ),
    "nobody has told steps": (TELL, {name: replace(one, readings=()) for name, one in SILENT.items()}, None),
    "all were heard for the first time, by whose clock nobody knows": (
        AT_ONCE,
        both(LATE, NOW, EARLIER, first=LATE),
        LEARNED,
    ),
    "one of them was heard before": (
        TELL,
        {FIRST: told(LATE, NOW, "first", first=NOW), SECOND_WORKER: told(LATE, EARLIER, "second", first=LATE)},
        HANGS,
    ),
    "all were heard again, when what is sure was too long": (
        TELL,
        both(LATE + BUDGET, NOW, EARLIER, first=LATE),
        HANGS,
    ),
    "one worker alone, heard for the first time": (
        TELL,
        {FIRST: told(LATE, LATE), SECOND_WORKER: told(LATE, EARLIER, first=LATE)},
        LEARNED,
    ),
    "it does not watch": (TELL.asking(hang=None), SILENT, None),
    "it does not run": (TELL.in_phase("Starting"), SILENT, None),
    "one worker alone, in the midst of its work": (
        TELL,
        {**SILENT, FIRST: told(LATE, LATE)},
        replace(HANGS, since=timestamp(EARLIER)),
    ),
    "one worker alone, that nobody has listened to since the others moved": (
        TELL,
        {FIRST: told(LATE + SECOND, LATE + SECOND), SECOND_WORKER: told(LATE, EARLIER)},
        LEARNED,
    ),
    "one worker that comes back after the others": (
        TELL,
        {
            FIRST: told(
                LATE + SECOND, LATE + SECOND, readings=(*told(NOW, NOW).readings, Reading(LATE + SECOND, 111, 900))
            ),
            SECOND_WORKER: told(LATE + SECOND, EARLIER),
        },
        HangStatus(longest_pause=31),
    ),
    "one worker alone, that may have done its share": (TELL, both(LATE, LATE, EARLIER, total=None), LEARNED),
    "one elastic worker alone, which need not speak any more": (
        an_elastic_job().asking(hang=HangPolicy()).in_phase("Running"),
        {**SILENT, FIRST: told(LATE, LATE)},
        LEARNED,
    ),
    "after as long as the user says": (AT_ONCE, both(NOW + 7 * SECOND, NOW, EARLIER), HANGS),
    "nothing was printed for as long as the user says": (
        AT_ONCE,
        {FIRST: Said(at=NOW + 7 * SECOND), SECOND_WORKER: Said(at=NOW + 7 * SECOND)},
        HangStatus(since=timestamp(NOW), worker=FIRST),
    ),
    "it was told before": (TELL.with_status(hang=HANGS), SILENT, HANGS),
    "it was told before, and nobody has listened since": (TELL.with_status(hang=HANGS), {}, HANGS),
    "it was told before, and now it moves": (
        TELL.with_status(hang=HANGS),
        both(LATE, LATE, LATE),
        LEARNED,
    ),
    "what was told was of an earlier attempt": (TELL.with_status(hang=HANGS, attempt=1), {}, LEARNED),
    "what was told was of a worker that is gone": (
        TELL.with_status(hang=replace(HANGS, worker="train-worker-7")),
        {},
        LEARNED,
    ),
    "a pause a little longer than the longest": (
        TELL.with_status(hang=HangStatus(longest_pause=8)),
        both(NOW, NOW, NOW),
        HangStatus(longest_pause=8),
    ),
    "a pause much longer than the longest": (
        TELL.with_status(hang=HangStatus(longest_pause=7)),
        both(NOW, NOW, NOW),
        LEARNED,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_the_status_says_of_pauses(name: str) -> None:
    job, said, expected = CASES[name]
    assert status_of(job, said) == expected


def test_on_this_machine_every_job_is_watched() -> None:
    assert status_of(TELL.asking(hang=None), SILENT, local=True) == HANGS


def test_a_worker_that_does_not_run_is_not_asked() -> None:
    assert status_of(TELL, {FIRST: SILENT[FIRST]}, running=1) == replace(HANGS, worker=FIRST, line="first")


ASKED: dict[str, tuple[JobBuilder, dict[str, Said], datetime, list[str]]] = {
    "nobody while it moves": (TELL, both(NOW, NOW, NOW), NOW, []),
    "all when the budget is spent": (TELL, both(NOW, NOW, NOW), LATE, [FIRST, SECOND_WORKER]),
    "those that were not asked yet": (TELL, {FIRST: told(LATE, NOW)}, LATE, [SECOND_WORKER]),
    "nobody twice": (TELL, SILENT, LATE, []),
    "the one that is silent alone": (
        TELL,
        {FIRST: told(LATE, LATE), SECOND_WORKER: told(NOW, EARLIER)},
        LATE,
        [SECOND_WORKER],
    ),
    "that one again, if it could not be read": (
        TELL,
        {FIRST: told(LATE + SECOND, LATE), SECOND_WORKER: told(LATE + SECOND, EARLIER, error="timed out")},
        LATE + 16 * SECOND,
        [SECOND_WORKER],
    ),
    "the one that could not be read, after a while": (
        TELL,
        {**SILENT, FIRST: told(LATE, NOW, error="timed out")},
        LATE + 15 * SECOND,
        [FIRST],
    ),
    "nobody who could not be read just now": (
        TELL,
        {**SILENT, FIRST: told(LATE, NOW, error="timed out")},
        LATE + 14 * SECOND,
        [],
    ),
    "nobody if the job is not watched": (TELL.asking(hang=None), both(NOW, NOW, NOW), LATE, []),
    "nobody if it does not run": (TELL.in_phase("Starting"), both(NOW, NOW, NOW), LATE, []),
    "the one that is told of, again and again": (
        TELL.with_status(hang=HANGS),
        SILENT,
        LATE + 16 * SECOND,
        [SECOND_WORKER],
    ),
    "that one, if nobody has listened to it": (TELL.with_status(hang=HANGS), {}, LATE, [SECOND_WORKER]),
    "not every moment": (TELL.with_status(hang=HANGS), SILENT, LATE + 14 * SECOND, []),
}


@pytest.mark.parametrize("name", ASKED)
def test_who_is_listened_to_besides(name: str) -> None:
    job, said, at, expected = ASKED[name]
    built = job.build()
    assert [one.name for one in hang_listens(built, seen(built, said), at)] == expected


def test_one_answer_that_failed_keeps_no_hang_a_secret() -> None:
    job, failed = TELL.build(), {**SILENT, FIRST: told(LATE, NOW, error="timed out")}
    assert watched(job, job.status, seen(job, failed)).hang == LEARNED
    again = hang_looked_at(job, job.status, seen(job, failed), LATE)
    assert again == LATE + 15 * SECOND + AN_INSTANT
    assert [one.name for one in hang_listens(job, seen(job, failed), again)] == [FIRST]
    assert watched(job, job.status, seen(job, {**failed, FIRST: told(again, NOW)})).hang == HANGS


def test_on_this_machine_all_are_listened_to_all_the_time() -> None:
    job = TELL.asking(hang=None).build()
    seen_here = seen(job, {FIRST: told(LATE, LATE)}, local=True)
    assert [one.name for one in hang_listens(job, seen_here, LATE)] == [SECOND_WORKER]
    assert hang_looked_at(job, job.status, seen_here, LATE) == LATE + 15 * SECOND + AN_INSTANT
    assert [one.name for one in hang_listens(job, seen_here, LATE + 15 * SECOND)] == [SECOND_WORKER]
    assert [one.name for one in hang_listens(job, seen_here, LATE + 16 * SECOND)] == [FIRST, SECOND_WORKER]


def events_of(look: Callable[[], object]) -> int:
    """What Python does for it: calls of all kinds, and steps of generators. Not the time that it takes."""
    counted = itertools.count()
    sys.setprofile(lambda *_: next(counted))
    try:
        look()
    finally:
        sys.setprofile(None)
    return next(counted)


CROWDS: dict[str, Callable[[int, int], int]] = {
    "all move": lambda at, workers: 99,
    "one is left behind": lambda at, workers: 99 * (at > 0),
    "half of them are left behind": lambda at, workers: 99 * (2 * at > workers),
    "one after the other falls silent": lambda at, workers: 99 * at // workers,
}


def cost_of_a_look(crowd: str, workers: int) -> int:
    builder = TELL.with_workers(workers)
    job, names = builder.build(), list(pods_of(builder.build()))
    lasts = [NOW + CROWDS[crowd](at, workers) * SECOND for at in range(workers)]
    observed = seen(job, {name: told(LATE, at) for name, at in zip(names, lasts, strict=True)}, running=workers)
    now = NOW + 99 * SECOND
    return events_of(lambda: (watched(job, job.status, observed), hang_listens(job, observed, now)))


@pytest.mark.parametrize("crowd", CROWDS)
def test_what_a_look_costs_grows_no_faster_than_the_job(crowd: str) -> None:
    assert cost_of_a_look(crowd, 1000) < 12 * cost_of_a_look(crowd, 100)


def test_nobody_is_listened_to_where_nobody_may() -> None:
    job = TELL.build()
    deaf = replace(seen(job, both(NOW, NOW, NOW)), listening=Listening())
    assert hang_listens(job, deaf, LATE) == ()


def test_it_is_looked_at_when_a_budget_ends_when_it_is_to_start_over_and_when_to_listen_again() -> None:
    job, told_of = TELL.build(), RESTART.with_status(hang=HANGS).build()
    assert hang_looked_at(job, job.status, seen(job, both(NOW, NOW, EARLIER)), NOW) == LATE - 2 * SECOND
    assert hang_looked_at(told_of, told_of.status, seen(told_of, {}), LATE) == NOW + LEAST_BEFORE_RESTART * SECOND
    assert hang_looked_at(told_of, told_of.status, seen(told_of, SILENT), LATE) == LATE + 15 * SECOND + AN_INSTANT
    idle = TELL.asking(hang=None).build()
    assert hang_looked_at(idle, idle.status, seen(idle, SILENT), NOW) is None
