"""`paddlejob plan`: what it prints is what the operator makes; no cluster is needed."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
import yaml

from paddlejob.api import Job
from paddlejob.cli.plan import becomes
from tests.cli.person import Person
from tests.scenarios.desk import Json, a_job, a_role

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "deploy" / "examples").glob("*.yaml"))


@pytest.fixture
def alone(tmp_path: Path) -> Person:
    return Person(tmp_path)


def planned(person: Person, path: Path, *flags: str) -> list[Json]:
    return list(yaml.safe_load_all(person.pipes("plan", path, *flags).fine().out))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_becomes_pods_and_an_environment(alone: Person, path: Path) -> None:
    kinds = [one["kind"] for one in planned(alone, path)]
    assert kinds.count("ConfigMap") == 1
    assert kinds.count("Pod") >= 2


def test_service_names_are_known_and_addresses_are_placeholders(alone: Person) -> None:
    by_name = {
        one["kind"]: one for one in planned(alone, ROOT / "deploy/examples/wide_and_deep_service.yaml", "-n", "ml")
    }
    endpoints = by_name["ConfigMap"]["data"]["PADDLE_TRAINER_ENDPOINTS"]
    assert endpoints.startswith("wide-ande-deep-service-worker-0.ml.svc:2379,")
    by_address = {one["kind"]: one for one in planned(alone, ROOT / "deploy/examples/resnet.yaml")}
    assert "<address of resnet-worker-0>:2379" in by_address["ConfigMap"]["data"]["PADDLE_TRAINER_ENDPOINTS"]


def test_a_large_job_is_shown_to_its_last_pod() -> None:
    job = msgspec.convert(a_job("large", worker=a_role(10_000), intranet="Service"), Job)
    made = becomes(job)
    assert len(made) == 10_000 + 1 + 10_000
    assert made[-1]["metadata"]["name"] == "large-worker-9999"


def test_other_forms_can_be_read_too(alone: Person) -> None:
    path = ROOT / "deploy/examples/resnet.yaml"
    listed = json.loads(alone.pipes("plan", path, "-o", "json").fine().out)
    names = alone.pipes("plan", path, "-o", "name").fine().out.splitlines()
    assert names == [f"{one['kind'].lower()}/{one['metadata']['name']}" for one in listed["items"]]
    summary = alone.pipes("plan", path, "-o", "summary").fine().out
    assert "PADDLE_TRAINERS_NUM" in summary
    assert all(name.partition("/")[2] in summary for name in names)


def test_a_job_that_would_become_nothing_says_why(alone: Person) -> None:
    said = alone.pipes("plan", "-", stdin=json.dumps(a_job("none", suspend=True)))
    assert said.code == 2
    assert "none: nothing would be created: " in said.sentence


def test_a_wrong_job_is_told_whole(alone: Person) -> None:
    said = alone.pipes("plan", "-", stdin=json.dumps(a_job("none", worker=a_role(0), wthGloo=1), indent=1))
    assert said.code == 2
    assert said.err.splitlines() == [
        "paddlejob: standard input: 2 mistakes",
        "standard input:9:4: spec.worker.replicas: a job without workers never ends: set spec.worker with replicas of"
        " 1 or more",
        "standard input:24:3: spec.wthGloo: there is no such field: did you mean `withGloo`?",
    ]


def test_the_pod_group_of_a_gang_is_shown_before_its_pods(alone: Person) -> None:
    worker = a_role(2)
    worker["template"]["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "500m"}}
    job = a_job("gang", worker=worker, schedulingPolicy={"queue": "gold", "priorityClass": "high"})
    first, *others = yaml.safe_load_all(alone.pipes("plan", "-", stdin=json.dumps(job)).fine().out)
    assert (first["apiVersion"], first["kind"], first["metadata"]["name"]) == (
        "scheduling.volcano.sh/v1beta1",
        "PodGroup",
        "gang",
    )
    asked = {"minMember": 2, "minResources": {"cpu": "1"}, "queue": "gold", "priorityClassName": "high"}
    assert first["spec"] == asked
    pods = [one["spec"]["schedulerName"] for one in others if one["kind"] == "Pod"]
    assert pods == ["volcano"] * 2
    names = alone.pipes("plan", "-", "-o", "name", stdin=json.dumps(job)).fine().out.splitlines()
    assert names[0] == "podgroup.scheduling.volcano.sh/gang"
    summary = alone.pipes("plan", "-", "-o", "summary", stdin=json.dumps(job)).fine().out
    assert summary.splitlines()[1].split() == ["PodGroup", "gang"]


BY_FLAG = {
    "volcano": "scheduling.volcano.sh/v1beta1",
    "coscheduling": "scheduling.x-k8s.io/v1alpha1",
    "kubernetes": "scheduling.k8s.io/v1alpha2",
}


@pytest.mark.parametrize("flag", BY_FLAG)
def test_a_plan_is_made_with_the_scheduling_that_the_operator_is_told(alone: Person, flag: str) -> None:
    path = ROOT / "deploy/examples/resnet.yaml"
    assert planned(alone, path)[0]["kind"] != "PodGroup"
    first, *_ = planned(alone, path, "--scheduling", flag)
    assert (first["apiVersion"], first["kind"]) == (BY_FLAG[flag], "PodGroup")


def test_an_elastic_job_is_shown_with_the_etcd_that_it_names(alone: Person) -> None:
    *pods, environment = planned(alone, ROOT / "examples" / "elastic" / "job.yaml")
    assert [one["metadata"]["name"] for one in pods] == [f"elastic-worker-{index}" for index in range(3)]
    assert environment["data"]["PADDLE_MASTER"] == "etcd://0.0.0.0:2379"
    assert environment["data"]["PADDLE_NNODES"] == "2:4"
