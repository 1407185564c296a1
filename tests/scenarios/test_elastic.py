"""Elastic jobs on a real API server with a real etcd; nodes are simulated, and the launchers' words are ours."""

from __future__ import annotations

import pytest

from tests.cluster.control_plane import KubectlFailed
from tests.cluster.waiting import wait_until
from tests.etcd.server import EtcdServer
from tests.operator.fixtures import StartOperator
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import Desk, Json, a_job, a_role


@pytest.fixture
def operator(start_operator: StartOperator, etcd: EtcdServer, namespace: str) -> OperatorProcess:
    return start_operator(f"--namespace={namespace}", f"--etcd-server={etcd.address}")


def an_elastic_job(name: str, workers: int = 2, etcd: str | None = None, **annotations: str) -> Json:
    """Of two to four workers."""
    job = a_job(name, elastic=1, worker={**a_role(workers, **annotations), "requests": 2, "limits": 4})
    if etcd is not None:
        job["metadata"]["annotations"] = {"batch.paddlepaddle.org/etcd-server": etcd}
    return job


def job_id(desk: Desk, name: str) -> str:
    env = desk.pod(f"{name}-worker-0")["spec"]["containers"][0]["env"]
    (value,) = (one["value"] for one in env if one["name"] == "PADDLE_JOB_ID")
    return str(value)


def uid(desk: Desk, pod: str) -> str:
    return str(desk.pod(pod)["metadata"]["uid"])


def uids(desk: Desk) -> dict[str, str]:
    return {name: one["metadata"]["uid"] for name, one in desk.pods().items()}


def is_replaced(desk: Desk, pod: str, old: str) -> bool:
    found = desk.pods().get(pod)
    return found is not None and found["metadata"]["uid"] != old and found["status"]["phase"] == "Running"


def settled(workers: int, scalings: int) -> dict[str, object]:
    return {"replicas": workers, **({"scalings": scalings} if scalings else {})}


def scaled(desk: Desk, name: str, workers: int, scalings: int) -> None:
    desk.until(name, lambda status: status.get("world") == settled(workers, scalings))
    status = desk.in_phase(name, "Running")
    assert (status["elastic"], status["worker"]["ready"]) == ("DONE", f"{workers}/{workers}")
    assert sorted(desk.pods()) == [f"{name}-worker-{index}" for index in range(workers)]


@pytest.mark.usefixtures("operator")
def test_a_lone_exit_is_replaced_and_the_launchers_word_completes_the_job(desk: Desk, etcd: EtcdServer) -> None:
    desk.submit(an_elastic_job("learn"))
    status = desk.in_phase("learn", "Running")
    assert status["elastic"] == "NONE"
    id_ = job_id(desk, "learn")
    other = f"{desk.namespace}-learn"  # its id begins like ours
    for key in (
        f"/paddle/{id_}",
        f"/paddle/{id_}/heartbeat/a",
        f"/{id_}/info/a/-1",
        f"/paddle/{other}",
        f"/{other}/info",
    ):
        etcd.put(key, "running")
    lone = uid(desk, "learn-worker-1")
    desk.steer("learn-worker-1", ends="succeeded")
    wait_until(lambda: is_replaced(desk, "learn-worker-1", lone))
    assert desk.status("learn")["world"] == {"replicas": 2, "comebacks": 1}
    etcd.put(f"/paddle/{id_}", "completed")
    desk.steer("learn-worker-0", ends="succeeded")
    status = desk.until("learn", lambda status: status["world"].get("completed"))
    assert status["phase"] == "Running"  # the other may still be writing
    desk.steer("learn-worker-1", ends="succeeded")
    desk.in_phase("learn", "Completed")
    wait_until(lambda: set(etcd.keys()) == {f"/paddle/{other}", f"/{other}/info"})
    desk.until("learn", lambda status: status["world"].get("forgotten"))


@pytest.mark.usefixtures("operator")
def test_workers_come_and_go_and_the_others_stay(desk: Desk) -> None:
    desk.submit(an_elastic_job("grow"))
    desk.in_phase("grow", "Running")
    first = uids(desk)
    desk.kubectl("scale", "pdj/grow", "--replicas=4")
    scaled(desk, "grow", 4, 1)
    assert {name: one for name, one in uids(desk).items() if name in first} == first
    desk.kubectl("scale", "pdj/grow", "--replicas=3")
    scaled(desk, "grow", 3, 2)
    desk.kubectl("scale", "pdj/grow", "--replicas=2")
    scaled(desk, "grow", 2, 3)
    assert uids(desk) == first
    for replicas in ("1", "5"):
        with pytest.raises(KubectlFailed, match=r"is the (smallest|largest) number of replicas"):
            desk.kubectl("scale", "pdj/grow", f"--replicas={replicas}")


@pytest.mark.usefixtures("operator")
def test_scaling_during_a_failure_replaces_and_adds(desk: Desk) -> None:
    desk.submit(an_elastic_job("storm"))
    desk.in_phase("storm", "Running")
    before = uids(desk)
    desk.steer("storm-worker-1", ends="evicted")
    desk.kubectl("scale", "pdj/storm", "--replicas=3")
    scaled(desk, "storm", 3, 1)
    after = uids(desk)
    assert after["storm-worker-0"] == before["storm-worker-0"]
    assert after["storm-worker-1"] != before["storm-worker-1"]


@pytest.mark.parametrize("code", ["1", "241", "250"])
@pytest.mark.usefixtures("operator")
def test_a_worker_that_lost_its_peers_is_replaced_alone(desk: Desk, code: str) -> None:
    desk.submit(an_elastic_job("lone"))
    desk.in_phase("lone", "Running")
    before = uids(desk)
    desk.steer("lone-worker-0", ends="failed", exit_code=code)
    wait_until(lambda: is_replaced(desk, "lone-worker-0", before["lone-worker-0"]))
    assert uid(desk, "lone-worker-1") == before["lone-worker-1"]
    status = desk.in_phase("lone", "Running")
    assert (status["world"]["comebacks"], status["restarts"], status["disruptions"]) == (1, 0, 0)


@pytest.mark.usefixtures("operator")
def test_a_worker_that_somebody_deletes_is_replaced_alone(desk: Desk) -> None:
    desk.submit(an_elastic_job("lost"))
    desk.in_phase("lost", "Running")
    before = uids(desk)
    desk.delete_pod("lost-worker-1")
    wait_until(lambda: is_replaced(desk, "lost-worker-1", before["lost-worker-1"]))
    assert uid(desk, "lost-worker-0") == before["lost-worker-0"]


@pytest.mark.usefixtures("operator")
def test_a_failure_of_the_program_fails_the_job(desk: Desk) -> None:
    desk.submit(an_elastic_job("broken"))
    desk.in_phase("broken", "Running")
    desk.steer("broken-worker-1", ends="failed", exit_code="7", last_lines="no such file")
    status = desk.in_phase("broken", "Failed")
    assert status["failure"] == {"pod": "broken-worker-1", "exitCode": 7, "reason": "Error", "message": "no such file"}


@pytest.mark.usefixtures("operator")
def test_no_worker_starts_before_enough_are_placed(desk: Desk, etcd: EtcdServer) -> None:
    desk.submit(an_elastic_job("slow", workers=3, starts="never"))
    wait_until(lambda: len(desk.pods()) == 3)
    desk.steer("slow-worker-2", starts="")
    wait_until(lambda: desk.pod("slow-worker-2")["status"].get("podIP"))
    assert not [one for one in desk.objects("configmaps") if one["metadata"]["name"] == "slow"]
    desk.steer("slow-worker-0", starts="")
    wait_until(lambda: desk.config("slow"))
    assert desk.config("slow")["PADDLE_MASTER"] == f"etcd://{etcd.address}"
    assert desk.config("slow")["PADDLE_NNODES"] == "2:4"
    status = desk.in_phase("slow", "Running")
    assert status["worker"]["ready"] == "2/3"


@pytest.mark.usefixtures("operator")
def test_an_etcd_that_is_gone_is_said_within_seconds_and_forgiven(desk: Desk, etcd: EtcdServer) -> None:
    desk.submit(an_elastic_job("patient"))
    desk.in_phase("patient", "Running")
    etcd.stop()
    status = desk.stalled("patient", "EtcdUnreachable", timeout=60)
    assert (status["phase"], status["elastic"]) == ("Running", "ERROR")
    assert etcd.address in status["message"]
    desk.steer("patient-worker-0", ends="succeeded")  # judged when somebody can be asked again
    desk.until("patient", lambda status: status["worker"].get("succeeded") == 1)
    desk.submit(an_elastic_job("careful"))
    desk.stalled("careful", "EtcdUnreachable", timeout=60)
    assert sorted(desk.pods()) == ["patient-worker-0", "patient-worker-1"]
    etcd.start()
    desk.until("patient", lambda status: status["worker"]["ready"] == "2/2" and not status.get("reason"), timeout=60)
    desk.in_phase("careful", "Running", timeout=60)


def test_a_job_that_cannot_have_an_etcd_says_what_to_do(desk: Desk, start_operator: StartOperator) -> None:
    start_operator(f"--namespace={desk.namespace}")
    desk.submit(an_elastic_job("nowhere"))
    desk.submit(an_elastic_job("name", etcd="etcd.infra:2379"))
    status = desk.stalled("nowhere", "EtcdMissing")
    assert "batch.paddlepaddle.org/etcd-server" in status["message"]
    assert "etcd.infra:2379" in desk.stalled("name", "EtcdAddress")["message"]
    assert desk.pods() == {}


def test_its_own_etcd_serves_a_job_better_than_the_operators(
    desk: Desk, start_operator: StartOperator, etcd: EtcdServer
) -> None:
    start_operator(f"--namespace={desk.namespace}", "--etcd-server=127.0.0.1:1", "--allow-etcd-address=127.0.0.0/8")
    desk.submit(an_elastic_job("own", etcd=etcd.address))
    desk.in_phase("own", "Running")


@pytest.mark.usefixtures("operator")
def test_the_operator_calls_no_address_of_a_jobs_choice_that_only_it_can_reach(desk: Desk, etcd: EtcdServer) -> None:
    desk.submit(an_elastic_job("stranger", etcd="127.0.0.1:1"))
    desk.submit(an_elastic_job("metadata", etcd="169.254.169.254:80"))
    desk.submit(an_elastic_job("operators", etcd=etcd.address))
    assert "loopback" in desk.stalled("stranger", "EtcdNotAllowed")["message"]
    assert "--allow-etcd-address 169.254.169.254" in desk.stalled("metadata", "EtcdNotAllowed")["message"]
    desk.in_phase("operators", "Running")
    assert sorted(desk.pods()) == ["operators-worker-0", "operators-worker-1"]


@pytest.mark.usefixtures("operator")
def test_the_end_of_a_job_with_an_id_of_its_own_choice_leaves_the_keys_of_all_others(
    desk: Desk, etcd: EtcdServer
) -> None:
    etcd.put("/paddle/another-job-8f432e67-0000", "running")
    job = an_elastic_job("greedy")
    job["spec"]["worker"]["template"]["spec"]["containers"][0]["env"] = [{"name": "PADDLE_JOB_ID", "value": "paddle"}]
    desk.submit({**job, "spec": {**job["spec"], "ttlSecondsAfterFinished": 0}})
    desk.in_phase("greedy", "Running")
    desk.steer("greedy-worker-0", ends="failed", exit_code="7")
    desk.kubectl("wait", "--for=delete", "pdj/greedy", "--timeout=60s")
    assert set(etcd.keys()) == {"/paddle/another-job-8f432e67-0000"}


def test_keys_are_removed_also_by_an_operator_that_comes_later(
    desk: Desk, etcd: EtcdServer, operator: OperatorProcess
) -> None:
    desk.submit(an_elastic_job("late"))
    desk.in_phase("late", "Running")
    etcd.put(f"/paddle/{job_id(desk, 'late')}", "completed")
    desk.steer("late-worker-0", ends="succeeded")
    desk.until("late", lambda status: status["world"].get("completed"))
    etcd.stop()
    desk.steer("late-worker-1", ends="succeeded")
    desk.in_phase("late", "Completed")
    operator.kill()
    etcd.start()
    assert len(etcd.keys()) == 1
    operator.start()
    wait_until(lambda: not etcd.keys())
    desk.until("late", lambda status: status["world"].get("forgotten"))
