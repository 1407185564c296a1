"""What a job costs, counted by the API server itself: no call that is not needed."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timezone

import pytest

from tests.cluster.audit import Call, without_watches
from tests.cluster.waiting import wait_until
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import Desk, a_job, a_role


def tally(calls: list[Call]) -> Counter[str]:
    return Counter(
        f"{call.verb} {call.resource}" + (f"/{call.subresource}" if call.subresource else "")
        for call in without_watches(calls)
    )


@pytest.mark.usefixtures("operator")
def test_a_ps_job_costs_no_call_more_than_it_needs(desk: Desk) -> None:
    desk.submit(a_job("frugal", ps=a_role(2), worker=a_role(2), cleanPodPolicy="OnCompletion"))
    desk.in_phase("frugal", "Running")
    desk.finish_workers("frugal")
    desk.in_phase("frugal", "Completed")
    wait_until(lambda: not desk.pods())
    calls = tally(desk.control_plane.audit(namespace=desk.namespace))
    status_writes = calls.pop("patch paddlejobs/status")
    touches = calls.pop("patch pods", 0)
    assert calls == {"create pods": 4, "create configmaps": 1, "delete pods": 4, "create events": 3}
    assert status_writes <= 5
    assert touches <= 4


def test_a_look_at_an_unchanged_world_makes_no_call(desk: Desk, operator: OperatorProcess) -> None:
    desk.submit(a_job("steady", ps=a_role(1), worker=a_role(1)))
    desk.in_phase("steady", "Running")
    before = len(desk.control_plane.audit(namespace=desk.namespace))
    looks = reconciles(operator)
    # A change that means nothing to the job still wakes the loop.
    desk.kubectl("annotate", "pdj", "steady", "somebody=looked")
    wait_until(lambda: reconciles(operator) > looks)
    assert len(desk.control_plane.audit(namespace=desk.namespace)) == before


def test_a_restarted_operator_finds_all_in_order_and_writes_nothing(desk: Desk, operator: OperatorProcess) -> None:
    desk.submit(a_job("steady", ps=a_role(1), worker=a_role(1)))
    desk.submit(a_job("done", worker=a_role(1, ends="succeeded")))
    desk.in_phase("steady", "Running")
    desk.in_phase("done", "Completed")
    operator.stop()
    since = datetime.now(timezone.utc)
    operator.start()
    wait_until(lambda: reconciles(operator) >= 2)
    calls = tally(desk.control_plane.audit(namespace=desk.namespace, since=since))
    assert not calls, calls


def reconciles(operator: OperatorProcess) -> float:
    lines = (line.split() for line in operator.scrape().splitlines())
    return next(float(words[1]) for words in lines if words[0] == "paddlejob_reconcile_seconds_count")
