"""Timers stand in the status: an operator that was away when they ran out comes to the same end at once."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from tests.cluster.waiting import wait_until
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import Desk, a_job, a_role


def passed(text: str, seconds: int) -> bool:
    moment = datetime.fromisoformat(text.replace("Z", "+00:00")) + timedelta(seconds=seconds)
    return datetime.now(timezone.utc) > moment


def test_what_was_due_while_no_operator_ran_is_done_when_one_comes(desk: Desk, operator: OperatorProcess) -> None:
    desk.submit(a_job("late", worker=a_role(2), activeDeadlineSeconds=10))
    desk.submit(a_job("unplaced", worker=a_role(1, starts="never"), startingDeadlineSeconds=10))
    desk.submit(a_job("over", worker=a_role(1, ends="succeeded"), ttlSecondsAfterFinished=10))
    desk.submit(a_job("again", worker=a_role(2), backoffLimit=1))
    desk.in_phase("late", "Running")
    desk.in_phase("unplaced", "Starting")
    ended = desk.in_phase("over", "Completed")["completionTime"]
    desk.in_phase("again", "Running")
    desk.steer("again-worker-0", ends="failed")
    due = desk.in_phase("again", "Restarting")["nextAttemptTime"]
    operator.kill()
    assert desk.status("late")["phase"] == "Running"
    wait_until(lambda: passed(ended, 12) and passed(due, 1), timeout=60)
    operator.start()
    assert desk.in_phase("late", "Failed")["reason"] == "DeadlineExceeded"
    assert desk.in_phase("unplaced", "Failed")["reason"] == "StartingDeadlineExceeded"
    wait_until(lambda: desk.nothing_left("over"))
    assert desk.in_phase("again", "Running")["attempt"] == 1
