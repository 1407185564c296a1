"""Hangs that are told: in the status and in an event, until they are over or the job starts over."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import pytest
from msgspec.structs import replace

from paddlejob.api import Condition, Failure, HangStatus, Status
from paddlejob.core import Plan, observe, plan
from paddlejob.core.hang import LEAST_BEFORE_RESTART, hang_looked_at, hang_stall
from paddlejob.core.observe import Listening, Said
from paddlejob.core.times import timestamp
from tests.builders import NOW, JobBuilder, a_ps_job, pods_of
from tests.core.hang_looks import (
    AT_ONCE,
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
    told,
)


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
