"""The API server itself refuses bad jobs, with a sentence that helps, and takes every job of the documents."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.api import ApiError
from tests.cluster.control_plane import KubectlFailed
from tests.cluster.waiting import wait_until
from tests.scenarios.desk import Desk, Json, a_job, a_role
from tests.scenarios.documents import SEEDS

EXAMPLES = Path(__file__).parents[2] / "deploy" / "examples"
EMPTY = {"replicas": 1, "template": {"spec": {"containers": []}}}
ELASTIC = {**a_role(2), "requests": 1, "limits": 4}


def without_workers() -> Json:
    job = a_job("bad")
    del job["spec"]["worker"]
    return job


REFUSED: dict[str, tuple[Json, str]] = {
    "no worker": (without_workers(), "set spec.worker with replicas of 1 or more"),
    "zero workers": (a_job("bad", worker=a_role(0)), "set spec.worker with replicas of 1 or more"),
    "negative replicas": (a_job("bad", ps=a_role(-1)), "should be greater than or equal to 0"),
    "negative backoffLimit": (a_job("bad", backoffLimit=-1), "should be greater than or equal to 0"),
    "negative ttl": (a_job("bad", ttlSecondsAfterFinished=-1), "should be greater than or equal to 0"),
    "active deadline of zero": (a_job("bad", activeDeadlineSeconds=0), "should be greater than or equal to 1"),
    "starting deadline of zero": (a_job("bad", startingDeadlineSeconds=0), "should be greater than or equal to 1"),
    "unknown intranet": (a_job("bad", intranet="Pigeon"), 'supported values: \\"Host\\"'),
    "unknown cleanPodPolicy": (a_job("bad", cleanPodPolicy="Perhaps"), 'supported values: \\"Always\\"'),
    "withGloo of three": (a_job("bad", withGloo=3), "should be less than or equal to 2"),
    "no container": (a_job("bad", worker=EMPTY), "give template.spec.containers one named paddle"),
    "no template": (a_job("bad", worker={"replicas": 1}), "give template.spec.containers one named paddle"),
    "no container in ps": (a_job("bad", ps=EMPTY), "give template.spec.containers one named paddle"),
    "name begins with a digit": (a_job("1st"), "begin with a letter"),
    "name with a dot": (a_job("a.b"), "no dots"),
    "name too long": (a_job("n" * 55), "may have 63 characters"),
    "name too long for an elastic job": (
        a_job("n" * 54, worker={**a_role(2), "limits": 11}, elastic=1),
        "may have 63 characters",
    ),
    "ps with elastic": (a_job("bad", ps=a_role(1), elastic=1), "remove spec.ps or spec.elastic"),
    "heter without ps": (a_job("bad", heter=a_role(1)), "set spec.ps, or remove spec.heter"),
    "heter with zero ps": (a_job("bad", heter=a_role(1), ps=a_role(0)), "set spec.ps, or remove spec.heter"),
    "elastic without bounds": (a_job("bad", elastic=1), "set worker.requests and worker.limits"),
    "requests above replicas": (a_job("bad", worker={**a_role(2), "requests": 3}), "set it to replicas or below"),
    "replicas above limits": (a_job("bad", worker={**a_role(2), "limits": 1}), "set it to replicas or above"),
    "two clean policies": (a_job("bad", cleanPodPolicy="Never", cleanPolicy="Always"), "set only cleanPodPolicy"),
    "no spec": ({**a_job("bad"), "spec": None}, "spec"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_job_is_refused_with_a_sentence_that_helps(desk: Desk, case: str) -> None:
    job, sentence = REFUSED[case]
    with pytest.raises(ApiError) as refused:
        desk.submit(job)
    assert refused.value.code == 422, str(refused.value)
    assert sentence in str(refused.value)


@pytest.mark.parametrize("name", ["n" * 54, "a", "wide-ande-deep-2"])
def test_a_name_that_fits_is_taken(desk: Desk, name: str) -> None:
    desk.submit(a_job(name))


def changed(**spec: Any) -> Json:
    return spec


FIXED: dict[str, Json] = {
    "replicas": changed(worker={"replicas": 3}),
    "worker template": changed(worker={"template": {"metadata": {"labels": {"a": "b"}}}}),
    "worker requests": changed(worker={"requests": 1}),
    "adding ps": changed(ps=a_role(1)),
    "removing heter": changed(heter=None),
    "withGloo": changed(withGloo=2),
    "intranet": changed(intranet="Service"),
    "elastic": changed(elastic=1),
    "schedulingPolicy": changed(schedulingPolicy={"minAvailable": 1}),
}


@pytest.mark.parametrize("case", FIXED)
def test_what_a_running_job_cannot_change_is_refused(desk: Desk, case: str) -> None:
    desk.submit(a_job("fixed", heter=a_role(0)))
    with pytest.raises(ApiError, match="create"):
        desk.change("fixed", FIXED[case])


def test_what_may_change_can_be_changed(desk: Desk) -> None:
    desk.submit(a_job("free", worker=ELASTIC, elastic=1))
    allowed: Json = {
        "worker": {"replicas": 3},
        "suspend": True,
        "backoffLimit": 4,
        "activeDeadlineSeconds": 60,
        "startingDeadlineSeconds": 60,
        "ttlSecondsAfterFinished": 0,
        "cleanPodPolicy": "Never",
    }
    for name, value in allowed.items():
        desk.change("free", {name: value})
    desk.kubectl("scale", "pdj/free", "--replicas=4")
    with pytest.raises(KubectlFailed, match="replicas or above"):
        desk.kubectl("scale", "pdj/free", "--replicas=5")
    assert desk.job("free")["spec"]["worker"]["replicas"] == 4


def test_defaults_are_filled_in_by_the_api_server(desk: Desk) -> None:
    job = a_job("plain")
    del job["spec"]["worker"]["replicas"]
    spec = desk.submit(job)["spec"]
    assert (spec["worker"]["replicas"], spec["withGloo"], spec["intranet"]) == (1, 1, "PodIP")
    assert (spec["backoffLimit"], spec["suspend"]) == (0, False)
    assert "cleanPodPolicy" not in spec  # its alias could not be told from it otherwise


def test_kubectl_refuses_a_typo_in_a_template(desk: Desk) -> None:
    job = a_job("typo")
    job["spec"]["worker"]["template"]["spec"]["contaners"] = []
    with pytest.raises(KubectlFailed, match=r'unknown field "spec.worker.template.spec.contaners"'):
        desk.kubectl("create", "-f", "-", stdin=yaml.safe_dump(job))


def explained(desk: Desk, field: str) -> str:
    """A new API server publishes what it knows of a CRD a while after it serves it."""
    try:
        return desk.kubectl("explain", field).lower()
    except KubectlFailed as error:
        raise AssertionError(str(error)) from error


def test_kubectl_explains_the_template(desk: Desk) -> None:
    assert "containers" in wait_until(lambda: explained(desk, "pdj.spec.worker.template.spec"))
    assert "parameter servers" in explained(desk, "pdj.spec.ps")


@pytest.mark.parametrize("path", sorted(SEEDS.glob("*paddlejob*.yaml")), ids=lambda path: path.stem)
def test_every_job_of_the_documents_is_taken_as_it_is_written(desk: Desk, path: Any) -> None:
    desk.kubectl("create", "-f", str(path))
    desk.kubectl("apply", "-f", str(path))  # plain apply keeps the last manifest in an annotation


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_example_is_taken(desk: Desk, path: Any) -> None:
    jobs = [one for one in yaml.safe_load_all(path.read_text()) if one["kind"] == "PaddleJob"]
    assert jobs
    for job in jobs:
        desk.kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-", stdin=yaml.safe_dump(job))


@pytest.mark.parametrize("path", sorted(SEEDS.glob("*persistentvolume*.yaml")), ids=lambda path: path.stem)
def test_their_volumes_and_claims_are_taken_too(desk: Desk, path: Any) -> None:
    desk.kubectl("create", "--dry-run=server", "-f", str(path))


def test_templates_as_other_tools_write_them_are_taken(desk: Desk) -> None:
    job = copy.deepcopy(a_job("dumped"))
    job["spec"]["worker"]["template"]["metadata"]["creationTimestamp"] = None
    container = job["spec"]["worker"]["template"]["spec"]["containers"][0]
    container["resources"] = {"limits": {"cpu": 1, "memory": "1Gi", "nvidia.com/gpu": "1"}}
    container["env"] = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
    container["livenessProbe"] = {"httpGet": {"port": "http"}}
    desk.submit(job)
