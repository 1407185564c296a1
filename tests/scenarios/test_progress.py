"""Progress on a real API server, with the rights of deploy/v1/progress.yaml; a node's kubelet has the logs."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.cli.kubelet import Kubelet
from tests.cli.person import Person
from tests.cluster.waiting import wait_until
from tests.operator.fixtures import StartOperator
from tests.scenarios.desk import Desk, Json, a_job, a_role

ROOT = Path(__file__).parents[2]
RIGHTS = ROOT / "deploy" / "v1" / "progress.yaml"


def talking(name: str) -> Json:
    role = a_role(1)
    role["template"]["spec"]["nodeSelector"] = {"test.paddlejob/talks": "true"}
    return a_job(name, worker=role)


def test_kubectl_shows_how_far_a_job_is_as_soon_as_the_operator_may_read_logs(
    desk: Desk, start_operator: StartOperator, kubelet: Kubelet, person: Person
) -> None:
    operator = start_operator(f"--namespace={desk.namespace}", "--progress")
    desk.submit(talking("far"))
    kubelet.says(f"{desk.namespace}/far-worker-0", "step 10 of 100: loss 0.5")
    desk.in_phase("far", "Running")
    wait_until(lambda: "logs may not be read" in operator.log.read_text(), timeout=40)
    assert "progress" not in desk.status("far")
    assert operator.stop() == 0
    desk.kubectl("apply", "-f", str(RIGHTS))
    try:
        start_operator(f"--namespace={desk.namespace}", "--progress")
        told = desk.until("far", lambda status: "progress" in status, timeout=40)["progress"]
        assert (told["summary"], told["loss"]) == ("10%", 0.5)
        kubelet.says(f"{desk.namespace}/far-worker-0", "step 20 of 100: loss 0.4")
        desk.until("far", lambda status: "eta" in status["progress"], timeout=40)
        heads, row = desk.kubectl("get", "pdj").splitlines()
        assert heads.split()[-2:] == ["PROGRESS", "ETA"]
        assert row.split()[-2] == "20%"
        assert "20%" in person.pipes("list").fine().out
        assert "20%, step 20 of 100, loss 0.4" in person.pipes("describe", "far").fine().out
    finally:
        desk.kubectl("delete", "-f", str(RIGHTS))


def test_the_rights_are_one_verb_of_one_resource() -> None:
    (rule,) = next(one for one in yaml.safe_load_all(RIGHTS.read_text()) if one["kind"] == "ClusterRole")["rules"]
    assert rule == {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]}
