"""The client's side of a cluster, against the real API server: calls, watches, and what each refusal says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from paddlejob import errors
from paddlejob.api.meta import Key
from paddlejob.kube.tasks import timeout
from paddlejob.places.cluster import Cluster
from paddlejob.places.place import Description
from tests.cluster.waiting import eventually
from tests.scenarios.desk import Desk, Json, a_job, a_role


@pytest.fixture
async def cluster(desk: Desk, tmp_path: Path) -> AsyncIterator[Cluster]:
    kubeconfig = desk.control_plane.kubeconfig(tmp_path / "kubeconfig", namespace=desk.namespace)
    async with Cluster.connect(kubeconfig=str(kubeconfig)) as connected:
        yield connected


def described(document: Json, *beside: Json) -> Description:
    return Description(document, beside)


@pytest.mark.usefixtures("operator")
async def test_a_job_is_submitted_seen_changed_and_deleted(cluster: Cluster, desk: Desk) -> None:
    made = await cluster.submit(described(a_job("first")))
    assert made.key == (desk.namespace, "first")
    await asyncio.to_thread(desk.in_phase, "first", "Running")
    assert [pod.metadata.name for pod in await cluster.pods(made.job)] == ["first-worker-0", "first-worker-1"]
    assert {one.reason for one in await cluster.events(made.job)} >= {"Created", "Started"}
    assert [one.key.name for one in await cluster.list(desk.namespace)] == ["first"]
    with pytest.raises(errors.Invalid, match="cannot scale job first"):
        await cluster.scale(made.job, 3)  # it is not elastic
    await cluster.change(made.job, {"ttlSecondsAfterFinished": 7})
    assert (await cluster.get(made.key)).job.spec.ttl_seconds_after_finished == 7
    await cluster.delete(made.job)
    with pytest.raises(errors.NotFound, match=f"no job first in namespace {desk.namespace}"):
        await cluster.get(made.key)


async def test_a_watch_tells_what_is_there_then_every_change_then_the_end(cluster: Cluster, desk: Desk) -> None:
    desk.submit(a_job("one"))
    desk.submit(a_job("other"))
    async with timeout(30), aclosing(cluster.watch(desk.namespace, "one")) as changes:
        key, first = await anext(changes)
        assert first is not None
        assert first.key == key == (desk.namespace, "one")
        desk.change("one", {"suspend": True})
        _, second = await anext(changes)
        assert second is not None
        assert second.job.spec.suspend
        desk.delete("one")
        assert await anext(changes) == (key, None)


async def test_a_watch_of_a_job_that_is_not_there_says_so(cluster: Cluster, desk: Desk) -> None:
    async with timeout(30), aclosing(cluster.watch(desk.namespace, "none")) as changes:
        assert await anext(changes) == ((desk.namespace, "none"), None)


def beside(kind: str, name: str = "files", **more: object) -> Json:
    meta = {"name": name, "labels": {"a": "b"}}
    return {"apiVersion": "v1", "kind": kind, "metadata": meta, **({"data": {"a": "AP8="}} | more)}


def owners(desk: Desk, plural: str, name: str = "files") -> list[str]:
    (found,) = [one for one in desk.objects(plural) if one["metadata"]["name"] == name]
    return [one["name"] for one in found["metadata"].get("ownerReferences", ())]


def names(desk: Desk) -> set[str]:
    return {one["metadata"]["name"] for one in desk.objects("configmaps")}


CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


async def test_what_stands_beside_a_job_goes_with_it_but_never_its_data(cluster: Cluster, desk: Desk) -> None:
    job = await cluster.submit(described(a_job("owner"), beside("ConfigMap"), beside("Secret"), CLAIM))
    for plural in ("configmaps", "secrets"):
        (found,) = [one for one in desk.objects(plural) if one["metadata"]["name"] == "files"]
        assert found["data"] == {"a": "AP8="}
        assert found["metadata"]["labels"] == {"a": "b"}
        assert found["metadata"]["ownerReferences"][0]["uid"] == job.job.metadata.uid
    assert owners(desk, "persistentvolumeclaims", "data") == []


async def test_what_two_jobs_share_belongs_to_both(cluster: Cluster, desk: Desk) -> None:
    for name in ("one", "two"):
        await cluster.submit(described(a_job(name), beside("ConfigMap")))
    assert owners(desk, "configmaps") == ["one", "two"]


async def test_what_was_there_before_is_changed_and_stays_the_persons(cluster: Cluster, desk: Desk) -> None:
    desk.kubectl("create", "configmap", "files", "--from-literal=old=1")
    await cluster.submit(described(a_job("later"), beside("ConfigMap")))
    assert desk.config("files") == {"old": "1", "a": "AP8="}
    assert owners(desk, "configmaps") == []


async def test_what_was_made_for_a_job_that_is_refused_is_taken_back(cluster: Cluster, desk: Desk) -> None:
    desk.kubectl("create", "configmap", "older", "--from-literal=old=1")
    for refused in (
        described(a_typo(), beside("ConfigMap"), beside("ConfigMap", "older")),
        described(a_job("fine"), beside("ConfigMap"), beside("NoSuchKind")),
    ):
        with pytest.raises(errors.PaddleJobError):
            await cluster.submit(refused)
        await eventually(lambda: "files" not in names(desk))
        assert "older" in names(desk)


def a_typo() -> Json:
    return a_job("typo", worker={**a_role(1), "replica": 2})


REFUSED = {
    "a field that does not exist": (a_typo, errors.Invalid, r'unknown field "spec.worker.replica"'),
    "no worker": (lambda: a_job("none", worker=a_role(0)), errors.Invalid, "job"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_what_the_api_server_refuses_is_said_in_its_words(cluster: Cluster, case: str) -> None:
    made, kind, said = REFUSED[case]
    with pytest.raises(kind, match=said):
        await cluster.submit(described(made()))


async def test_a_name_that_is_taken_says_what_to_do(cluster: Cluster) -> None:
    await cluster.submit(described(a_job("twice")))
    with pytest.raises(errors.AlreadyExists, match="paddlejob delete twice"):
        await cluster.submit(described(a_job("twice")))


async def test_a_missing_namespace_is_told_from_a_missing_job(cluster: Cluster) -> None:
    elsewhere = {**a_job("a"), "metadata": {"name": "a", "namespace": "nowhere"}}
    for call in (cluster.get(Key("nowhere", "a")), cluster.list("nowhere"), cluster.submit(described(elsewhere))):
        with pytest.raises(errors.NoNamespace, match="kubectl create namespace nowhere"):
            await call
