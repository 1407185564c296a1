"""The loop: every job is looked at, also later, and what goes wrong with one is that one's alone."""

from __future__ import annotations

import pytest
from aiohttp import web

from tests.kube.fake_server import Fault, refuses, until
from tests.operator.conftest import StartInside
from tests.operator.fake_cluster import FakeCluster
from tests.operator.worlds import end, put_job, run, status
from tests.scenarios.desk import a_role


async def test_jobs_from_before_the_start_and_from_after_it_are_looked_at(
    cluster: FakeCluster, start: StartInside
) -> None:
    put_job(cluster, "before")
    await start()
    await until(lambda: "before-worker-1" in cluster.names("pods"), "the first job has its pods")
    put_job(cluster, "after")
    await until(lambda: "after-worker-1" in cluster.names("pods"), "the second job has its pods")
    assert cluster.names("configmaps") == ["after", "before"]


async def test_a_job_is_led_to_its_end_by_what_the_watch_tells(cluster: FakeCluster, start: StartInside) -> None:
    put_job(cluster)
    await start()
    await until(lambda: status(cluster).get("phase") == "Pending", "Pending")
    await until(lambda: cluster.names("pods") == ["train-worker-0", "train-worker-1"], "the pods")
    run(cluster)
    await until(lambda: status(cluster).get("phase") == "Running", "Running")
    end(cluster)
    await until(lambda: status(cluster).get("phase") == "Completed", "Completed")
    assert {one.body["reason"] for one in cluster.asked("POST", "events")} >= {"Completed"}


async def test_a_time_that_comes_wakes_a_job_that_nothing_happens_to(cluster: FakeCluster, start: StartInside) -> None:
    put_job(cluster, ttlSecondsAfterFinished=1)
    await start()
    await until(lambda: len(cluster.names("pods")) == 2, "the pods")
    end(cluster)
    await until(lambda: cluster.names("paddlejobs") == [], "the job expired")
    (deleted,) = cluster.asked("DELETE", "paddlejobs")
    assert deleted.body["preconditions"]["uid"].startswith("uid-")


async def test_a_job_that_changed_meanwhile_does_not_expire(cluster: FakeCluster, start: StartInside) -> None:
    """Somebody gives it more time in the moment in which its time is up."""
    put_job(cluster, ttlSecondsAfterFinished=0)

    async def keep(request: web.Request) -> web.StreamResponse:
        cluster.change("paddlejobs", "train", {"metadata": {"generation": 2}, "spec": {"ttlSecondsAfterFinished": 900}})
        return await cluster.answer(request)

    cluster.fail("DELETE", "paddlejobs", keep)
    await start()
    await until(lambda: len(cluster.names("pods")) == 2, "the pods")
    end(cluster)
    await until(lambda: len(cluster.asked("DELETE", "paddlejobs")) == 1, "the attempt")
    put_job(cluster, "other")
    await until(lambda: "other-worker-1" in cluster.names("pods"), "the operator goes on")
    assert cluster.names("paddlejobs") == ["other", "train"]
    assert len(cluster.asked("DELETE", "paddlejobs")) == 1


async def test_a_name_that_comes_back_is_another_job(cluster: FakeCluster, start: StartInside) -> None:
    first = put_job(cluster, worker=a_role(1))
    await start()
    await until(lambda: cluster.names("pods") == ["train-worker-0"], "the pod")
    cluster.remove("paddlejobs", "train")
    for plural in ("pods", "services", "configmaps"):  # as the garbage collector does
        for name in cluster.names(plural):
            cluster.remove(plural, name)
    second = put_job(cluster, worker=a_role(1))
    await until(lambda: cluster.names("pods") == ["train-worker-0"], "the pod of the new job")
    (owner,) = cluster.get("pods", "train-worker-0")["metadata"]["ownerReferences"]
    assert owner["uid"] == second["metadata"]["uid"] != first["metadata"]["uid"]


def nonsense() -> Fault:
    async def fault(_: web.Request) -> web.StreamResponse:
        return web.Response(status=201, body=b"this is no JSON", content_type="application/json")

    return fault


PASSING: dict[str, Fault] = {
    "a server that is broken for a moment": refuses(500, "InternalError", "etcd is away"),
    "a server that asks for patience": refuses(429, "TooManyRequests", "later", Retry_After="1"),
    "an answer that nobody understands": nonsense(),
}


@pytest.mark.parametrize("case", PASSING)
async def test_what_goes_wrong_for_a_moment_is_tried_again(cluster: FakeCluster, start: StartInside, case: str) -> None:
    put_job(cluster)
    cluster.fail("POST", "pods", PASSING[case], times=2)
    await start()
    await until(lambda: len(cluster.names("pods")) == 2, "the pods")
    await until(lambda: bool(status(cluster).get("phase")), "the status")
    put_job(cluster, "other")
    await until(lambda: "other-worker-1" in cluster.names("pods"), "the other job goes its way")


async def test_the_pause_that_a_server_asks_for_is_kept(cluster: FakeCluster, start: StartInside) -> None:
    put_job(cluster, worker=a_role(1))
    cluster.fail("POST", "pods", PASSING["a server that asks for patience"])
    await start()
    await until(lambda: cluster.names("pods") == ["train-worker-0"], "the pod")
    first, second = cluster.asked("POST", "pods")
    assert second.at - first.at >= 1


async def test_a_status_that_meets_a_newer_job_is_planned_anew(cluster: FakeCluster, start: StartInside) -> None:
    put_job(cluster)
    cluster.fail("PATCH", "paddlejobs", refuses(409, "Conflict", "the object has been modified"))
    await start()
    await until(lambda: status(cluster).get("phase") == "Pending", "Pending")
    assert all("resourceVersion" in one.body["metadata"] for one in cluster.asked("PATCH", "paddlejobs"))
