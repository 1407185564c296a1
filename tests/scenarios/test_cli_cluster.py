"""The client's side of a cluster, against the real API server: calls, watches, and what each refusal says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from paddlejob.kube.tasks import timeout
from paddlejob.sdk import errors
from paddlejob.sdk.cluster import Cluster
from tests.scenarios.desk import Desk, Json, a_job, a_role


@pytest.fixture
async def cluster(desk: Desk, tmp_path: Path) -> AsyncIterator[Cluster]:
    kubeconfig = desk.control_plane.kubeconfig(tmp_path / "kubeconfig", namespace=desk.namespace)
    async with Cluster.connect(kubeconfig=str(kubeconfig)) as connected:
        yield connected


@pytest.mark.usefixtures("operator")
async def test_a_job_is_submitted_seen_changed_and_deleted(cluster: Cluster, desk: Desk) -> None:
    made = await cluster.create(a_job("first"))
    assert (made.metadata.namespace, made.metadata.name) == (desk.namespace, "first")
    await asyncio.to_thread(desk.in_phase, "first", "Running")
    assert [pod.metadata.name for pod in await cluster.pods(made)] == ["first-worker-0", "first-worker-1"]
    assert {one.reason for one in await cluster.events(made)} >= {"Created", "Started"}
    assert [one.metadata.name for one in await cluster.list(desk.namespace)] == ["first"]
    with pytest.raises(errors.Invalid, match="cannot scale job first"):
        await cluster.scale("first", desk.namespace, 3)  # it is not elastic
    changed = await cluster.patch("first", desk.namespace, {"spec": {"ttlSecondsAfterFinished": 7}})
    assert changed.spec.ttl_seconds_after_finished == 7
    await cluster.delete("first", desk.namespace)
    with pytest.raises(errors.NotFound, match=f"no job first in namespace {desk.namespace}"):
        await cluster.get("first", desk.namespace)


async def test_a_watch_tells_what_is_there_then_every_change_then_the_end(cluster: Cluster, desk: Desk) -> None:
    desk.submit(a_job("one"))
    desk.submit(a_job("other"))
    async with timeout(30), aclosing(cluster.watch(desk.namespace, "one")) as changes:
        first = await anext(changes)
        assert first.after is not None
        assert first.after.metadata.name == "one"
        desk.change("one", {"suspend": True})
        second = await anext(changes)
        assert second.after is not None
        assert second.after.spec.suspend
        desk.delete("one")
        last = await anext(changes)
        assert last.after is None


async def test_a_watch_of_a_job_that_is_not_there_says_so(cluster: Cluster, desk: Desk) -> None:
    async with timeout(30), aclosing(cluster.watch(desk.namespace, "none")) as changes:
        told = await anext(changes)
        assert (told.before, told.after) == (None, None)


async def test_what_stands_beside_a_job_goes_with_it(cluster: Cluster, desk: Desk) -> None:
    job = await cluster.create(a_job("owner"))
    meta = {"name": "files", "labels": {"a": "b"}}
    for kind in ("ConfigMap", "Secret"):
        await cluster.create_beside(job, {"apiVersion": "v1", "kind": kind, "metadata": meta, "data": {"a": "AP8="}})
    for plural in ("configmaps", "secrets"):
        (found,) = [one for one in desk.objects(plural) if one["metadata"]["name"] == "files"]
        assert found["data"] == {"a": "AP8="}
        assert found["metadata"]["labels"] == {"a": "b"}
        assert found["metadata"]["ownerReferences"][0]["uid"] == job.metadata.uid


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
        await cluster.create(made())


async def test_a_name_that_is_taken_says_what_to_do(cluster: Cluster) -> None:
    await cluster.create(a_job("twice"))
    with pytest.raises(errors.AlreadyExists, match="paddlejob delete twice"):
        await cluster.create(a_job("twice"))


async def test_a_missing_namespace_is_told_from_a_missing_job(cluster: Cluster) -> None:
    for call in (cluster.get("a", "nowhere"), cluster.list("nowhere"), cluster.create(a_job("a"), "nowhere")):
        with pytest.raises(errors.NoNamespace, match="kubectl create namespace nowhere"):
            await call
