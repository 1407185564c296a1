"""The SDK against the real API server: submit, status, wait, logs, events, changes, deletion, and what goes wrong."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml

from paddlejob import AsyncPaddleJob, PaddleJob, errors
from tests.cli.kubelet import Kubelet
from tests.cluster.api import ApiError
from tests.cluster.waiting import wait_until
from tests.scenarios.desk import Desk, a_job, a_role


@pytest.fixture(autouse=True)
def kubeconfig(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As a person has it: it names the test's namespace."""
    path = desk.control_plane.kubeconfig(tmp_path / "kubeconfig", namespace=desk.namespace)
    monkeypatch.setenv("KUBECONFIG", str(path))
    return path


def written(name: str, **spec: Any) -> PaddleJob:
    return PaddleJob.from_yaml(yaml.safe_dump(a_job(name, **spec)))


def trains() -> None:
    print("training")


@pytest.mark.usefixtures("operator")
def test_a_job_from_its_submission_to_its_deletion(desk: Desk) -> None:
    job = PaddleJob(job_name="job", entry_point="python train.py", memory="1K", cpu_nums=1, runtime_image="any")
    assert job.submit() is job
    assert job.namespace == desk.namespace
    desk.in_phase("job", "Running")
    assert (job.status.phase, job.status.mode) == ("Running", "PS")
    shown = job._repr_html_()
    assert "Running" in shown
    assert "3/3" in shown
    desk.finish_workers("job")
    assert job.wait(timeout=60).phase == "Completed"
    assert [one.reason for one in job.events()][-1] == "Completed"
    found = PaddleJob.get("job")
    assert found.namespace == desk.namespace
    assert found.status.phase == "Completed"
    assert yaml.safe_load(found.to_yaml())["spec"]["worker"]["replicas"] == 3
    job.delete()
    wait_until(lambda: desk.gone("job"))
    with pytest.raises(errors.NotFound, match="no job job in namespace"):
        _ = job.status


@pytest.mark.usefixtures("operator")
def test_waiting_for_a_job_that_fails_and_for_one_that_is_deleted(desk: Desk) -> None:
    job = written("failing", worker=a_role(1, ends="failed")).submit()
    with pytest.raises(errors.JobFailed, match=r"(?s)failing failed: .*failing-worker-0"):
        job.wait(timeout=60)
    other = written("other").submit()
    with pytest.raises(errors.Timeout, match="other has not ended after 1 s: it is "):
        other.wait(timeout=1)
    other.delete()
    with pytest.raises(errors.NotFound, match="other"):
        other.wait(timeout=60)
    assert desk.gone("other")


@pytest.mark.usefixtures("operator")
async def test_coroutines_and_ordinary_methods_in_one_loop(desk: Desk) -> None:
    jobs = [
        AsyncPaddleJob.from_yaml(yaml.safe_dump(a_job(f"job-{i}", worker=a_role(1, ends="succeeded")))) for i in (0, 1)
    ]
    await asyncio.gather(*(job.submit() for job in jobs))
    ended = await asyncio.gather(*(job.wait(timeout=60) for job in jobs))
    assert [one.phase for one in ended] == ["Completed", "Completed"]
    assert PaddleJob.get("job-0").status.phase == "Completed"  # blocks, as in a notebook
    found = await AsyncPaddleJob.get("job-1", desk.namespace)
    await found.delete()
    await asyncio.to_thread(wait_until, lambda: desk.gone("job-1"))


@pytest.mark.usefixtures("operator")
def test_logs_are_followed_to_the_end(desk: Desk, kubelet: Kubelet) -> None:
    role = a_role(2)
    role["template"]["spec"]["nodeSelector"] = {"test.paddlejob/talks": "true"}
    job = written("talk", worker=role).submit()
    desk.in_phase("talk", "Running")
    pods = [f"{desk.namespace}/talk-worker-{index}" for index in (0, 1)]
    for pod in pods:
        kubelet.says(pod, "one", "two")
    assert [str(line) for line in job.logs(tail=1)] == ["[talk-worker-0] two", "[talk-worker-1] two"]
    assert [line.text for line in job.logs(index=1)] == ["one", "two"]
    assert list(job.logs(role="ps")) == []
    lines = job.logs(follow=True)
    seen = [next(lines) for _ in range(4)]
    for pod in pods:
        kubelet.says(pod, "three")
        kubelet.ends(pod)
    desk.finish_workers("talk")
    seen += list(lines)
    for index in (0, 1):
        assert [line.text for line in seen if line.pod == f"talk-worker-{index}"] == ["one", "two", "three"]


@pytest.mark.usefixtures("operator")
def test_a_function_travels_in_a_config_map_that_goes_with_the_job(desk: Desk) -> None:
    job = PaddleJob.from_function(trains, runtime_image="python:3.11", trainers=2).submit()
    desk.in_phase("trains", "Running")
    code = desk.api.get(f"/api/v1/namespaces/{desk.namespace}/configmaps/trains-code")
    assert "def trains() -> None:" in code["data"]["paddlejob_function.py"]
    (owner,) = code["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("PaddleJob", "trains")
    assert owner["uid"] == desk.job("trains")["metadata"]["uid"]
    (container,) = desk.pod("trains-worker-0")["spec"]["containers"]
    assert {"name": "paddlejob-code", "mountPath": "/paddlejob/code", "readOnly": True} in container["volumeMounts"]
    job.delete()
    wait_until(lambda: _gone(desk, "trains-code"), timeout=60)


def test_kubectl_takes_the_yaml_of_a_function(desk: Desk) -> None:
    desk.kubectl("create", "-f", "-", stdin=PaddleJob.from_function(trains, runtime_image="python:3.11").to_yaml())
    assert desk.job("trains")["spec"]["worker"]["replicas"] == 1
    assert "def trains()" in desk.config("trains-code")["paddlejob_function.py"]


def _gone(desk: Desk, config_map: str) -> bool:
    try:
        desk.config(config_map)
    except ApiError as error:
        return error.code == 404
    return False


def test_the_largest_function_that_we_let_travel_is_taken(desk: Desk, tmp_path: Path) -> None:
    """Our limit is the API server's own."""
    path = tmp_path / "words.txt"
    path.write_text("")
    empty = PaddleJob.from_function(trains, runtime_image="a", files=[path]).description.beside[0]["data"]
    path.write_text("x" * (1024 * 1024 - sum(map(len, empty.values()))))
    PaddleJob.from_function(trains, runtime_image="a", files=[path]).submit()
    assert len(desk.config("trains-code")["words.txt"]) > 1_000_000


def test_a_job_that_cannot_be_made_completely_is_taken_back(desk: Desk) -> None:
    core = f"/api/v1/namespaces/{desk.namespace}/configmaps"
    desk.api.post(core, {"metadata": {"name": "trains-code"}, "data": {"whose": "another's"}})
    with pytest.raises(errors.AlreadyExists, match="trains-code"):
        PaddleJob.from_function(trains, runtime_image="a").submit()
    wait_until(lambda: desk.gone("trains"))
    assert desk.config("trains-code") == {"whose": "another's"}


def test_what_stands_beside_a_job_in_its_file_is_made_with_it(desk: Desk) -> None:
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"A": "1"}}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "word"}, "stringData": {"B": "2"}}
    PaddleJob.from_yaml(yaml.safe_dump_all([settings, secret, a_job("job")])).submit()
    assert desk.config("settings") == {"A": "1"}
    assert [one["data"] for one in desk.objects("secrets") if one["metadata"]["name"] == "word"] == [{"B": "Mg=="}]


def test_a_job_is_suspended_resumed_and_scaled(desk: Desk) -> None:
    role = {**a_role(2), "requests": 1, "limits": 4}
    job = written("job", worker=role, elastic=1).submit()
    job.suspend()
    assert desk.job("job")["spec"]["suspend"] is True
    job.resume()
    assert desk.job("job")["spec"]["suspend"] is False
    job.scale(3)
    assert desk.job("job")["spec"]["worker"]["replicas"] == 3
    with pytest.raises(errors.Invalid, match="limits is the largest number"):
        job.scale(5)


def test_what_goes_wrong_is_said_so_that_a_person_can_act(
    desk: Desk, kubeconfig: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = written("job").submit()
    with pytest.raises(errors.AlreadyExists, match="job already exists in namespace"):
        written("job").submit()
    with pytest.raises(errors.Invalid, match="only in elastic jobs"):
        job.scale(5)
    with pytest.raises(errors.NotFound, match="no job nothing in namespace"):
        PaddleJob.get("nothing", desk.namespace)
    with pytest.raises(errors.NoNamespace, match="kubectl create namespace nowhere"):
        PaddleJob.from_yaml(yaml.safe_dump({**a_job("a"), "metadata": {"name": "a", "namespace": "nowhere"}})).submit()
    with pytest.raises(ValueError, match="replicaz: there is no such field: did you mean `replicas`"):
        written("typo", worker={**a_role(1), "replicaz": 2})
    with pytest.raises(errors.NoCluster, match="elsewhere"):
        written("b").submit(context="elsewhere")
    assert kubeconfig.exists()
    nobody = desk.control_plane.kubeconfig(tmp_path / "nobody", token="wrong")
    with pytest.raises(errors.Unauthorized, match="credentials"):
        written("b").submit(kubeconfig=nobody)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    with pytest.raises(errors.NoCluster):
        written("b").submit()
