"""The Kubernetes that $KUBERNETES names: it is that one, and its lists are had in the best way that it offers.

`make compatibility` runs it, with those scenarios in which a version can matter.
"""

from __future__ import annotations

import os
from datetime import datetime, timezone

from tests.cluster.control_plane import ControlPlane
from tests.operator.fixtures import StartOperator
from tests.scenarios.desk import Desk, a_job, a_role

VERSION = os.environ["KUBERNETES"]
STREAMS_LISTS = tuple(map(int, VERSION.split("."))) >= (1, 34)
WATCHED = {"paddlejobs", "pods", "services", "configmaps"}


def test_the_server_is_the_one_that_was_asked_for(control_plane: ControlPlane) -> None:
    said = control_plane.api.get("/version")
    assert f"{said['major']}.{said['minor']}" == VERSION


def test_lists_are_streamed_where_the_server_can(desk: Desk, start_operator: StartOperator) -> None:
    since = datetime.now(timezone.utc)
    start_operator(f"--namespace={desk.namespace}")
    desk.submit(a_job("first", worker=a_role(2, ends="succeeded")))
    desk.in_phase("first", "Completed")
    calls = desk.control_plane.audit(namespace=desk.namespace, since=since)
    assert {call.resource for call in calls if call.verb == "watch"} >= WATCHED
    listed = {call.resource for call in calls if call.verb == "list"}
    assert listed & WATCHED == (set() if STREAMS_LISTS else WATCHED)
