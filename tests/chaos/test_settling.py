"""When trouble is over: what has not come to rest is told, and so is a job that is silent for long."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.chaos import settling
from tests.chaos.histories import NOW, Telling, completes, running

Story = Callable[[Telling], None]
A_MINUTE_LATER = "2027-01-15T08:01:00Z"  # than NOW


def runs_although_it_is_suspended(tell: Telling) -> None:
    running(tell)
    tell.spec(suspend=True)


def has_pods_although_it_is_suspended(tell: Telling) -> None:
    tell.job(phase="Suspended")
    tell.spec(suspend=True)
    tell.pod("worker-0")


def ended_and_something_runs(tell: Telling) -> None:
    running(tell)
    tell.ends("worker-0", 0)
    tell.job(phase="Completed")


def waits_for_ever(tell: Telling) -> None:
    tell.job(phase="Restarting", reason="Evicted", nextAttemptTime="2099-01-01T00:00:00Z")


def waits_without_a_reason(tell: Telling) -> None:
    tell.job(phase="Restarting", nextAttemptTime=A_MINUTE_LATER)


def waits_openly(tell: Telling) -> None:
    tell.job(phase="Restarting", reason="Evicted", nextAttemptTime=A_MINUTE_LATER)


def is_being_deleted(tell: Telling) -> None:
    tell.job(phase="Pending")
    tell.delete_job()


def outlived_itself(tell: Telling) -> None:
    tell.job(phase="Failed", reason="Error", completionTime="2001-01-01T00:00:00Z")
    tell.spec(ttlSecondsAfterFinished=1)


@pytest.mark.parametrize(
    ("story", "words"),
    [
        (running, "Running"),
        (runs_although_it_is_suspended, "suspended, but Running"),
        (has_pods_although_it_is_suspended, "is there"),
        (ended_and_something_runs, "worker-1"),
        (waits_for_ever, "Restarting"),
        (waits_without_a_reason, "Restarting"),
        (is_being_deleted, "deleted"),
        (outlived_itself, "did not delete itself"),
    ],
)
def test_a_job_that_has_not_come_to_rest_is_told(story: Story, words: str) -> None:
    tell = Telling()
    story(tell)
    ((_, why),) = settling.unsettled(tell.model, NOW)
    assert words in why


def waits_because_of_a_stranger(tell: Telling) -> None:
    waits_without_a_reason(tell)
    tell.model.meddled(tell.name)


@pytest.mark.parametrize("story", [completes, waits_openly, waits_because_of_a_stranger])
def test_a_job_that_ended_or_waits_openly_has_come_to_rest(story: Story) -> None:
    tell = Telling()
    story(tell)
    assert not list(settling.unsettled(tell.model, NOW))


def test_a_job_that_is_silent_for_long_is_told() -> None:
    tell = Telling()
    tell.job(phase="Pending")
    later = NOW + settling.SILENCE + 1
    assert list(settling.silent(tell.model, later, NOW))
    assert not list(settling.silent(tell.model, later, later - 1))  # the operators had other troubles
    tell.job(reason="QuotaExceeded")
    assert not list(settling.silent(tell.model, later, NOW))


@pytest.mark.parametrize(("touched", "told"), [(True, 0), (False, 1)])
def test_a_job_is_silent_with_reason_while_it_is_up_to_its_nodes(touched: bool, told: int) -> None:
    tell = Telling()
    tell.job(phase="Pending")
    tell.pod("worker-0")
    tell.placed("worker-1", touched=touched)
    tell.job(phase="Starting")
    assert len(list(settling.silent(tell.model, NOW + settling.SILENCE + 1, NOW))) == told
