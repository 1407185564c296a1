"""The environment contract of SPEC 3, to the letter: each mode by each network, and what the user may override.

Expected values are written out in full. A test that computed them would repeat the code's mistakes.
"""

from __future__ import annotations

import pytest

from paddlejob.api import HangPolicy, Job
from paddlejob.api.names import ROLES
from paddlejob.core import observe
from paddlejob.core.environment import TRAINING_ROLES, pod_environment, shared_environment
from tests.builders import JobBuilder, Template, a_job, a_ps_job, a_template, pods_of

COLLECTIVE = a_job().with_workers(2)
SINGLE = a_job()
ALWAYS = {"PADDLE_PORT": "2379", "TRAINER_PORTS_NUM": "20", "PADDLE_JOB_ENVIRONMENT_8f432e67_0": "0"}
GLOO_BY_ADDRESS = {"PADDLE_GLOO_RENDEZVOUS": "3", "PADDLE_GLOO_HTTP_ENDPOINT": "10.0.0.1:2380"}
GLOO_BY_NAME = {"PADDLE_GLOO_RENDEZVOUS": "3", "PADDLE_GLOO_HTTP_ENDPOINT": "train-ps-0.team.svc:2380"}
PS_BY_ADDRESS = {
    **ALWAYS,
    "PADDLE_TRAINERS_NUM": "2",
    "PADDLE_TRAINER_ENDPOINTS": "10.0.0.3:2379,10.0.0.4:2379",
    "PADDLE_TRAINERS": "10.0.0.3,10.0.0.4",
    "PADDLE_PSERVERS_IP_PORT_LIST": "10.0.0.1:2379,10.0.0.2:2379",
    "TRAINERS": "2",
    "PSERVERS": "2",
}
PS_BY_NAME = {
    **ALWAYS,
    "PADDLE_TRAINERS_NUM": "2",
    "PADDLE_TRAINER_ENDPOINTS": "train-worker-0.team.svc:2379,train-worker-1.team.svc:2379",
    "PADDLE_TRAINERS": "train-worker-0.team.svc,train-worker-1.team.svc",
    "PADDLE_PSERVERS_IP_PORT_LIST": "train-ps-0.team.svc:2379,train-ps-1.team.svc:2379",
    "TRAINERS": "2",
    "PSERVERS": "2",
}
COLLECTIVE_BY_ADDRESS = {
    **ALWAYS,
    "PADDLE_TRAINERS_NUM": "2",
    "PADDLE_TRAINER_ENDPOINTS": "10.0.0.1:2379,10.0.0.2:2379",
    "PADDLE_TRAINERS": "10.0.0.1,10.0.0.2",
    "TRAINER_INSTANCES": "10.0.0.1,10.0.0.2",
    "TRAINERS": "2",
    "PSERVERS": "0",
    "NNODES": "2",
    "MASTER_ADDR": "10.0.0.1",
    "MASTER_PORT": "2380",
}
COLLECTIVE_BY_NAME = {
    **ALWAYS,
    "PADDLE_TRAINERS_NUM": "2",
    "PADDLE_TRAINER_ENDPOINTS": "train-worker-0.team.svc:2379,train-worker-1.team.svc:2379",
    "PADDLE_TRAINERS": "train-worker-0.team.svc,train-worker-1.team.svc",
    "TRAINER_INSTANCES": "train-worker-0.team.svc,train-worker-1.team.svc",
    "TRAINERS": "2",
    "PSERVERS": "0",
    "NNODES": "2",
    "MASTER_ADDR": "train-worker-0.team.svc",
    "MASTER_PORT": "2380",
}
SINGLE_BY_ADDRESS = {
    **ALWAYS,
    "PADDLE_TRAINERS_NUM": "1",
    "PADDLE_TRAINER_ENDPOINTS": "10.0.0.1:2379",
    "PADDLE_TRAINERS": "10.0.0.1",
    "TRAINERS": "1",
    "PSERVERS": "0",
}
SINGLE_BY_NAME = {
    **ALWAYS,
    "PADDLE_TRAINERS_NUM": "1",
    "PADDLE_TRAINER_ENDPOINTS": "train-worker-0.team.svc:2379",
    "PADDLE_TRAINERS": "train-worker-0.team.svc",
    "TRAINERS": "1",
    "PSERVERS": "0",
}
SHARED: dict[str, tuple[JobBuilder, dict[str, str]]] = {
    "PS by address, gloo off": (a_ps_job().with_gloo(0), PS_BY_ADDRESS),
    "PS by address, gloo 1": (a_ps_job(), {**PS_BY_ADDRESS, **GLOO_BY_ADDRESS, "PADDLE_WITH_GLOO": "1"}),
    "PS by address, gloo 2": (a_ps_job().with_gloo(2), {**PS_BY_ADDRESS, **GLOO_BY_ADDRESS, "PADDLE_WITH_GLOO": "2"}),
    "PS by service, gloo off": (a_ps_job().with_gloo(0).by_service(), PS_BY_NAME),
    "PS by service, gloo 1": (a_ps_job().by_service(), {**PS_BY_NAME, **GLOO_BY_NAME, "PADDLE_WITH_GLOO": "1"}),
    "PS by service, gloo 2": (
        a_ps_job().with_gloo(2).by_service(),
        {**PS_BY_NAME, **GLOO_BY_NAME, "PADDLE_WITH_GLOO": "2"},
    ),
    "Collective by address": (COLLECTIVE, COLLECTIVE_BY_ADDRESS),
    "Collective by service": (COLLECTIVE.by_service(), COLLECTIVE_BY_NAME),
    "Single by address": (SINGLE, SINGLE_BY_ADDRESS),
    "Single by service": (SINGLE.by_service(), SINGLE_BY_NAME),
    "zero servers are no servers": (COLLECTIVE.with_servers(0), COLLECTIVE_BY_ADDRESS),
}


def shared(job: Job) -> dict[str, str]:
    """The ConfigMap's data when every pod has an address."""
    data = shared_environment(job, observe(job, [one.build() for one in pods_of(job).values()]))
    assert data is not None
    return data


@pytest.mark.parametrize(("job", "expected"), SHARED.values(), ids=SHARED.keys())
def test_config_map_holds_exactly(job: JobBuilder, expected: dict[str, str]) -> None:
    assert shared(job.build()) == expected


@pytest.mark.parametrize("missing", ["train-ps-0", "train-worker-1"])
@pytest.mark.parametrize("how", ["not there", "without address", "being deleted"])
def test_no_config_map_while_an_address_is_unknown(missing: str, how: str) -> None:
    job = a_ps_job().build()
    pods = pods_of(job)
    match how:
        case "not there":
            del pods[missing]
        case "without address":
            pods[missing] = pods[missing].with_address("")
        case _:
            pods[missing] = pods[missing].deleting()
    assert shared_environment(job, observe(job, [one.build() for one in pods.values()])) is None


POD_IP: Template = {"name": "POD_IP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}}


# No container starts on a stranger's ConfigMap, nor on that of an earlier attempt: neither has this key.
DEMANDED: Template = {
    "name": "PADDLE_JOB_ENVIRONMENT",
    "valueFrom": {"configMapKeyRef": {"name": "train", "key": "PADDLE_JOB_ENVIRONMENT_8f432e67_0"}},
}


def own(role: str, index: int, **more: str) -> list[Template]:
    values = {
        "PADDLE_TRAINER_ID": str(index),
        "TRAINER_ID": str(index),
        "TRAINING_ROLE": role,
        "PADDLE_TRAINING_ROLE": role,
        "PADDLE_PORT": "2379",
        "PADDLE_CURRENT_ENDPOINT": "$(POD_IP):$(PADDLE_PORT)",
        "PADDLE_JOB_ID": "team-train-8f432e67-0000",
        **more,
    }
    return [*({"name": name, "value": value} for name, value in values.items()), DEMANDED]


def host(name: str) -> Template:
    return {"name": "POD_IP", "value": name}


PODS: dict[str, tuple[list[Template], list[Template]]] = {
    "server by address": (
        pod_environment(a_ps_job().build(), "ps", 1),
        [POD_IP, *own("PSERVER", 1)],
    ),
    "server by service": (
        pod_environment(a_ps_job().by_service().build(), "ps", 0),
        [host("train-ps-0.team.svc"), *own("PSERVER", 0)],
    ),
    "worker of a PS job": (
        pod_environment(a_ps_job().build(), "worker", 1),
        [POD_IP, *own("TRAINER", 1)],
    ),
    "collective worker by address": (
        pod_environment(COLLECTIVE.build(), "worker", 0),
        [POD_IP, *own("TRAINER", 0, RANK="0", POD_INDEX="0", PADDLE_DISTRI_BACKEND="gloo")],
    ),
    "collective worker by service": (
        pod_environment(COLLECTIVE.by_service().build(), "worker", 1),
        [
            host("train-worker-1.team.svc"),
            *own("TRAINER", 1, RANK="1", POD_INDEX="1", PADDLE_DISTRI_BACKEND="gloo"),
        ],
    ),
    "single worker": (
        pod_environment(SINGLE.build(), "worker", 0),
        [POD_IP, *own("TRAINER", 0)],
    ),
}


@pytest.mark.parametrize(("made", "expected"), PODS.values(), ids=PODS.keys())
def test_pod_is_told_exactly(made: list[Template], expected: list[Template]) -> None:
    assert made == expected


RESOURCES: dict[str, tuple[Template, bool]] = {
    "nothing": ({}, False),
    "cpu and memory": ({"limits": {"cpu": 1, "memory": "1Gi"}}, False),
    "huge pages": ({"limits": {"hugepages-2Mi": "4Mi"}}, False),
    "a resource of Kubernetes' own": ({"limits": {"attachable.kubernetes.io/volumes": 1}}, False),
    "a GPU as limit": ({"limits": {"nvidia.com/gpu": 1}}, True),
    "a GPU as request": ({"requests": {"nvidia.com/gpu": "2"}}, True),
    "an NPU": ({"limits": {"huawei.com/Ascend910": 8}}, True),
    "a device claim": ({"claims": [{"name": "gpu"}]}, True),
    "zero GPUs": ({"limits": {"nvidia.com/gpu": 0}}, False),
    "zero GPUs as text": ({"requests": {"nvidia.com/gpu": "0"}, "limits": {"nvidia.com/gpu": "0"}}, False),
    "keys that are no text": ({"limits": {1: 2}}, False),
    "no mapping at all": ({"limits": "many"}, False),
}


@pytest.mark.parametrize(("resources", "accelerated"), RESOURCES.values(), ids=RESOURCES.keys())
def test_gloo_backend_only_without_accelerator(resources: Template, accelerated: bool) -> None:
    job = COLLECTIVE.template(a_template(resources=resources)).build()
    names = [one["name"] for one in pod_environment(job, "worker", 0)]
    assert ("PADDLE_DISTRI_BACKEND" in names) is not accelerated


def test_sidecar_with_accelerator_counts() -> None:
    template = a_template()
    template["spec"]["containers"].append({"name": "other", "resources": {"limits": {"nvidia.com/gpu": 1}}})
    names = [one["name"] for one in pod_environment(COLLECTIVE.template(template).build(), "worker", 0)]
    assert "PADDLE_DISTRI_BACKEND" not in names


NEVER = {"PADDLE_TRAINERS_ENDPOINTS", "PADDLE_SERVERS_ENDPOINTS", "PADDLE_TRAINER_NUM", "PADDLE_SERVER_NUM"}


@pytest.mark.parametrize("job", [one for one, _ in SHARED.values()], ids=SHARED.keys())
def test_names_that_switch_the_launcher_are_never_set(job: JobBuilder) -> None:
    built = job.build()
    roles = [name for name, _ in built.spec.roles]
    own_names = {one["name"] for role in roles for one in pod_environment(built, role, 0)}
    assert not NEVER & (own_names | shared(built).keys())


def test_every_role_has_a_word_that_paddle_knows() -> None:
    assert (*TRAINING_ROLES,) == ROLES


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (COLLECTIVE.asking(hang=HangPolicy(after_seconds=600)), "660000"),
        (COLLECTIVE.asking(hang=HangPolicy()), None),  # what is learned is not known yet
        (a_ps_job().asking(hang=HangPolicy(after_seconds=600)), None),
    ],
)
def test_collectives_wait_a_little_longer_than_the_watch(job: JobBuilder, expected: str | None) -> None:
    made = {one["name"]: one.get("value") for one in pod_environment(job.build(), "worker", 0)}
    assert made.get("PADDLE_PG_TIMEOUT") == expected
