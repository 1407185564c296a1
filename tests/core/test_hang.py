"""Hangs: when silence is one, who is named and asked, and what follows. Each test is a moment, or a few in a row."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from paddlejob.api import Condition, Failure, HangPolicy, HangStatus, Job, Status
from paddlejob.core import Observed, Plan, Scheduling, observe, plan
from paddlejob.core.hang import AN_INSTANT, LEAST_BEFORE_RESTART, hang_listens, hang_looked_at, hang_stall, watched
from paddlejob.core.observe import Listening, Reading, Said
from paddlejob.core.times import timestamp
from tests.builders import NOW, JobBuilder, a_config_map, a_job, a_ps_job, an_elastic_job, pods_of

SECOND = timedelta(seconds=1)
# Steps of 10 s each: a pause of 30 s is too long.
BUDGET = 30 * SECOND
TELL = a_job().with_workers(2).asking(hang=HangPolicy()).in_phase("Running")
RESTART = TELL.asking(hang=HangPolicy(action="Restart"), backoff_limit=1)
AT_ONCE = TELL.asking(hang=HangPolicy(action="Restart", after_seconds=7), backoff_limit=1)
FIRST, SECOND_WORKER = "train-worker-0", "train-worker-1"


def told(at: datetime, until: datetime, line: str = "step 110", total: int | None = 900, **fields: Any) -> Said:
    """A worker that told ten steps, ten seconds each, the last of them at `until`."""
    readings = tuple(
        Reading(at=until - 10 * SECOND * (9 - index), step=101 + index, total=total) for index in range(10)
    )
    return Said(**{"at": at, "changed": until, "lines": ("loading", line), "readings": readings, **fields})


def seen(job: Job, said: Mapping[str, Said], local: bool = False, running: int = 9) -> Observed:
    """The first pods run, and these workers were listened to."""
    pods = [one.running() if at < running else one for at, one in enumerate(pods_of(job).values())]
    by_uid = {f"uid-of-{name}": one for name, one in said.items()}
    found = observe(job, [*(one.build() for one in pods), a_config_map(job)])
    listening = Listening(every=15 * SECOND)
    return replace(found, said=by_uid, listening=listening, scheduling=Scheduling(local=local))


def status_of(job: JobBuilder, said: Mapping[str, Said], **fields: Any) -> HangStatus | None:
    built = job.build()
    return watched(built, built.status, seen(built, said, **fields)).hang


def both(at: datetime, of_first: datetime, of_second: datetime, **fields: Any) -> dict[str, Said]:
    return {FIRST: told(at, of_first, "first", **fields), SECOND_WORKER: told(at, of_second, "second", **fields)}


EARLIER = NOW - 2 * SECOND
LATE = NOW + BUDGET
SILENT = both(LATE, NOW, EARLIER)
HANGS = HangStatus(longest_pause=10, since=timestamp(NOW), worker=SECOND_WORKER, line="second")
LEARNED = HangStatus(longest_pause=10)
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


def look(job: JobBuilder, said: Mapping[str, Said], at: datetime) -> Plan:
    running = Condition(type="Running", status="True", reason="Running", last_transition_time=timestamp(EARLIER))
    built = job.with_status(conditions=(running,)).build()
    return plan(built, seen(built, said), at)


def test_a_hang_is_told_in_the_status_and_in_an_event() -> None:
    made = look(TELL, SILENT, LATE)
    text = (
        "nothing has moved since 2026-05-04T12:00:00Z: train-worker-1 fell silent first, after it had printed: second"
    )
    assert (made.status.phase, made.status.reason, made.status.message) == ("Running", "Hanging", text)
    condition = made.status.condition("Stalled")
    assert condition is not None
    assert (condition.status, condition.reason) == ("True", "Hanging")
    assert [(one.type, one.reason, one.note) for one in made.events] == [("Warning", "Hanging", text)]
    assert made.status.hangs == 0
    told_of = TELL.with_status(made.status).build()
    assert plan(told_of, seen(told_of, SILENT), LATE).events == ()


def test_a_hang_that_is_over_is_told_no_more() -> None:
    hanging = TELL.with_status(look(TELL, SILENT, LATE).status)
    made = plan(hanging.build(), seen(hanging.build(), both(LATE + SECOND, LATE, LATE)), LATE + SECOND)
    condition = made.status.condition("Stalled")
    assert condition is not None
    assert (condition.status, made.status.reason) == ("False", "")


def test_a_worker_that_never_said_a_word_is_named_without_a_line() -> None:
    stall = hang_stall(Status(hang=HangStatus(since="2026-05-04T12:00:00Z", worker=FIRST)))
    assert stall is not None
    assert stall.message == "nothing has moved since 2026-05-04T12:00:00Z: train-worker-0 fell silent first"


def test_a_job_that_wants_it_starts_over_after_a_while() -> None:
    hanging = RESTART.with_status(look(RESTART, SILENT, LATE).status)
    assert hanging.build().status.phase == "Running"
    end = NOW + LEAST_BEFORE_RESTART * SECOND
    later = both(end, NOW, EARLIER)
    made = plan(hanging.build(), seen(hanging.build(), later), end)
    status = made.status
    assert (status.phase, status.attempt, status.hangs, status.restarts) == ("Restarting", 1, 1, 0)
    assert status.failure == Failure(pod=SECOND_WORKER, reason="Hanging", message="second")
    assert status.message == "train-worker-1 fell silent first (Hanging)"
    assert status.hang == LEARNED
    assert [one.reason for one in made.events] == ["Restarted"]
    (node,) = status.nodes
    assert (node.name, node.hangs) == ("node-1", 1)


END = NOW + LEAST_BEFORE_RESTART * SECOND
HEARSAY: dict[str, tuple[JobBuilder, dict[str, Said]]] = {
    "nobody was heard since the operator began": (RESTART, {}),
    "only another was heard": (RESTART, {FIRST: told(END, NOW)}),
    "it was heard before the time had come": (RESTART, both(END - SECOND, NOW, EARLIER)),
    "it could not be read": (RESTART, {SECOND_WORKER: told(END, EARLIER, error="timed out")}),
    "it could not be read, and the user said after how long": (
        AT_ONCE,
        {SECOND_WORKER: told(END, EARLIER, error="timed out")},
    ),
}


@pytest.mark.parametrize("name", HEARSAY)
def test_nothing_starts_over_by_hearsay(name: str) -> None:
    job, said = HEARSAY[name]
    hanging = job.with_status(hang=HANGS).build()
    made = plan(hanging, seen(hanging, said), END)
    assert (made.status.phase, made.status.hangs) == ("Running", 0)
    assert made.status.hang == HANGS
    heard = both(END, NOW, EARLIER)
    assert plan(hanging, seen(hanging, heard), END).status.phase == "Restarting"


@pytest.mark.parametrize("said", [{}, SILENT])
def test_a_hang_ends_where_nobody_may_listen_any_more(said: dict[str, Said]) -> None:
    hanging = RESTART.with_status(hang=HANGS).build()
    deaf = replace(seen(hanging, said), listening=Listening())
    made = plan(hanging, deaf, END)
    assert (made.status.phase, made.status.reason, made.status.hang) == ("Running", "", LEARNED)
    assert hang_looked_at(hanging, hanging.status, deaf, NOW) is None


@pytest.mark.parametrize("job", [AT_ONCE, a_ps_job().with_gloo(0).asking(hang=AT_ONCE.job.spec.hang, backoff_limit=1)])
def test_it_starts_over_at_once_if_the_user_said_after_how_long(job: JobBuilder) -> None:
    made = look(job.in_phase("Running"), both(NOW + 7 * SECOND, NOW, EARLIER), NOW + 7 * SECOND)
    assert (made.status.phase, made.status.attempt, made.status.hangs) == ("Restarting", 1, 1)
    assert made.status.next_attempt_time == "2026-05-04T12:00:17Z"


def test_hangs_and_failures_together_are_limited() -> None:
    spent = AT_ONCE.with_status(restarts=1, attempt=1)
    status = look(spent, both(NOW + 7 * SECOND, NOW, EARLIER), NOW + 7 * SECOND).status
    assert (status.phase, status.reason, status.hangs) == ("Failed", "Hanging", 0)
    failed = spent.with_status(status).build()
    killed = [one.failed(137).build() for one in pods_of(failed).values()]
    assert plan(failed, observe(failed, killed), NOW).status.failure == status.failure


@pytest.mark.parametrize("since", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"])
def test_a_hang_at_the_end_of_the_calendar_hinders_no_plan(since: str) -> None:
    ahead = TELL.with_status(hang=replace(HANGS, since=since))
    assert plan(ahead.build(), seen(ahead.build(), SILENT), LATE).status.phase == "Running"
