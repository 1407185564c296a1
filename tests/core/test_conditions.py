"""Standard conditions: which stand in the status, and when their time changes.

`kubectl wait` and other programs live on them, so they are compared whole.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from paddlejob.api import Condition, Job
from paddlejob.api.status import ConditionStatus, ConditionType, Phase
from paddlejob.core.conditions import conditions
from paddlejob.core.stalls import Stall
from paddlejob.core.times import timestamp
from tests.builders import EARLIER, NOW, NOW_TEXT, a_job

STALL = Stall("Unschedulable", "no nodes")
LATER = NOW + timedelta(minutes=5)


def condition(type_: ConditionType, status: ConditionStatus, reason: str, message: str = "") -> Condition:
    return Condition(
        type=type_,
        status=status,
        reason=reason,
        message=message,
        last_transition_time=NOW_TEXT,
        observed_generation=3,
    )


def after(*before: Condition) -> Job:
    return a_job().at_generation(3).with_status(conditions=before).build()


NOT_RUNNING = condition("Running", "False", "Pending")
CASES: dict[str, tuple[Phase, str, Stall | None, tuple[Condition, ...]]] = {
    "pending": ("Pending", "", None, (NOT_RUNNING,)),
    "running": ("Running", "", None, (condition("Running", "True", "Running"),)),
    "stalled": ("Pending", "", STALL, (NOT_RUNNING, condition("Stalled", "True", "Unschedulable", "no nodes"))),
    "completed": (
        "Completed",
        "2 of 2 workers succeeded",
        None,
        (
            condition("Running", "False", "Completed"),
            condition("Completed", "True", "Completed", "2 of 2 workers succeeded"),
        ),
    ),
    "failed": (
        "Failed",
        "worker-0 failed",
        None,
        (condition("Running", "False", "Failed"), condition("Failed", "True", "Failed", "worker-0 failed")),
    ),
}


@pytest.mark.parametrize(("phase", "message", "stall", "expected"), CASES.values(), ids=CASES.keys())
def test_a_job_that_is(phase: Phase, message: str, stall: Stall | None, expected: tuple[Condition, ...]) -> None:
    assert conditions(after(), phase, message, stall, NOW) == expected


def test_a_stall_that_is_over_stays_as_false() -> None:
    before = condition("Stalled", "True", "Unschedulable", "no nodes")
    (_, found) = conditions(after(before), "Running", "", None, LATER)
    assert (found.status, found.reason, found.message) == ("False", "Progressing", "")
    assert found.last_transition_time == timestamp(LATER)


def test_the_time_changes_only_with_the_status() -> None:
    before = conditions(after(), "Pending", "", STALL, NOW)
    changed = conditions(after(*before), "Starting", "", Stall("ImagePull", "denied"), LATER)
    assert [one.last_transition_time for one in changed] == [NOW_TEXT, NOW_TEXT]
    assert [one.reason for one in changed] == ["Starting", "ImagePull"]


def test_each_condition_has_its_own_time() -> None:
    before = conditions(after(), "Pending", "", STALL, NOW)
    changed = conditions(after(*before), "Running", "", STALL, LATER)
    assert [one.last_transition_time for one in changed] == [timestamp(LATER), NOW_TEXT]


def test_timestamps_are_those_of_kubernetes() -> None:
    assert timestamp(NOW) == NOW_TEXT
    assert timestamp(NOW - timedelta(hours=1)) == EARLIER
    assert timestamp(NOW + timedelta(milliseconds=999)) == NOW_TEXT
