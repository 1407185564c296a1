"""Whole lives of jobs on a real API server: what a person sees from creation to the end."""

from __future__ import annotations

import pytest

from tests.cluster.waiting import wait_until
from tests.scenarios.desk import Desk, Json, a_job, a_role
from tests.scenarios.documents import document
from tests.scenarios.recorder import Recorder

pytestmark = pytest.mark.usefixtures("operator")

LIFE = ["Pending", "Starting", "Running", "Completed"]


def table(text: str) -> list[list[str]]:
    """What kubectl printed, up to the age."""
    lines = text.splitlines()
    return [line[: lines[0].index("AGE")].split() for line in lines]


def test_wide_and_deep_by_address_lives_as_the_users_guide_shows(desk: Desk) -> None:
    with Recorder(desk.control_plane, desk.namespace) as recorder:
        desk.kubectl("create", "-f", "-", stdin=document("user guide: wide and deep"))
        desk.in_phase("wide-ande-deep", "Running")
        assert table(desk.kubectl("get", "pdj"))[1] == ["wide-ande-deep", "Running", "PS", "2/2", "2/2"]
        desk.finish_workers("wide-ande-deep")
        desk.in_phase("wide-ande-deep", "Completed")
        wait_until(lambda: not desk.pods())
    assert recorder.phases["wide-ande-deep"] == LIFE
    assert table(desk.kubectl("get", "pdj")) == [
        ["NAME", "STATUS", "MODE", "PS", "WORKER"],
        ["wide-ande-deep", "Completed", "PS", "2/2", "0/2"],
    ]
    assert desk.told("wide-ande-deep") == ["Created", "Started", "Completed"]


def test_wide_and_deep_by_service_lives_as_the_users_guide_shows(desk: Desk) -> None:
    desk.control_plane.add_node("gpu-node", labels={"accelerator": "nvidia-tesla-p100"})
    try:
        with Recorder(desk.control_plane, desk.namespace) as recorder:
            desk.kubectl("create", "-f", "-", stdin=document("user guide: gpu and node selector"))
            desk.in_phase("wide-ande-deep", "Starting")
            assert {one["metadata"]["name"] for one in desk.objects("services")} == set(desk.pods())
            for pod in desk.pods():
                desk.steer(pod, starts="at-once")  # names were known before: a real kubelet waits for nothing
            desk.in_phase("wide-ande-deep", "Running")
            desk.finish_workers("wide-ande-deep")
            desk.in_phase("wide-ande-deep", "Completed")
            wait_until(lambda: not desk.pods() and not desk.objects("services"))
        assert recorder.phases["wide-ande-deep"] == LIFE
    finally:
        desk.control_plane.remove_node("gpu-node")


def test_resnet_lives_as_the_users_guide_shows(desk: Desk) -> None:
    with Recorder(desk.control_plane, desk.namespace) as recorder:
        desk.kubectl("create", "-f", "-", stdin=document("user guide: resnet"))
        desk.in_phase("resnet", "Running")
        desk.finish_workers("resnet")
        desk.in_phase("resnet", "Completed")
    assert recorder.phases["resnet"] == LIFE
    assert table(desk.kubectl("get", "pdj"))[1] == ["resnet", "Completed", "Collective", "0/2"]
    assert set(desk.pods()) == {"resnet-worker-0", "resnet-worker-1"}  # cleanPodPolicy: Never


def test_a_single_worker_lives_too(desk: Desk) -> None:
    desk.submit(a_job("alone", worker=a_role(1, ends="succeeded")))
    status = desk.in_phase("alone", "Completed")
    assert (status["mode"], status["worker"]["ready"], status["worker"]["succeeded"]) == ("Single", "0/1", 1)


def test_kubectl_wait_understands_the_conditions(desk: Desk) -> None:
    desk.submit(a_job("waited-for", worker=a_role(2, ends="succeeded")))
    said = desk.kubectl("wait", "--for=condition=Completed", "pdj/waited-for", "--timeout=2m")
    assert "condition met" in said


def test_a_failed_worker_fails_the_job_and_its_last_lines_are_kept(desk: Desk) -> None:
    desk.submit(a_job("broken", ps=a_role(1)))
    desk.in_phase("broken", "Running")
    desk.steer("broken-worker-1", ends="failed", exit_code="3", last_lines="ValueError: no such file")
    status = desk.in_phase("broken", "Failed")
    assert status["failure"] == {
        "pod": "broken-worker-1",
        "exitCode": 3,
        "reason": "Error",
        "message": "ValueError: no such file",
    }
    assert status["message"] == "broken-worker-1 failed with exit code 3 (Error)"
    assert "broken-worker-1 failed with exit code 3" in desk.kubectl("describe", "pdj", "broken")
    wait_until(lambda: set(desk.pods()) == {"broken-worker-1"})  # what still ran is stopped, its logs stay
    assert desk.told("broken") == ["Created", "Started", "Failed"]


def test_the_reason_of_a_failure_is_told(desk: Desk) -> None:
    desk.submit(a_job("dying", worker=a_role(2, ends="oomkilled")))
    failure = desk.in_phase("dying", "Failed")["failure"]
    assert (failure["reason"], failure["exitCode"]) == ("OOMKilled", 137)


def test_a_succeeded_worker_that_somebody_deletes_still_counts(desk: Desk) -> None:
    desk.submit(a_job("tidy", worker=a_role(2)))
    desk.in_phase("tidy", "Running")
    desk.steer("tidy-worker-0", ends="succeeded")
    desk.until("tidy", lambda status: status["worker"]["succeeded"] == 1)
    desk.delete_pod("tidy-worker-0")
    wait_until(lambda: "tidy-worker-0" not in desk.pods())
    desk.steer("tidy-worker-1", ends="succeeded")
    assert desk.in_phase("tidy", "Completed")["worker"]["succeeded"] == 2


@pytest.mark.parametrize("how", ["Background", "Foreground"])
def test_deleting_a_job_leaves_nothing(desk: Desk, how: str) -> None:
    desk.submit(a_job("doomed", ps=a_role(2, starts="at-once"), worker=a_role(2, starts="at-once"), intranet="Service"))
    desk.in_phase("doomed", "Running")
    assert len(desk.objects("services")) == 4
    desk.delete("doomed", propagationPolicy=how)
    wait_until(lambda: desk.nothing_left("doomed"), timeout=60)


def test_a_job_created_again_at_once_waits_for_the_old_pods_and_then_runs(desk: Desk) -> None:
    desk.submit(a_job("phoenix", worker=a_role(2, lingers="1s")))
    first = desk.in_phase("phoenix", "Running")
    desk.delete("phoenix")
    wait_until(lambda: desk.gone("phoenix"))
    second = desk.submit(a_job("phoenix", worker=a_role(2, lingers="1s")))
    desk.in_phase("phoenix", "Running", timeout=60)
    assert first["phase"] == "Running"
    owners = {one["metadata"]["ownerReferences"][0]["uid"] for one in desk.pods().values()}
    assert owners == {second["metadata"]["uid"]}


def test_a_heter_job_is_complete_when_its_workers_are_and_then_its_heter_workers_are_ended(desk: Desk) -> None:
    desk.submit(a_job("pipeline", ps=a_role(1), worker=a_role(2), heter=a_role(2)))
    status = desk.in_phase("pipeline", "Running")
    assert (status["mode"], status["heter"]["ready"]) == ("PS", "2/2")
    told = desk.config("pipeline")
    address = {name.removeprefix("pipeline-"): pod["status"]["podIP"] for name, pod in desk.pods().items()}
    assert told["PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST"] == f"{address['heter-0']}:2379,{address['heter-1']}:2379"
    assert (told["STAGE_NUM"], told["PADDLE_STAGE_TRAINERS_NUM"]) == ("2", "[2, 2]")
    roles = {name: value_of(desk.pod(f"pipeline-{name}"), "TRAINING_ROLE") for name in ("ps-0", "worker-1", "heter-1")}
    assert roles == {"ps-0": "PSERVER", "worker-1": "TRAINER", "heter-1": "HETER_TRAINER"}
    desk.finish_workers("pipeline")
    desk.in_phase("pipeline", "Completed")
    wait_until(lambda: {*desk.pods()} == {"pipeline-worker-0", "pipeline-worker-1"})


def value_of(pod: Json, name: str) -> str:
    return str(next(one["value"] for one in pod["spec"]["containers"][0]["env"] if one["name"] == name))
