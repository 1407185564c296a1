"""PaddleJobs of kubeflow.org/v1 as ours: nothing is lost without a word, and what comes out is taken."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

from paddlejob.api.kubeflow import convert, is_of_kubeflow, source_of
from paddlejob.api.mistakes import Path, mistakes
from paddlejob.errors import Invalid
from paddlejob.local.reading import read_text

Json = dict[str, Any]
POD: Json = {"containers": [{"name": "paddle", "image": "a", "command": ["python", "train.py"]}]}


def a_replica(replicas: Any = 2, **fields: Any) -> Json:
    made = {"template": {"spec": copy.deepcopy(POD)}, **fields}
    return made if replicas is None else {"replicas": replicas, **made}


def a_job(**spec: Any) -> Json:
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PaddleJob",
        "metadata": {"name": "train", "namespace": "team", "labels": {"a": "b"}},
        "spec": {"paddleReplicaSpecs": {"Worker": a_replica()}, **spec},
    }


def ours(document: Json) -> Json:
    made = convert(document)
    assert made.mistakes == ()
    assert mistakes(made.document) == []
    return made.document


def test_it_is_told_from_ours() -> None:
    assert is_of_kubeflow(a_job())
    assert not is_of_kubeflow({**a_job(), "apiVersion": "batch.paddlepaddle.org/v1"})
    assert not is_of_kubeflow([])


def test_a_collective_job() -> None:
    made = ours(a_job())
    assert made["metadata"] == a_job()["metadata"]
    assert made["apiVersion"] == "batch.paddlepaddle.org/v1"
    assert made["spec"] == {
        "worker": {"replicas": 2, "template": {"spec": {**POD, "restartPolicy": "Never"}}},
        "cleanPodPolicy": "Never",
        "backoffLimit": 3,
    }


def test_what_a_server_wrote_is_left_out() -> None:
    job = a_job()
    job["metadata"] |= {"uid": "1", "resourceVersion": "2", "generation": 1, "managedFields": []}
    job["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "mine": "1"}
    job["status"] = {"conditions": [{"type": "Created"}]}
    made = ours(job)
    assert made["metadata"] == {**a_job()["metadata"], "annotations": {"mine": "1"}}
    assert "status" not in made


def test_masters_are_parameter_servers() -> None:
    made = convert(a_job(paddleReplicaSpecs={"Master": a_replica(1), "Worker": a_replica(None)}))
    assert (made.document["spec"]["ps"]["replicas"], made.document["spec"]["worker"]["replicas"]) == (1, 1)
    assert any("Master" in one and "all workers have succeeded, not when the masters" in one for one in made.notes)


def test_types_of_replicas_in_any_case() -> None:
    assert {"ps", "worker"} <= ours(a_job(paddleReplicaSpecs={"master": a_replica(1), "WORKER": a_replica()}))[
        "spec"
    ].keys()


RUN_POLICIES: dict[str, tuple[Json, Json]] = {
    "nothing": ({}, {"cleanPodPolicy": "Never"}),
    "None": ({"cleanPodPolicy": "None"}, {"cleanPodPolicy": "Never"}),
    "All": ({"cleanPodPolicy": "All"}, {"cleanPodPolicy": "Always"}),
    "Running": ({"cleanPodPolicy": "Running"}, {"cleanPodPolicy": "Running"}),
    "times": (
        {"ttlSecondsAfterFinished": 60, "activeDeadlineSeconds": 3600},
        {"cleanPodPolicy": "Never", "ttlSecondsAfterFinished": 60, "activeDeadlineSeconds": 3600},
    ),
    "suspended": ({"suspend": True}, {"cleanPodPolicy": "Never", "suspend": True}),
    "a gang": (
        {"schedulingPolicy": {"minAvailable": 2, "queue": "q", "priorityClass": "p", "minResources": {"cpu": "4"}}},
        {
            "cleanPodPolicy": "Never",
            "schedulingPolicy": {"minAvailable": 2, "queue": "q", "priorityClass": "p", "minResources": {"cpu": "4"}},
        },
    ),
}


@pytest.mark.parametrize(("policy", "fields"), RUN_POLICIES.values(), ids=RUN_POLICIES)
def test_the_run_policy(policy: Json, fields: Json) -> None:
    worker = {"Worker": a_replica(restartPolicy="Never")}
    made = ours(a_job(runPolicy=policy, paddleReplicaSpecs=worker))["spec"]
    assert {name: value for name, value in made.items() if name != "worker"} == fields


RESTARTS: dict[str, tuple[str | None, int | None, int | None]] = {
    "OnFailure without a limit": ("OnFailure", None, 3),
    "the default": (None, 5, 5),
    "Always": ("Always", 2, 2),
    "ExitCode": ("ExitCode", 2, 2),
    "Never": ("Never", None, None),
    "Never with a limit": ("Never", 4, None),
}


@pytest.mark.parametrize(("policy", "limit", "backoff"), RESTARTS.values(), ids=RESTARTS)
def test_restarts_are_of_the_whole_job(policy: str | None, limit: int | None, backoff: int | None) -> None:
    replica = a_replica(**({"restartPolicy": policy} if policy else {}))
    replica["template"]["spec"]["restartPolicy"] = "Always"  # that of the replicas wins
    run = {"backoffLimit": limit} if limit else {}
    made = convert(a_job(paddleReplicaSpecs={"Worker": replica}, runPolicy=run))
    assert made.document["spec"].get("backoffLimit") == backoff
    assert made.document["spec"]["worker"]["template"]["spec"]["restartPolicy"] == "Never"
    assert mistakes(made.document) == []
    told = bool(made.notes)
    assert told == (policy != "Never" or limit is not None)


ELASTIC: dict[str, tuple[Json, tuple[int, int]]] = {
    "both bounds": ({"minReplicas": 1, "maxReplicas": 4}, (1, 4)),
    "the most": ({"maxReplicas": 2}, (2, 2)),
    "the least": ({"minReplicas": 2}, (2, 2)),
    "none": ({}, (2, 2)),
}


@pytest.mark.parametrize(("policy", "bounds"), ELASTIC.values(), ids=ELASTIC)
def test_elastic_policies(policy: Json, bounds: tuple[int, int]) -> None:
    made = ours(a_job(elasticPolicy=policy))["spec"]
    assert (made["elastic"], made["worker"]["requests"], made["worker"]["limits"]) == (1, *bounds)
    assert "restartPolicy" not in made["worker"]["template"]["spec"]


WITHOUT_COUNTERPART: dict[str, tuple[Json, str]] = {
    "a time to be scheduled": (
        {"runPolicy": {"schedulingPolicy": {"scheduleTimeoutSeconds": 5}}},
        "scheduleTimeoutSeconds",
    ),
    "another manager": ({"runPolicy": {"managedBy": "kueue.x-k8s.io/multikueue"}}, "managedBy"),
    "metrics": ({"elasticPolicy": {"metrics": []}}, "metrics"),
    "a number of restarts": ({"elasticPolicy": {"maxRestarts": 3}}, "maxRestarts"),
    "etcd": ({"elasticPolicy": {}}, "etcd"),
    "exit codes": ({"paddleReplicaSpecs": {"Worker": a_replica(restartPolicy="ExitCode")}}, "exit code"),
}


@pytest.mark.parametrize(("spec", "words"), WITHOUT_COUNTERPART.values(), ids=WITHOUT_COUNTERPART)
def test_what_has_no_counterpart_is_told(spec: Json, words: str) -> None:
    made = convert(a_job(**spec))
    assert any(words in one for one in made.notes), made.notes
    assert mistakes(made.document) == []


def test_its_own_manager_is_not_worth_a_word() -> None:
    worker = {"Worker": a_replica(restartPolicy="Never")}
    made = convert(a_job(runPolicy={"managedBy": "kubeflow.org/training-operator"}, paddleReplicaSpecs=worker))
    assert made.notes == ()


def test_variables_that_are_not_set_here_are_told() -> None:
    replica = a_replica(restartPolicy="Never")
    replica["template"]["spec"]["containers"][0]["command"] = ["sh", "-c", "run --master $PADDLE_MASTER"]
    (note,) = convert(a_job(paddleReplicaSpecs={"Worker": replica})).notes
    assert note.startswith("spec.paddleReplicaSpecs.Worker.template.spec.containers[0] uses PADDLE_MASTER")


@pytest.mark.parametrize("launcher", ["paddle.distributed.launch", "fleetrun"])
def test_servers_under_the_launcher_are_refused(launcher: str) -> None:
    """Each pod would start servers and workers of its own, and exit 0."""
    replica = a_replica(1)
    replica["template"]["spec"]["containers"][0]["command"] = ["sh", "-c", f"python -m {launcher} train.py"]
    made = convert(a_job(paddleReplicaSpecs={"Master": a_replica(1), "Worker": replica}))
    (wrong,) = made.mistakes
    assert wrong.path[:3] == ("spec", "paddleReplicaSpecs", "Worker")
    assert "run the program itself" in wrong.text
    alone = convert(a_job(paddleReplicaSpecs={"Worker": replica}))
    assert alone.mistakes == ()


WRONG: dict[str, tuple[Json, str]] = {
    "a misspelt field": (a_job(runPolcy={}), "spec.runPolcy: there is no such field"),
    "a type of replicas that is none": (
        a_job(paddleReplicaSpecs={"Worker": a_replica(), "Chief": a_replica()}),
        "spec.paddleReplicaSpecs.Chief: there is no such field: use one of Master, Worker",
    ),
    "a policy that is no mapping": (a_job(runPolicy=[]), "spec.runPolicy must be a mapping"),
    "an unknown clean policy": (a_job(runPolicy={"cleanPodPolicy": "Some"}), 'spec.runPolicy.cleanPodPolicy: "Some"'),
    "a wrong number": (
        a_job(paddleReplicaSpecs={"Worker": a_replica(restartPolicy="Never", replicas="two")}),
        "spec.paddleReplicaSpecs.Worker.replicas must be a whole number",
    ),
    "a misspelt field of a pod": (
        a_job(paddleReplicaSpecs={"Worker": {"template": {"spec": {"contaners": []}}}}),
        "spec.paddleReplicaSpecs.Worker.template.spec.contaners",
    ),
    "bounds that do not fit": (a_job(elasticPolicy={"minReplicas": 3}), "spec.elasticPolicy.minReplicas"),
    "no workers": (a_job(paddleReplicaSpecs={"Master": a_replica(1)}), "never ends"),
    "no replicas at all": (a_job(paddleReplicaSpecs=None), "never ends"),
    "no spec": ({**a_job(), "spec": None}, "never ends"),
}


@pytest.mark.parametrize(("job", "words"), WRONG.values(), ids=WRONG)
def test_mistakes_are_told_where_they_stand_in_the_original(job: Json, words: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_text(yaml.safe_dump(job), "job.yaml")
    assert words in str(refused.value)
    assert str(refused.value).startswith("job.yaml")


SOURCES: dict[Path, Path] = {
    ("spec", "worker", "template", "spec"): ("spec", "paddleReplicaSpecs", "Worker", "template", "spec"),
    ("spec", "ps", "replicas"): ("spec", "paddleReplicaSpecs", "Master", "replicas"),
    ("spec", "worker", "limits"): ("spec", "elasticPolicy", "maxReplicas"),
    ("spec", "elastic"): ("spec", "elasticPolicy"),
    ("spec", "schedulingPolicy", "queue"): ("spec", "runPolicy", "schedulingPolicy", "queue"),
    ("metadata", "name"): ("metadata", "name"),
}


@pytest.mark.parametrize(("path", "source"), SOURCES.items(), ids=lambda path: ".".join(map(str, path)))
def test_where_a_field_comes_from(path: Path, source: Path) -> None:
    assert source_of(path) == source
