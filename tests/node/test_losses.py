"""Pods that a job loses while others go on: a worker killed in its container, a server deleted by somebody."""

import pytest

from tests.node.conftest import Tell
from tests.node.faults import kill_container
from tests.node.resuming import NAME, goes_on, learning, wait_for_checkpoint
from tests.node.user import ENDS, User

pytestmark = pytest.mark.timeout(600)


def test_a_worker_killed_in_its_container_is_a_failure_of_the_program(user: User, tell: Tell) -> None:
    """The whole job starts again, as far as backoffLimit allows."""
    user.submit(learning(user, backoffLimit=1))
    wait_for_checkpoint(user)
    kill_container(user.pods(NAME)[f"{NAME}-worker-1"], "paddle")
    status = goes_on(user, "worker killed", tell)
    assert (status["restarts"], status["disruptions"], status["attempt"]) == (1, 0, 1), status


def test_without_a_backoff_limit_it_fails_and_says_which(user: User) -> None:
    user.submit(learning(user))
    wait_for_checkpoint(user)
    kill_container(user.pods(NAME)[f"{NAME}-worker-1"], "paddle")
    status = user.in_phase(NAME, *ENDS)
    assert (status["phase"], status["failure"]["pod"]) == ("Failed", f"{NAME}-worker-1"), status
    assert status["failure"]["exitCode"] == 137


def test_a_server_that_somebody_deletes_is_a_disruption(user: User) -> None:
    job = user.create("deploy/examples/wide_and_deep.yaml")
    user.in_phase(job, "Running")
    user.kubectl("delete", "pod", f"{job}-ps-1", "--wait=false")
    status = user.until(job, lambda status: status.get("attempt") == 1)
    assert (status["restarts"], status["disruptions"]) == (0, 1), status
    story = user.sees_through(job)
    assert story.row["STATUS"] == "Completed", story.told()
    assert [(one["rank"], one["world"]) for one in story.reports] == [(0, 2), (1, 2)]
