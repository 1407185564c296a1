"""heter: what each pod of a pipeline of two stages is told, and how a job with heter workers ends."""

from __future__ import annotations

import pytest

from paddlejob.api.names import RoleName
from paddlejob.core import Delete, observe, plan
from paddlejob.core.ending import Completed, judge
from paddlejob.core.environment import pod_environment, shared_environment
from paddlejob.core.heter import device_type
from paddlejob.core.replace import replaceable
from tests.builders import NOW, JobBuilder, Template, a_config_map, a_job, a_ps_job, a_template, pods_of

JOB = a_ps_job(servers=1, workers=2).with_heter(2)
ALL = "PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST"
STAGE_WORDS = {
    "STAGE_ID",
    "STAGE_NUM",
    "PADDLE_STAGE_TRAINERS_NUM",
    "HETER_DEVICE_TYPE",
    "PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST",
    "PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST",
    ALL,
}


def stage_of(role: RoleName) -> dict[str, str]:
    """What the pod itself is told of the pipeline; from the ConfigMap: the key in braces."""
    env = {one["name"]: one for one in pod_environment(JOB.build(), role, 0)}
    return {
        name: one.get("value") or f"{{{one['valueFrom']['configMapKeyRef']['key']}}}"
        for name, one in env.items()
        if name in {*STAGE_WORDS, "PADDLE_WITH_GLOO"}
    }


def test_a_worker_knows_who_is_next() -> None:
    assert stage_of("worker") == {"STAGE_ID": "1", "PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST": f"{{{ALL}}}"}


def test_a_heter_worker_knows_who_is_before_it_and_its_device() -> None:
    assert stage_of("heter") == {
        "STAGE_ID": "2",
        "PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST": "{PADDLE_TRAINER_ENDPOINTS}",
        "HETER_DEVICE_TYPE": "cpu",
        "PADDLE_WITH_GLOO": "0",
    }


def test_a_server_has_no_stage() -> None:
    assert stage_of("ps") == {}


def test_everybody_knows_the_stages() -> None:
    job = JOB.build()
    shared = shared_environment(job, observe(job, [one.build() for one in pods_of(job).values()]))
    assert shared is not None
    assert {name: shared[name] for name in STAGE_WORDS & shared.keys()} == {
        ALL: "10.0.0.4:2379,10.0.0.5:2379",
        "STAGE_NUM": "2",
        "PADDLE_STAGE_TRAINERS_NUM": "[2, 2]",
    }


def test_there_is_no_config_map_before_every_heter_worker_has_an_address() -> None:
    job = JOB.build()
    pods = [one.build() for name, one in pods_of(job).items() if name != "train-heter-1"]
    assert shared_environment(job, observe(job, pods)) is None


@pytest.mark.parametrize("job", [a_ps_job(), a_ps_job().with_heter(0), a_job()])
def test_without_heter_workers_there_are_no_stages(job: JobBuilder) -> None:
    built = job.build()
    shared = shared_environment(built, observe(built, [one.build() for one in pods_of(built).values()]))
    assert shared is not None
    assert not STAGE_WORDS & {*shared, *(one["name"] for one in pod_environment(built, "worker", 0))}


def asking(resource: str, count: object = 1) -> Template:
    return a_template(resources={"limits": {resource: count}})


DEVICES = {
    "nothing": (a_template(), "cpu"),
    "a GPU": (asking("nvidia.com/gpu"), "gpu"),
    "zero GPUs": (asking("nvidia.com/gpu", 0), "cpu"),
    "an XPU": (asking("kunlunxin.com/xpu"), "xpu"),
    "a claim": (a_template(resources={"claims": [{"name": "device"}]}), "gpu"),
}


@pytest.mark.parametrize("case", DEVICES)
def test_the_device_is_what_the_template_asks_for(case: str) -> None:
    template, device = DEVICES[case]
    assert device_type(template) == device


def test_the_job_is_complete_when_the_workers_are_and_then_the_heter_workers_are_ended() -> None:
    job = JOB.in_phase("Running").build()
    pods = [(one.succeeded() if "worker" in name else one.running()).build() for name, one in pods_of(job).items()]
    seen = observe(job, [*pods, a_config_map(job)])
    assert judge(job, seen) == Completed()
    ended = JOB.in_phase("Completed").build()
    deleted = [one.name for one in plan(ended, seen, NOW).actions if isinstance(one, Delete)]
    assert deleted == ["train-heter-0", "train-heter-1", "train-ps-0"]


def test_heter_workers_that_were_told_to_stop_and_ended_are_no_failure() -> None:
    job = JOB.in_phase("Running").build()
    pods = [(one.succeeded() if "heter" in name else one.running()).build() for name, one in pods_of(job).items()]
    made = plan(job, observe(job, [*pods, a_config_map(job)]), NOW)
    assert made.status.phase == "Running"


def test_a_worker_is_not_replaced_alone_where_heter_workers_know_it_by_address() -> None:
    for job, alone in ((JOB, False), (a_ps_job(), True)):
        built = job.with_gloo(0).in_phase("Running").build()
        pods = [(one.failed() if "worker-0" in name else one.running()).build() for name, one in pods_of(built).items()]
        assert replaceable(built, observe(built, [*pods, a_config_map(built)])) is alone
