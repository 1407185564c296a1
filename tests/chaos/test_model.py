"""The model can complain: each rule is broken once, and a good life breaks none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.chaos.histories import Telling, an_order, completes, running
from tests.chaos.jobs import Order

Story = Callable[[Telling], None]


def restarted(tell: Telling) -> None:
    running(tell)
    tell.evicted("worker-1")
    tell.job(phase="Restarting", attempt=1)
    tell.deleting("worker-0")
    tell.gone("worker-0", "worker-1")
    tell.pods("worker-0", "worker-1", attempt=1)


def both_attempts_at_once(tell: Telling) -> None:
    running(tell)
    tell.evicted("worker-1")
    tell.job(phase="Restarting", attempt=1)
    tell.gone("worker-1")
    tell.pod("worker-1", attempt=1)


def one_pod_too_many(tell: Telling) -> None:
    running(tell)
    tell.pod("worker-2")


def restarted_for_nothing(tell: Telling) -> None:
    running(tell)
    tell.job(phase="Restarting", attempt=1)


def attempt_forgotten(tell: Telling) -> None:
    restarted(tell)
    tell.job(attempt=0)


def completed_too_early(tell: Telling) -> None:
    running(tell)
    tell.ends("worker-0", 0)
    tell.job(phase="Completed")


def completed_by_a_pod_that_was_being_deleted(tell: Telling) -> None:
    running(tell)
    tell.ends("worker-0", 0)
    tell.deleting("worker-1")
    tell.ends("worker-1", 0)
    tell.job(phase="Completed")


def failed_by_a_disruption(tell: Telling) -> None:
    running(tell)
    tell.evicted("worker-1")
    tell.job(phase="Failed", reason="Evicted")


def disruption_counted_as_a_failure(tell: Telling) -> None:
    running(tell)
    tell.evicted("worker-1")
    tell.job(phase="Restarting", attempt=1, restarts=1)


def lives_on_after_its_end(tell: Telling) -> None:
    completes(tell)
    tell.job(phase="Running")


def made_after_its_end(tell: Telling) -> None:
    completes(tell)
    tell.gone("worker-1")
    tell.pod("worker-1")


def runs_what_has_succeeded_again(tell: Telling) -> None:
    running(tell)
    tell.ends("worker-0", 0)
    tell.job(worker={"succeeded": 1})
    tell.gone("worker-0")
    tell.pod("worker-0")


@pytest.mark.parametrize(
    ("story", "rule"),
    [
        (both_attempts_at_once, "attempts never mix"),
        (one_pod_too_many, "never more pods than asked for"),
        (restarted_for_nothing, "no restart without a cause"),
        (attempt_forgotten, "attempts only go up"),
        (completed_too_early, "every end is the right one"),
        (completed_by_a_pod_that_was_being_deleted, "every end is the right one"),
        (failed_by_a_disruption, "every end is the right one"),
        (disruption_counted_as_a_failure, "only failures of the program are counted"),
        (lives_on_after_its_end, "an end is an end"),
        (made_after_its_end, "nothing is made after the end"),
        (runs_what_has_succeeded_again, "a worker that succeeded is not run again"),
    ],
)
def test_a_broken_rule_is_told(story: Story, rule: str) -> None:
    tell = Telling()
    story(tell)
    assert rule in tell.rules


def failed(tell: Telling, reason: str = "Error") -> None:
    running(tell)
    tell.ends("worker-1", 1)
    tell.job(phase="Failed", reason=reason)


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        (an_order("completes"), "Error"),
        (an_order("fails", backoffLimit=1), "Error"),
        (an_order("runs out of time"), "Error"),
        (an_order("never starts"), "DeadlineExceeded"),
    ],
)
def test_an_end_that_is_not_the_orders_is_told(order: Order, reason: str) -> None:
    tell = Telling(order)
    failed(tell, reason)
    assert tell.rules == {"every end is the right one"}


@pytest.mark.parametrize(
    ("order", "reason"),
    [(an_order("fails"), "Error"), (an_order("runs out of time"), "DeadlineExceeded")],
)
def test_an_end_that_is_the_orders_is_right(order: Order, reason: str) -> None:
    tell = Telling(order)
    failed(tell, reason)
    assert not tell.rules


def restarts_and_completes(tell: Telling) -> None:
    restarted(tell)
    tell.job(phase="Running", disruptions=1)
    tell.ends("worker-0", 0)
    tell.ends("worker-1", 0)
    tell.job(phase="Completed")


def is_suspended_and_resumed(tell: Telling) -> None:
    running(tell)
    tell.spec(suspend=True)
    tell.job(phase="Suspended", attempt=1)
    tell.deleting("worker-0")
    tell.deleting("worker-1")
    tell.gone("worker-0", "worker-1")
    tell.spec(suspend=False)
    tell.pods("worker-0", "worker-1", attempt=1)


def runs_again_what_nobody_saw_succeed(tell: Telling) -> None:
    running(tell)
    tell.ends("worker-0", 0)
    tell.gone("worker-0")
    tell.pod("worker-0")


@pytest.mark.parametrize(
    "story", [completes, restarts_and_completes, is_suspended_and_resumed, runs_again_what_nobody_saw_succeed]
)
def test_a_good_life_breaks_no_rule(story: Story) -> None:
    tell = Telling()
    story(tell)
    assert not tell.rules
    assert not tell.model.unjustified


def test_a_delete_of_a_healthy_pod_is_held_against_whoever_did_it() -> None:
    tell = Telling()
    running(tell)
    assert not tell.model.unjustified
    assert tell.deleting("worker-0") in tell.model.unjustified


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(lambda tell: tell.job(phase="Failed", reason="Error"), id="it has ended"),
        pytest.param(lambda tell: tell.spec(suspend=True), id="it is suspended"),
        pytest.param(lambda tell: tell.delete_job(), id="it is being deleted"),
        pytest.param(lambda tell: tell.job(attempt=1), id="it restarts"),
        pytest.param(lambda tell: tell.job(replacing=["pod-1"]), id="the pod is replaced"),
    ],
)
def test_a_delete_that_something_calls_for_is_right(before: Story) -> None:
    tell = Telling()
    running(tell)
    before(tell)
    tell.deleting("worker-0")
    assert not tell.model.unjustified


def tells_addresses(tell: Telling) -> None:
    tell.job(phase="Pending")
    tell.pod("worker-0", "Pending", podIP="10.0.0.1")
    tell.pod("worker-1", "Pending", podIP="10.0.0.2")
    tell.config_map(PADDLE_TRAINER_ENDPOINTS="10.0.0.1:2379,10.0.0.2:2379")


def test_a_job_that_runs_with_addresses_that_no_pod_has_is_told() -> None:
    tell = Telling()
    tells_addresses(tell)
    tell.pod("worker-1", "Pending", podIP="10.0.0.3")
    tell.pods("worker-0", "worker-1")
    tell.job(phase="Running")
    assert tell.rules == {"pods are told right addresses"}


def test_a_job_that_runs_with_right_addresses_is_right() -> None:
    tell = Telling()
    tells_addresses(tell)
    tell.pods("worker-0", "worker-1")
    tell.job(phase="Running")
    assert not tell.rules
