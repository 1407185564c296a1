"""The operator's writes: each object is made once and only its owner touches it; what is refused is told on the job."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import web

from tests.kube.fake_server import Fault, a_status, refuses, until
from tests.operator.conftest import StartInside
from tests.operator.fake_cluster import FakeCluster
from tests.operator.worlds import end, put_job, run, status
from tests.scenarios.desk import a_role


async def test_everything_belongs_to_its_job(cluster: FakeCluster, start: StartInside) -> None:
    made = put_job(cluster, ps=a_role(1))
    await start()
    await until(lambda: len(cluster.names("pods")) == 3, "the pods")
    assert cluster.names("services") == cluster.names("pods")
    for plural, name in [("configmaps", "train"), *(("pods", one) for one in cluster.names("pods"))]:
        (owner,) = cluster.get(plural, name)["metadata"]["ownerReferences"]
        assert owner["uid"] == made["metadata"]["uid"]
        assert owner["controller"] is owner["blockOwnerDeletion"] is True


async def test_what_was_made_though_nobody_heard_of_it_is_not_made_twice(
    cluster: FakeCluster, start: StartInside
) -> None:
    put_job(cluster)
    cluster.lose_answers("POST", "pods", times=2)
    await start()
    await until(lambda: len(cluster.names("pods")) == 2, "the pods")
    run(cluster)
    await until(lambda: status(cluster).get("phase") == "Running", "Running")
    assert cluster.names("pods") == ["train-worker-0", "train-worker-1"]
    assert status(cluster).get("reason") is None


REFUSED: dict[str, tuple[Fault, str, str]] = {
    "no quota": (
        refuses(403, "Forbidden", "pods is forbidden: exceeded quota: small, requested: cpu=1"),
        "QuotaExceeded",
        "exceeded quota: small",
    ),
    "no right": (refuses(403, "Forbidden", "pods is forbidden: User cannot create"), "Forbidden", "cannot create"),
    "an invalid pod": (refuses(422, "Invalid", "spec.hostname: Invalid value"), "Invalid", "spec.hostname"),
    "a request that makes no sense": (refuses(400, "BadRequest", "the body is odd"), "Invalid", "the body is odd"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_what_is_refused_is_told(cluster: FakeCluster, start: StartInside, case: str) -> None:
    fault, reason, words = REFUSED[case]
    put_job(cluster, worker=a_role(1))
    cluster.fail("POST", "pods", fault, times=9)
    await start()
    await until(lambda: status(cluster).get("reason") == reason, reason)
    assert words in status(cluster)["message"]


async def test_what_is_refused_is_tried_again_after_a_while(cluster: FakeCluster, start: StartInside) -> None:
    put_job(cluster, worker=a_role(1))
    cluster.fail("POST", "pods", REFUSED["no quota"][0])
    await start()
    await until(lambda: cluster.names("pods") == ["train-worker-0"], "the pod after all")
    await until(lambda: "reason" not in status(cluster), "nothing is amiss any more")
    first, second = cluster.asked("POST", "pods")
    assert second.at - first.at >= 1.9


async def test_a_name_that_a_stranger_has_is_waited_for(cluster: FakeCluster, start: StartInside) -> None:
    stranger = cluster.put("pods", {"metadata": {"name": "train-worker-0"}})
    put_job(cluster, worker=a_role(1))
    await start()
    await until(lambda: status(cluster).get("reason") == "NameTaken", "NameTaken")
    assert cluster.get("pods", "train-worker-0") == stranger
    cluster.remove("pods", "train-worker-0")
    await until(lambda: cluster.names("pods") == ["train-worker-0"], "the pod")
    assert cluster.asked("DELETE", "pods") == []


async def test_only_the_very_objects_that_are_meant_are_deleted(cluster: FakeCluster, start: StartInside) -> None:
    put_job(cluster, cleanPodPolicy="Always")
    await start()
    await until(lambda: len(cluster.names("pods")) == 2, "the pods")
    uids = {cluster.get("pods", one)["metadata"]["uid"] for one in cluster.names("pods")}
    end(cluster)
    await until(lambda: cluster.names("pods") == cluster.names("services") == [], "all is cleaned up")
    assert {one.body["preconditions"]["uid"] for one in cluster.asked("DELETE", "pods")} == uids
    assert status(cluster)["phase"] == "Completed"


async def test_what_cannot_be_deleted_at_first_is_deleted_later(cluster: FakeCluster, start: StartInside) -> None:
    put_job(cluster, cleanPodPolicy="Always")
    cluster.fail("DELETE", "pods", refuses(500, "InternalError", "not now"))
    cluster.fail("DELETE", "services", refuses(403, "Forbidden", "services is forbidden"))
    await start()
    await until(lambda: len(cluster.names("pods")) == 2, "the pods")
    end(cluster)
    await until(lambda: cluster.names("pods") == cluster.names("services") == [], "all is cleaned up")


async def test_a_job_does_not_wait_for_its_events(cluster: FakeCluster, start: StartInside) -> None:
    put_job(cluster)
    cluster.fail("POST", "events", refuses(403, "Forbidden", "events is forbidden"), times=100)
    await start()
    await until(lambda: len(cluster.names("pods")) == 2, "the pods")
    end(cluster)
    await until(lambda: status(cluster).get("phase") == "Completed", "Completed")
    assert cluster.names("events") == []


async def test_pods_wait_for_their_environment_and_are_touched_when_it_is_there(
    cluster: FakeCluster, start: StartInside
) -> None:
    put_job(cluster, intranet="PodIP")
    await start()
    await until(lambda: len(cluster.names("pods")) == 2, "the pods")
    assert cluster.names("configmaps") == []
    for number, pod in enumerate(cluster.names("pods")):
        placed = {"spec": {"nodeName": "node"}, "status": {"phase": "Pending", "podIP": f"10.0.0.{number}"}}
        cluster.change("pods", pod, placed)
    await until(lambda: cluster.names("configmaps") == ["train"], "the environment")
    await until(lambda: len(cluster.asked("PATCH", "pods")) == 2, "both pods are touched")
    assert cluster.get("configmaps", "train")["data"]["PADDLE_TRAINERS"] == "10.0.0.0,10.0.0.1"


async def test_ports_of_the_hosts_are_written_on_the_job_before_its_pods_are_made(
    cluster: FakeCluster, start: StartInside
) -> None:
    put_job(cluster, intranet="Host")
    await start()
    await until(lambda: len(cluster.names("pods")) == 2, "the pods")
    writes = [(one.method, one.plural) for one in cluster.calls if one.method in ("PATCH", "POST")]
    reserved = cluster.get("paddlejobs", "train")["metadata"]["annotations"]["batch.paddlepaddle.org/ports"]
    assert reserved == "20000"
    assert writes.index(("PATCH", "paddlejobs")) < writes.index(("POST", "pods"))


async def test_a_restart_writes_the_environment_anew(cluster: FakeCluster, start: StartInside) -> None:
    """What disrupts a job costs it nothing: another attempt begins at once."""
    put_job(cluster, worker=a_role(1))
    await start()
    await until(lambda: cluster.names("pods") == ["train-worker-0"], "the pod")
    run(cluster)
    await until(lambda: status(cluster).get("phase") == "Running", "Running")
    cluster.remove("pods", "train-worker-0")
    await until(lambda: status(cluster).get("disruptions") == 1, "a disruption")
    await until(lambda: cluster.names("pods") == ["train-worker-0"], "another pod")
    labels = cluster.get("pods", "train-worker-0")["metadata"]["labels"]
    assert labels["batch.paddlepaddle.org/attempt"] == "1"


async def test_no_more_calls_are_in_flight_than_allowed(cluster: FakeCluster, start: StartInside) -> None:
    put_job(cluster, worker=a_role(8))
    released = asyncio.Event()

    async def hold(_: web.Request) -> web.StreamResponse:
        await released.wait()
        return a_status(500, "InternalError", "try again")

    cluster.fail("POST", "pods", hold, times=8)
    await start(concurrency=3)
    await until(lambda: len(cluster.asked("POST", "pods")) >= 3, "three calls")
    at = asyncio.get_running_loop().time()
    released.set()
    await until(lambda: len(cluster.names("pods")) == 8, "the pods")
    assert len([one for one in cluster.asked("POST", "pods") if one.at < at]) == 3
