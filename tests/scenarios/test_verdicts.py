"""What a real API server tells of pods that end beside a sidecar, while they are deleted, or before they are gone."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from paddlejob.core.pods import PODS
from tests.cluster.waiting import wait_until
from tests.scenarios.desk import IMAGE, Desk, Json, a_job, a_role

LONG = 60
pytestmark = pytest.mark.usefixtures("operator")


def seconds_from_now(seconds: float) -> str:
    return (datetime.now(timezone.utc) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def end_training(desk: Desk, pod: str, code: int, *, phase: str = "Running") -> None:
    """As a kubelet tells it whose other containers run on."""
    statuses: list[Json] = desk.pod(pod)["status"]["containerStatuses"]
    for one in statuses:
        if one["name"] == "paddle":
            end = {"exitCode": code, "reason": "Ended", "finishedAt": seconds_from_now(0)}
            one |= {"state": {"terminated": end}, "ready": False, "started": False}
    desk.api.merge(f"{desk.path(PODS)}/{pod}/status", {"status": {"phase": phase, "containerStatuses": statuses}})


def beside_a_proxy() -> Json:
    role = a_role(2)
    role["template"]["spec"]["containers"].insert(0, {"name": "a-proxy", "image": IMAGE})
    return role


@pytest.mark.parametrize(("code", "phase"), [(0, "Completed"), (3, "Failed")])
def test_a_proxy_that_never_ends_does_not_hold_a_job_open(desk: Desk, code: int, phase: str) -> None:
    desk.submit(a_job("proxied", worker=beside_a_proxy()))
    desk.in_phase("proxied", "Running", LONG)
    for pod in list(desk.pods()):
        end_training(desk, pod, code)
    status = desk.in_phase("proxied", phase, LONG)
    assert status.get("failure", {}).get("exitCode") == (code or None)
    wait_until(lambda: not desk.pods(), LONG)


def test_a_worker_that_succeeded_and_was_collected_is_not_run_again(desk: Desk) -> None:
    desk.submit(a_job("kept", ps=a_role(1), withGloo=0))
    desk.in_phase("kept", "Running", LONG)
    before = {name: pod["metadata"]["uid"] for name, pod in desk.pods().items()}
    desk.steer("kept-worker-0", ends="succeeded")
    desk.until("kept", lambda status: status.get("succeededIndexes") == "0", LONG)
    desk.delete_pod("kept-worker-0")
    desk.steer("kept-worker-1", ends="evicted")
    desk.until("kept", lambda status: status.get("disruptions") == 1, LONG)
    desk.in_phase("kept", "Running", LONG)
    after = {name: pod["metadata"]["uid"] for name, pod in desk.pods().items()}
    assert {name for name in after if after[name] != before[name]} == {"kept-worker-1"}
    assert "kept-worker-0" not in after
    desk.steer("kept-worker-1", ends="succeeded")
    desk.in_phase("kept", "Completed", LONG)


def test_exit_0_of_a_worker_that_somebody_deletes_is_no_success(desk: Desk) -> None:
    desk.submit(a_job("asked", worker=a_role(1, lingers="20s")))
    desk.in_phase("asked", "Running", LONG)
    desk.delete_pod("asked-worker-0")
    end_training(desk, "asked-worker-0", 0, phase="Succeeded")
    status = desk.until("asked", lambda status: status.get("disruptions") == 1, LONG)
    assert (status["phase"], status["failure"]["reason"]) == ("Restarting", "PodLost")
