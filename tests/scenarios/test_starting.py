"""What goes wrong while a job starts, when some of its pods may have met already: the attempt starts over."""

from __future__ import annotations

import pytest

from tests.cluster.waiting import wait_until
from tests.scenarios.desk import Desk, Json, a_job, a_role

pytestmark = pytest.mark.usefixtures("operator")
LONG = 60


def running(desk: Desk, name: str, other_than: Json | None = None) -> Json:
    found = desk.pods()[name]
    assert found["status"]["phase"] == "Running"
    assert other_than is None or found["metadata"]["uid"] != other_than["metadata"]["uid"]
    return found


def test_a_server_lost_before_all_pods_are_placed_starts_the_attempt_over(desk: Desk) -> None:
    homeless = a_role(1)
    homeless["template"]["spec"]["nodeSelector"] = {"test.paddlejob/node": "none-has-it"}
    desk.submit(a_job("early", ps=a_role(1, starts="at-once"), worker=homeless, intranet="Service"))
    desk.until("early", lambda status: status.get("launched"), LONG)
    assert desk.status("early")["phase"] == "Pending"
    uid = desk.pod("early-ps-0")["metadata"]["uid"]
    # By force, so that no deletionTimestamp announces it.
    desk.api.delete(f"/api/v1/namespaces/{desk.namespace}/pods/early-ps-0", gracePeriodSeconds=0)
    status = desk.until("early", lambda status: status.get("attempt") == 1, LONG)
    assert (status["phase"], status["disruptions"], status["reason"]) == ("Restarting", 1, "PodLost")
    desk.until("early", lambda status: status.get("launched"), LONG)
    assert desk.pod("early-ps-0")["metadata"]["uid"] != uid


@pytest.mark.parametrize("started", [False, True], ids=["before all run", "while all run"])
def test_an_address_that_changed_starts_the_attempt_over_with_right_ones(desk: Desk, started: bool) -> None:
    server = a_role(1) if started else a_role(1, stuck="image")
    desk.submit(a_job("moved", ps=server, worker=a_role(1)))
    if started:
        desk.in_phase("moved", "Running", LONG)
    old = wait_until(lambda: running(desk, "moved-worker-0"), LONG)
    assert old["status"]["podIP"] in desk.config("moved")["PADDLE_TRAINER_ENDPOINTS"]
    address = {"podIP": "10.99.99.99", "podIPs": [{"ip": "10.99.99.99"}]}
    path = f"/api/v1/namespaces/{desk.namespace}/pods/moved-worker-0"
    desk.api.merge(f"{path}/status", {"metadata": {"uid": old["metadata"]["uid"]}, "status": address})
    status = desk.until("moved", lambda status: status.get("attempt") == 1, LONG)
    assert (status["phase"], status["disruptions"], status["reason"]) == ("Restarting", 1, "AddressChanged")
    # The first disruption of a job that ran is followed at once, of any other after ten seconds.
    new = wait_until(lambda: running(desk, "moved-worker-0", other_than=old), LONG)
    assert new["status"]["podIP"] in desk.config("moved")["PADDLE_TRAINER_ENDPOINTS"]
