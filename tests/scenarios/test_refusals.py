"""The API server itself refuses bad jobs, with a sentence that helps, and takes every job of the documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.api.samples import REFUSED, TAKEN
from tests.cluster.api import ApiError
from tests.cluster.control_plane import KubectlFailed
from tests.cluster.waiting import wait_until
from tests.scenarios.desk import Desk, Json, a_job, a_role
from tests.scenarios.documents import SEEDS

EXAMPLES = Path(__file__).parents[2] / "deploy" / "examples"
ELASTIC = {**a_role(2), "requests": 1, "limits": 4}


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_job_is_refused_with_a_sentence_that_helps(desk: Desk, case: str) -> None:
    job, words = REFUSED[case]
    with pytest.raises(ApiError) as refused:
        desk.submit(job, dry_run=True)
    assert refused.value.code in (400, 422), str(refused.value)
    answer = str(refused.value)
    assert words in json.loads(answer[answer.index("{") :])["message"]


@pytest.mark.parametrize("case", TAKEN)
def test_a_good_job_is_taken(desk: Desk, case: str) -> None:
    desk.submit(TAKEN[case], dry_run=True)


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


BOUNDLESS: dict[str, tuple[Json, int]] = {
    "more workers without limits": ({**a_role(2), "requests": 1}, 3),
    "fewer workers without requests": ({**a_role(2), "limits": 3}, 1),
}


@pytest.mark.parametrize("case", BOUNDLESS)
def test_without_bounds_an_elastic_job_has_as_many_workers_as_it_began_with(desk: Desk, case: str) -> None:
    worker, replicas = BOUNDLESS[case]
    desk.submit(a_job("steady", worker=worker, elastic=1))
    with pytest.raises(KubectlFailed, match="replicas of an elastic job change between"):
        desk.kubectl("scale", "pdj/steady", f"--replicas={replicas}")
    desk.change("steady", {"suspend": True})


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
