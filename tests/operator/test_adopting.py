"""What another operator left: pods that run on together or are made again together, its finalizer, odd jobs."""

from __future__ import annotations

import pytest

from paddlejob.api import names as n
from tests.kube.fake_server import refuses, until
from tests.operator.conftest import StartInside
from tests.operator.fake_cluster import FakeCluster, Json
from tests.operator.worlds import end, put_job, run, status


def leave(cluster: FakeCluster, *pods: str) -> None:
    """A job as the other operator leaves it, with these pods."""
    made = put_job(cluster)
    cluster.change("paddlejobs", "train", {"status": {"phase": "Running"}})
    for name in pods:
        owner = {"apiVersion": n.API_VERSION, "kind": n.KIND, "name": "train", "uid": made["metadata"]["uid"]}
        meta = {"name": name, "labels": {n.LABEL_RES_NAME: name}, "ownerReferences": [{**owner, "controller": True}]}
        cluster.put("pods", {"metadata": meta, "spec": {"containers": [{"name": "paddle", "image": "a"}]}})


def told(cluster: FakeCluster) -> list[str]:
    return [one.body["reason"] for one in cluster.asked("POST", "events")]


def notes_on(cluster: FakeCluster, name: str) -> Json:
    return dict(cluster.get("pods", name)["metadata"].get("annotations", {}))


async def test_pods_that_have_begun_run_on_and_nothing_is_made_beside_them(
    cluster: FakeCluster, start: StartInside
) -> None:
    leave(cluster, "train-worker-0", "train-worker-1")
    run(cluster)
    await start()
    await until(lambda: bool(status(cluster).get("adopted")), "its pods")
    assert (status(cluster)["phase"], "Adopted" in told(cluster)) == ("Running", True)
    assert notes_on(cluster, "train-worker-0")[n.ANNOTATION_ADOPTED] == "true"
    end(cluster)
    await until(lambda: status(cluster).get("phase") == "Completed", "Completed")
    assert [cluster.asked("POST", plural) for plural in ("pods", "services", "configmaps")] == [[], [], []]
    assert cluster.asked("DELETE", "pods") == []


@pytest.mark.parametrize("begun", [("train-worker-0",), ()], ids=["one has begun", "none has"])
async def test_if_any_has_not_begun_all_are_made_again(
    cluster: FakeCluster, start: StartInside, begun: tuple[str, ...]
) -> None:
    leave(cluster, "train-worker-0", "train-worker-1")
    for name in begun:
        run(cluster, name)
    await start()
    await until(lambda: len(cluster.asked("DELETE", "pods")) == 2, "both to go")
    await until(lambda: len(cluster.asked("POST", "pods")) == 2, "both made again")
    assert ("Adopted" in told(cluster), "UnknownPod" in told(cluster)) == (False, True)


async def test_if_one_is_gone_the_others_are_made_again(cluster: FakeCluster, start: StartInside) -> None:
    leave(cluster, "train-worker-0")
    run(cluster)
    await start()
    await until(lambda: len(cluster.asked("POST", "pods")) == 2, "all made again")
    assert not status(cluster).get("adopted")


async def test_its_finalizer_goes_and_that_of_others_stays(cluster: FakeCluster, start: StartInside) -> None:
    put_job(cluster)
    cluster.change("paddlejobs", "train", {"metadata": {"finalizers": [n.FINALIZER_OF_0_3, "example.com/other"]}})
    cluster.fail("PATCH", "paddlejobs", refuses(409, "Conflict", "somebody was faster"))
    await start()
    await until(
        lambda: cluster.get("paddlejobs", "train")["metadata"]["finalizers"] == ["example.com/other"], "it to go"
    )


async def test_a_job_that_cannot_be_read_is_told_of_once(cluster: FakeCluster, start: StartInside) -> None:
    put_job(cluster, cleanPodPolicy="Sometimes")
    await start()
    await until(lambda: told(cluster) == ["Unreadable"], "the event")
    (event,) = cluster.asked("POST", "events")
    assert "cleanPodPolicy" in event.body["note"]
    assert event.body["regarding"]["name"] == "train"
    cluster.change("paddlejobs", "train", {"metadata": {"labels": {"a": "b"}}})
    put_job(cluster, "other")
    await until(lambda: "Created" in told(cluster), "the other")
    made = {one.body["metadata"]["name"] for one in cluster.asked("POST", "pods")}
    assert made <= {"other-worker-0", "other-worker-1"}
