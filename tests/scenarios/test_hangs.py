"""A job that says nothing any more, on a real API server: all workers are asked, it is told, and it starts over."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.kubelet import Kubelet
from tests.cli.person import Person
from tests.operator.fixtures import StartOperator
from tests.scenarios.desk import Desk, Json, a_job, a_role

RIGHTS = Path(__file__).parents[2] / "deploy" / "v1" / "progress.yaml"

pytestmark = pytest.mark.timeout(300)


def talking(name: str, **hang: object) -> Json:
    role = a_role(2)
    role["template"]["spec"]["nodeSelector"] = {"test.paddlejob/talks": "true"}
    return a_job(name, worker=role, hang=hang, backoffLimit=1)


def test_a_silent_job_is_told_with_its_last_line_and_starts_over_if_it_wants(
    desk: Desk, start_operator: StartOperator, kubelet: Kubelet, person: Person
) -> None:
    desk.kubectl("apply", "-f", str(RIGHTS))
    try:
        start_operator(f"--namespace={desk.namespace}", "--progress")
        desk.submit(talking("still", afterSeconds=20))
        desk.submit(talking("again", afterSeconds=20, action="Restart"))
        for job in ("still", "again"):
            kubelet.says(f"{desk.namespace}/{job}-worker-1", "step 10 of 100")
            kubelet.says(f"{desk.namespace}/{job}-worker-0", "step 11 of 100")
        told = desk.stalled("still", "Hanging", timeout=90)
        assert told["hang"]["worker"] == "still-worker-1"
        assert told["message"].endswith("still-worker-1 fell silent first, after it had printed: step 10 of 100")
        assert told["phase"] == "Running"
        assert desk.told("still").count("Hanging") == 1
        assert "says so when nothing has moved for 20s" in person.pipes("describe", "still").fine().out
        over = desk.until("again", lambda status: status.get("hangs") == 1, timeout=90)
        assert over["attempt"] == 1
        assert over["nodes"][0]["hangs"] == 1
        assert over["failure"] == {"pod": "again-worker-1", "reason": "Hanging", "message": "step 10 of 100"}
        kubelet.says(f"{desk.namespace}/still-worker-1", "step 12 of 100")
        desk.until("still", lambda status: not status.get("reason"), timeout=60)
    finally:
        desk.kubectl("delete", "-f", str(RIGHTS))
