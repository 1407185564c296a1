"""What goes wrong while a job starts, when some of its pods may have met already: the attempt starts over."""

from __future__ import annotations

import pytest

from tests.scenarios.desk import Desk, a_job, a_role

pytestmark = pytest.mark.usefixtures("operator")
LONG = 60


def test_a_server_lost_before_all_pods_are_placed_starts_the_attempt_over(desk: Desk) -> None:
    homeless = a_role(1)
    homeless["template"]["spec"]["nodeSelector"] = {"test.paddlejob/node": "that nobody has"}
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
