"""Manifests as others write them, on a real API server: each runs to its end, or is refused with what to write instead.

The shapes are those of the examples of paddle-operator 0.3, of kubeflow.org/v1, and of what PaddleFlow sends.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Literal, get_args

import msgspec
import pytest
import yaml

from paddlejob.api.status import Phase
from tests.cli.person import Person
from tests.cluster.control_plane import NODE, ControlPlane, KubectlFailed
from tests.cluster.waiting import wait_until
from tests.etcd.server import EtcdServer
from tests.operator.fixtures import StartOperator
from tests.operator.process import OperatorProcess
from tests.scenarios import pod_groups
from tests.scenarios.desk import Desk, Json, a_job, a_role
from tests.scenarios.test_elastic import job_id

ROOT = Path(__file__).parents[2]
LONG = 60


@pytest.fixture(scope="module")
def volcano(control_plane: ControlPlane) -> Iterator[None]:
    """What of it the operator meets; the tests place the pods themselves."""
    with pod_groups.defined(control_plane):
        yield


@pytest.fixture
def operator(start_operator: StartOperator, etcd: EtcdServer, namespace: str) -> OperatorProcess:
    return start_operator(f"--namespace={namespace}", f"--etcd-server={etcd.address}")


def with_pod(**spec: object) -> Json:
    role = a_role(2)
    role["template"]["spec"] |= spec
    return role


def with_container(**fields: object) -> Json:
    role = a_role(2)
    role["template"]["spec"]["containers"][0] |= fields
    return role


def with_volume(path: str, **source: object) -> Json:
    role = with_pod(volumes=[{"name": "extra", **source}])
    role["template"]["spec"]["containers"][0]["volumeMounts"] = [{"name": "extra", "mountPath": path}]
    return role


IN_GROUP = {"scheduling.k8s.io/group-name": "theirs", "volcano.sh/preemptable": "true"}


def in_volcano() -> Json:
    """Pods that name their group themselves."""
    role = with_pod(schedulerName="volcano")
    role["template"]["metadata"]["annotations"] |= IN_GROUP
    return role


def as_in_their_elastic_example() -> Json:
    """All at once: each may be taken alone and not beside the others."""
    role = with_container(name="resnet", imagePullPolicy="Always", resources=GPU)
    spec = role["template"]["spec"]
    spec["volumes"] = [
        {"name": "shm", "emptyDir": {"medium": "Memory"}},
        {"name": "kept", "hostPath": {"path": "/tmp/kept"}},
    ]
    spec["containers"][0]["volumeMounts"] = [
        {"name": "shm", "mountPath": "/dev/shm"},
        {"name": "kept", "mountPath": "/kept"},
    ]
    return role


MEMORY = with_volume("/dev/shm", emptyDir={"medium": "Memory"})
ON_THE_HOST = with_volume("/checkpoints", hostPath={"path": "/tmp/checkpoints"})
GPU = {"limits": {"nvidia.com/gpu": 1}}
UNCOUNTED = {"template": a_role(1)["template"]}

RUN: dict[str, Json] = {
    "containers that are not called paddle": {"worker": with_container(name="main"), "ps": with_container(name="ps")},
    "restartPolicy OnFailure": {"worker": with_pod(restartPolicy="OnFailure")},
    "memory at /dev/shm": {"worker": MEMORY},
    "checkpoints on the host": {"worker": ON_THE_HOST},
    "GPUs": {"worker": with_container(resources=GPU)},
    "elastic without bounds": {"elastic": 1},
    "all of their elastic example": {"elastic": 1, "worker": as_in_their_elastic_example()},
    "cleanPodPolicy OnFailed": {"cleanPodPolicy": "OnFailed"},
    "the scheduler of Volcano": {"worker": with_pod(schedulerName="volcano")},
    "annotations of Volcano": {"worker": in_volcano()},
    "templates without replicas": {"worker": UNCOUNTED, "ps": UNCOUNTED},
    "all that PaddleFlow sets": {
        "intranet": "PodIP",
        "withGloo": 1,
        "cleanPodPolicy": "OnCompletion",
        "schedulingPolicy": {"minAvailable": 2, "queue": "default", "minResources": {"cpu": "2", "memory": "1Gi"}},
    },
}


# Who names the scheduler makes the group, too, with the job's name.
THEIR_GROUP: Json = {
    "apiVersion": f"{pod_groups.GROUP}/v1beta1",
    "kind": "PodGroup",
    "metadata": {"name": "theirs"},
    "spec": {"minMember": 2},
}


def schedule(desk: Desk) -> bool:
    """In place of the scheduler that these pods wait for. Whether there are any, and all have a node."""
    pod_groups.admit(desk)
    pods = desk.pods()
    for name, pod in pods.items():
        if pod["spec"]["schedulerName"] != "default-scheduler" and not pod["spec"].get("nodeName"):
            target = {"apiVersion": "v1", "kind": "Node", "name": NODE}
            path = f"/api/v1/namespaces/{desk.namespace}/pods/{name}/binding"
            desk.api.post(path, {"metadata": {"name": name}, "target": target})
    return bool(pods) and all(pod["spec"].get("nodeName") for pod in desk.pods().values())


def runs_to_its_end(desk: Desk, name: str, etcd: EtcdServer | None = None) -> Json:
    wait_until(lambda: schedule(desk), LONG)
    desk.in_phase(name, "Running", LONG)
    if etcd is not None:
        etcd.put(f"/paddle/{job_id(desk, name)}", "completed")
    desk.finish_workers(name)
    return desk.in_phase(name, "Completed", LONG)


@pytest.mark.usefixtures("volcano", "operator")
@pytest.mark.parametrize("spec", RUN.values(), ids=RUN)
def test_it_runs_to_its_end(desk: Desk, etcd: EtcdServer, spec: Json) -> None:
    if spec in (RUN["the scheduler of Volcano"], RUN["annotations of Volcano"]):
        desk.kubectl("create", "-f", "-", stdin=yaml.safe_dump(THEIR_GROUP))
    desk.kubectl("create", "-f", "-", stdin=yaml.safe_dump(a_job("theirs", **spec)))
    status = runs_to_its_end(desk, "theirs", etcd if spec.get("elastic") else None)
    assert not status.get("disruptions")
    if spec.get("elastic"):
        assert desk.config("theirs")["PADDLE_NNODES"] == "2:2"
    if spec is RUN["annotations of Volcano"]:
        assert all(pod["metadata"]["annotations"].items() >= IN_GROUP.items() for pod in desk.pods().values())


REFUSED: dict[str, tuple[Json, str]] = {
    "a SampleSet": (
        {"sampleSetRef": {"name": "a", "mountPath": "/data"}},
        "mount the claim that has the SampleSet's name",
    ),
    "a SampleSet, with a namespace": (
        {"sampleSetRef": {"name": "a", "namespace": "data", "mountPath": "/data"}},
        "mount the claim that has the SampleSet's name",
    ),
    "restartPolicy Always": (
        {"worker": with_pod(restartPolicy="Always")},
        "set template.spec.restartPolicy to Never or OnFailure",
    ),
    "roles of any name, as in versions that were never released": (
        {"worker": None, "mode": "PS", "tasks": [{"name": "ps-1", **a_role(1)}, {"name": "trainer", **a_role(2)}]},
        'unknown field "spec.mode", unknown field "spec.tasks"',  # docs/migrating.md says what to write
    ),
    "a policy that nobody knows": ({"cleanPodPolicy": "Sometimes"}, 'supported values: "Always", "Never"'),
    "servers alone": ({"worker": None, "ps": a_role(1)}, "set spec.worker with replicas of 1 or more"),
}


@pytest.mark.parametrize(("spec", "words"), REFUSED.values(), ids=REFUSED)
def test_it_is_refused_with_what_to_write_instead(desk: Desk, spec: Json, words: str) -> None:
    with pytest.raises(KubectlFailed) as refused:
        desk.kubectl("create", "-f", "-", stdin=yaml.safe_dump(a_job("theirs", **spec)))
    assert words in str(refused.value)


@pytest.mark.usefixtures("volcano", "operator")
def test_a_job_of_kubeflow_is_submitted_as_it_is(desk: Desk, person: Person) -> None:
    said = person.pipes("submit", ROOT / "examples" / "resnet" / "kubeflow.yaml").fine()
    assert "the whole job starts again, at most backoffLimit times" in said.err
    assert desk.job("resnet-kubeflow")["spec"]["backoffLimit"] == 2
    runs_to_its_end(desk, "resnet-kubeflow")


class TheirCounts(msgspec.Struct, frozen=True):
    """What programs for paddle-operator 0.3 read of a role: a number that is none would fail them."""

    pending: int = 0
    starting: int = 0
    running: int = 0
    failed: int = 0
    succeeded: int = 0
    unknown: int = 0


TheirPhase = Literal[
    "Starting", "Pending", "Scaling", "Aborting", "Aborted", "Running", "Restarting", "Completing", "Completed",
    "Terminating", "Terminated", "Failed", "Succeed", "Unknown",
]  # fmt: skip


class TheirStatus(msgspec.Struct, frozen=True, rename="camel"):
    phase: TheirPhase
    mode: Literal["PS", "Collective", "Single"]
    worker: TheirCounts
    ps: TheirCounts | None = None
    elastic: Literal["NONE", "DOING", "DONE", "ERROR"] | None = None
    start_time: datetime | None = None
    completion_time: datetime | None = None
    observed_generation: int = 0


def read_by_them(desk: Desk, name: str) -> TheirStatus:
    return msgspec.convert(desk.status(name), TheirStatus)


def as_paddleflow_sends(name: str) -> Json:
    """Written by Go from typed structs: with empty fields, a name in the template, labels that it looks for."""
    labels = {"owner": "paddleflow", "paddleflow-job-id": name}
    job = a_job(name, **copy.deepcopy(RUN["all that PaddleFlow sets"]), ps=a_role(1))
    job["metadata"] |= {
        "labels": labels,
        "annotations": {"volcano.sh/queue-name": "default"},
        "creationTimestamp": None,
    }
    for role in ("ps", "worker"):
        template = job["spec"][role]["template"]
        template["metadata"] |= {"name": "task", "namespace": "other", "labels": labels, "creationTimestamp": None}
        template["spec"] |= {"restartPolicy": "Never", "schedulerName": "volcano", "terminationGracePeriodSeconds": 30}
        template["spec"]["containers"][0] |= {"name": "task", "resources": {}}
    return {**job, "status": {}}


@pytest.mark.usefixtures("volcano", "operator")
def test_paddleflow_drives_a_job_and_understands_every_status(desk: Desk) -> None:
    path = f"/apis/batch.paddlepaddle.org/v1/namespaces/{desk.namespace}/paddlejobs"
    desk.api.post(path, as_paddleflow_sends("job-1"))  # without strict validation, as Go's clients
    desk.in_phase("job-1", "Pending", LONG)
    assert read_by_them(desk, "job-1").phase == "Pending"
    wait_until(lambda: schedule(desk), LONG)
    desk.in_phase("job-1", "Running", LONG)
    running = read_by_them(desk, "job-1")
    assert (running.worker.running, running.ps, running.mode) == (2, TheirCounts(running=1), "PS")
    assert running.start_time is not None
    found = desk.api.get(f"/api/v1/namespaces/{desk.namespace}/pods?labelSelector=paddleflow-job-id%3Djob-1")["items"]
    assert {pod["metadata"]["name"] for pod in found} == {"job-1-ps-0", "job-1-worker-0", "job-1-worker-1"}
    desk.finish_workers("job-1")
    desk.in_phase("job-1", "Completed", LONG)
    ended = read_by_them(desk, "job-1")
    assert ended.completion_time is not None
    wait_until(lambda: not desk.pods(), LONG)  # OnCompletion
    desk.delete("job-1")  # which is how it stops one
    wait_until(lambda: desk.gone("job-1"))


@pytest.mark.usefixtures("volcano", "operator")
def test_a_failure_and_a_deletion_are_told_in_phases_that_they_know(desk: Desk) -> None:
    desk.submit(a_job("bad", worker=a_role(1, ends="failed")))
    desk.in_phase("bad", "Failed", LONG)
    assert read_by_them(desk, "bad").phase == "Failed"
    desk.submit(a_job("held", worker=a_role(1)))
    desk.in_phase("held", "Running", LONG)
    desk.api.merge(
        f"/apis/batch.paddlepaddle.org/v1/namespaces/{desk.namespace}/paddlejobs/held",
        {"metadata": {"finalizers": ["example.com/held"]}},
    )
    desk.delete("held")
    desk.in_phase("held", "Terminating", LONG)
    assert read_by_them(desk, "held").phase == "Terminating"
    desk.api.merge(
        f"/apis/batch.paddlepaddle.org/v1/namespaces/{desk.namespace}/paddlejobs/held", {"metadata": {"finalizers": []}}
    )


def test_only_a_suspended_job_has_a_phase_that_they_do_not_know() -> None:
    assert {*get_args(Phase)} - {*get_args(TheirPhase)} == {"Suspended"}
