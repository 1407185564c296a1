"""The pod of one slot: SPEC 2 and the pods that the user's design document prints, as golden objects.

The user's template passes through untouched; ours is around it and gives way where the user has spoken.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

from paddlejob.api import Job
from paddlejob.api.names import RoleName
from paddlejob.core import observe
from paddlejob.core.observe import Slot
from paddlejob.core.pods import pod, slot_named
from tests.builders import Template, a_job, a_ps_job, a_template

OWNER = {
    "apiVersion": "batch.paddlepaddle.org/v1",
    "kind": "PaddleJob",
    "name": "wide-ande-deep",
    "uid": "f206587f-5dee-46f5-9399-e835bde02487",
    "controller": True,
    "blockOwnerDeletion": True,
}
IMAGE = "registry.baidubce.com/paddle-operator/demo-wide-and-deep:v1"
WIDE_AND_DEEP = (
    a_ps_job()
    .named("wide-ande-deep")
    .in_namespace("paddle-system")
    .with_uid("f206587f-5dee-46f5-9399-e835bde02487")
    .template({"spec": {"containers": [{"name": "paddle", "image": IMAGE}]}})
    .build()
)


def pod_of(job: Job, role: RoleName = "worker", index: int = 0) -> dict[str, Any]:
    return pod(job, observe(job).of_role(role)[index])


def container_of(template: Template) -> dict[str, Any]:
    """The training container of a single worker with this template."""
    found: dict[str, Any] = pod_of(a_job().template(template).build())["spec"]["containers"][0]
    return found


def told(role: str, index: str) -> list[Template]:
    return [
        {"name": "POD_IP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}},
        {"name": "PADDLE_TRAINER_ID", "value": index},
        {"name": "TRAINER_ID", "value": index},
        {"name": "TRAINING_ROLE", "value": role},
        {"name": "PADDLE_TRAINING_ROLE", "value": role},
        {"name": "PADDLE_PORT", "value": "2379"},
        {"name": "PADDLE_CURRENT_ENDPOINT", "value": "$(POD_IP):$(PADDLE_PORT)"},
        {"name": "PADDLE_JOB_ID", "value": "paddle-system-wide-ande-deep-f206587f-0000"},
        {
            "name": "PADDLE_JOB_ENVIRONMENT",
            "valueFrom": {
                "configMapKeyRef": {"name": "wide-ande-deep", "key": "PADDLE_JOB_ENVIRONMENT_f206587f_0"},
            },
        },
    ]


@pytest.mark.parametrize(("role", "says"), [("ps", "PSERVER"), ("worker", "TRAINER")])
def test_the_pods_of_the_users_design_document(role: RoleName, says: str) -> None:
    name = f"wide-ande-deep-{role}-1"
    assert pod_of(WIDE_AND_DEEP, role, 1) == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "paddle-system",
            "labels": {
                "paddle-res-name": name,
                "paddle-res-type": role,
                "batch.paddlepaddle.org/job-name": "wide-ande-deep",
                "batch.paddlepaddle.org/index": "1",
                "batch.paddlepaddle.org/attempt": "0",
            },
            "annotations": {"paddle-resource": role},
            "ownerReferences": [OWNER],
        },
        "spec": {
            "restartPolicy": "Never",
            "containers": [
                {
                    "name": "paddle",
                    "image": IMAGE,
                    "terminationMessagePolicy": "FallbackToLogsOnError",
                    "env": told(says, "1"),
                    "envFrom": [{"configMapRef": {"name": "wide-ande-deep"}}],
                    "volumeMounts": [{"name": "paddle-shared-memory", "mountPath": "/dev/shm"}],
                }
            ],
            "volumes": [{"name": "paddle-shared-memory", "emptyDir": {"medium": "Memory"}}],
        },
    }


def test_the_attempt_is_on_the_label() -> None:
    labels = pod_of(a_job().with_status(attempt=3).build())["metadata"]["labels"]
    assert labels["batch.paddlepaddle.org/attempt"] == "3"


RICH = a_template(
    metadata={
        "labels": {"team": "ads", "paddle-res-name": "mine"},
        "annotations": {"note": "keep"},
        "finalizers": ["example.com/hold"],
    },
    spec={
        "restartPolicy": "OnFailure",
        "hostname": "here",
        "schedulerName": "volcano",
        "nodeSelector": {"accelerator": "nvidia-tesla-p100"},
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "nfs-pvc"}}],
        "initContainers": [{"name": "fetch", "image": "fetch:v1"}],
    },
    command=["bash", "-c"],
    ports=[{"containerPort": 8080}],
    terminationMessagePolicy="File",
    resources={"limits": {"cpu": 1}},
)


def test_what_the_user_sets_passes_through() -> None:
    made = pod_of(a_job().template(RICH).build())["spec"]
    wanted = RICH["spec"]
    for field in ("restartPolicy", "hostname", "schedulerName", "nodeSelector"):
        assert made[field] == wanted[field]
    assert made["volumes"][:-1] == wanted["volumes"]  # the last is /dev/shm: see test_shared_memory
    for field in ("command", "ports", "terminationMessagePolicy", "resources", "image"):
        assert made["containers"][0][field] == wanted["containers"][0][field]


def test_the_users_labels_and_annotations_stay_beside_ours() -> None:
    made = pod_of(a_job().template(RICH).build())["metadata"]
    assert made["labels"]["team"] == "ads"
    assert made["labels"]["paddle-res-name"] == "train-worker-0"
    assert made["annotations"] == {"note": "keep", "paddle-resource": "worker"}
    assert made["finalizers"] == ["example.com/hold"]


def test_every_container_tells_why_it_failed() -> None:
    template = a_template(spec={"initContainers": [{"name": "fetch"}]})
    template["spec"]["containers"].append({"name": "side"})
    spec = pod_of(a_job().template(template).build())["spec"]
    everyone = [*spec["initContainers"], *spec["containers"]]
    assert [one["terminationMessagePolicy"] for one in everyone] == ["FallbackToLogsOnError"] * 3


@pytest.mark.parametrize("template", [RICH, {}, a_template(env=[{"name": "A", "value": "1"}])])
def test_the_template_is_not_changed(template: Template) -> None:
    before = copy.deepcopy(template)
    pod_of(a_job().template(template).build())
    assert template == before


CONTAINERS: dict[str, tuple[list[str], str]] = {
    "the one named paddle": (["side", "paddle"], "paddle"),
    "else the first": (["trainer", "side"], "trainer"),
}


@pytest.mark.parametrize(("names", "main"), CONTAINERS.values(), ids=CONTAINERS.keys())
def test_the_environment_goes_to(names: list[str], main: str) -> None:
    template = {"spec": {"containers": [{"name": name} for name in names]}}
    found = pod_of(a_job().template(template).build())["spec"]["containers"]
    assert [one["name"] for one in found] == names
    assert [one["name"] for one in found if "env" in one or "envFrom" in one] == [main]


def test_the_users_sources_come_after_ours_and_so_win() -> None:
    users = [{"secretRef": {"name": "token"}}, {"configMapRef": {"name": "mine"}}]
    assert container_of(a_template(envFrom=users))["envFrom"] == [{"configMapRef": {"name": "train"}}, *users]


def env_of(*users: Template) -> list[Template]:
    found: list[Template] = container_of(a_template(env=list(users)))["env"]
    return found


def test_the_users_variables_come_after_ours_so_that_they_can_refer_to_them() -> None:
    mine = {"name": "MY_ID", "value": "$(PADDLE_TRAINER_ID)"}
    made = env_of(mine)
    assert made[-1] == mine
    assert "PADDLE_TRAINER_ID" in [one["name"] for one in made[:-1]]


OVERRIDES: dict[str, Template] = {
    "POD_IP": {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}},
    "PADDLE_PORT": {"name": "PADDLE_PORT", "value": "6000"},
    "PADDLE_TRAINER_ID": {"name": "PADDLE_TRAINER_ID", "value": "7"},
    "PADDLE_JOB_ID": {"name": "PADDLE_JOB_ID", "value": "mine"},
    "PADDLE_CURRENT_ENDPOINT": {"name": "PADDLE_CURRENT_ENDPOINT", "value": "me:1"},
}


@pytest.mark.parametrize("mine", OVERRIDES.values(), ids=OVERRIDES.keys())
def test_a_variable_that_the_user_sets_is_not_set_by_us(mine: Template) -> None:
    assert [one for one in env_of(mine) if one["name"] == mine["name"]] == [mine]


@pytest.mark.parametrize("name", ["POD_IP", "PADDLE_PORT"])
def test_the_endpoint_comes_after_the_parts_that_the_user_sets(name: str) -> None:
    names = [one["name"] for one in env_of(OVERRIDES[name])]
    assert names.index("PADDLE_CURRENT_ENDPOINT") > names.index(name)


ODD: dict[str, Any] = {
    "empty": {},
    "metadata is no mapping": {"metadata": 5, "spec": {"containers": [{}]}},
    "labels are no mapping": {"metadata": {"labels": "x", "annotations": [1]}},
    "spec is no mapping": {"spec": []},
    "containers is no list": {"spec": {"containers": {"name": "paddle"}}},
    "a container is no mapping": {"spec": {"containers": [1, {"name": "paddle"}], "initContainers": 7}},
    "env is no list": {"spec": {"containers": [{"env": "A=1", "envFrom": {}}]}},
    "env has odd names": {"spec": {"containers": [{"env": [{"name": ["A"]}, {"name": {}}, 3, {"value": "x"}]}]}},
}


@pytest.mark.parametrize("template", ODD.values(), ids=ODD.keys())
def test_an_odd_template_is_left_to_the_api_server_to_refuse(template: Any) -> None:
    assert pod_of(a_job().template(template).build())["metadata"]["name"] == "train-worker-0"


HOST = a_ps_job().by("Host").with_ports(20000)


def ports_of(job: Job, role: RoleName = "worker", index: int = 0) -> list[int]:
    """Of the training container; each is the host's own."""
    declared = pod_of(job, role, index)["spec"]["containers"][0]["ports"]
    assert all(one["containerPort"] == one["hostPort"] and one["protocol"] == "TCP" for one in declared)
    return [one["hostPort"] for one in declared]


def test_a_pod_on_the_hosts_network_declares_the_ports_that_it_listens_on() -> None:
    job = HOST.build()
    assert ports_of(job, "ps", 0) == [20000, 20004]  # the second is where all meet
    assert [ports_of(job, "ps", 1), ports_of(job, "worker", 0)] == [[20001], [20002]]


def test_a_pod_on_the_hosts_network_knows_the_names_of_the_cluster() -> None:
    spec = pod_of(HOST.build())["spec"]
    assert (spec["hostNetwork"], spec["dnsPolicy"]) == (True, "ClusterFirstWithHostNet")


def test_a_pod_on_the_hosts_network_tells_its_jobs_block() -> None:
    annotations = pod_of(HOST.build())["metadata"]["annotations"]
    assert annotations["batch.paddlepaddle.org/ports"] == "20000-20004"


def test_what_the_user_says_of_the_hosts_network_wins() -> None:
    own = {"hostNetwork": False, "dnsPolicy": "Default"}
    declared = [{"containerPort": 20002, "name": "mine"}, {"containerPort": 80}]
    job = HOST.template(a_template(own, ports=declared)).build()
    made = pod_of(job)["spec"]
    assert {name: made[name] for name in own} == own
    assert made["containers"][0]["ports"] == declared


def test_by_address_a_pod_says_nothing_of_hosts() -> None:
    made = pod_of(a_ps_job().with_ports(20000).build())
    assert not {"hostNetwork", "dnsPolicy"} & made["spec"].keys()
    assert "ports" not in made["spec"]["containers"][0]
    assert "batch.paddlepaddle.org/ports" not in made["metadata"]["annotations"]


SLOTS: dict[str, tuple[str, Slot | None]] = {
    "a server": ("train-ps-1", Slot("ps", 1, "train-ps-1")),
    "a worker that is not wanted any more": ("train-worker-7", Slot("worker", 7, "train-worker-7")),
    "of a role that the job does not have": ("train-heter-0", None),
    "of another job": ("other-worker-0", None),
}


@pytest.mark.parametrize(("name", "slot"), SLOTS.values(), ids=SLOTS.keys())
def test_the_slot_that_a_pod_fills_is_in_its_name(name: str, slot: Slot | None) -> None:
    assert slot_named(a_ps_job().build(), name) == slot
