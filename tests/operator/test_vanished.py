"""Pods that ended and were gone before anybody looked: what they had come to is not lost."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kube.fake_server import refuses, until
from tests.operator.conftest import StartInside
from tests.operator.fake_cluster import FakeCluster
from tests.operator.worlds import end, put_job, run, status
from tests.scenarios.desk import a_role


async def running(cluster: FakeCluster, start: StartInside, pods: int = 2, **spec: Any) -> None:
    put_job(cluster, **spec)
    await start()
    await until(lambda: cluster.count("pods") == pods, "the pods")
    run(cluster)
    await until(lambda: status(cluster).get("phase") == "Running", "Running")


async def test_a_success_that_was_gone_in_the_same_moment_is_a_success(
    cluster: FakeCluster, start: StartInside
) -> None:
    await running(cluster, start)
    end(cluster, "train-worker-0")
    cluster.remove("pods", "train-worker-0")
    await until(lambda: status(cluster).get("succeededIndexes") == "0", "its success is known")
    end(cluster, "train-worker-1")
    cluster.remove("pods", "train-worker-1")
    await until(lambda: status(cluster).get("phase") == "Completed", "Completed")
    assert len(cluster.asked("POST", "pods")) == 2
    assert not status(cluster).get("disruptions")


async def test_it_is_kept_until_the_status_says_so(cluster: FakeCluster, start: StartInside) -> None:
    await running(cluster, start, ps=a_role(1), withGloo=0, pods=3)
    cluster.fail("PATCH", "paddlejobs", refuses(500, "InternalError", "etcd is away"), times=3)
    end(cluster, "train-worker-1")
    cluster.remove("pods", "train-worker-1")
    await until(lambda: status(cluster).get("succeededIndexes") == "1", "its success is known")
    cluster.remove("pods", "train-worker-0")
    await until(lambda: len(cluster.asked("POST", "pods")) == 4, "the lost one is made again")
    assert [one.body["metadata"]["name"] for one in cluster.asked("POST", "pods")][3:] == ["train-worker-0"]
    assert cluster.names("pods") == ["train-ps-0", "train-worker-0"]


async def test_nobody_asks_for_the_pod_of_a_worker_that_is_known_to_have_succeeded(
    cluster: FakeCluster, start: StartInside
) -> None:
    """Not even an operator that has just begun to lead."""
    known = {"phase": "Running", "succeededIndexes": "0", "worker": {"running": 1, "succeeded": 1, "ready": "1/2"}}
    put_job(cluster)
    cluster.change("paddlejobs", "train", {"status": known})
    await start()
    await until(lambda: status(cluster).get("disruptions") == 1, "the other one is lost")
    assert [one.name for one in cluster.asked("GET", "pods") if one.name] == ["train-worker-1"]


@pytest.mark.parametrize("gone", [True, False])
async def test_a_failure_is_one_whether_its_pod_is_gone_or_not(
    cluster: FakeCluster, start: StartInside, gone: bool
) -> None:
    await running(cluster, start)
    end(cluster, "train-worker-0", code=3)
    if gone:
        cluster.remove("pods", "train-worker-0")
    await until(lambda: status(cluster).get("phase") == "Failed", "Failed")
    assert status(cluster)["failure"]["exitCode"] == 3


async def test_a_worker_that_failed_and_is_gone_is_replaced_once(cluster: FakeCluster, start: StartInside) -> None:
    await running(cluster, start, ps=a_role(1), withGloo=0, backoffLimit=5, pods=3)
    end(cluster, "train-worker-0", code=3)
    cluster.remove("pods", "train-worker-0")
    await until(lambda: status(cluster).get("restarts") == 1, "it is counted")
    await until(lambda: not status(cluster).get("replacing"), "it is done with")
    assert status(cluster)["attempt"] == 0
    assert cluster.asked("DELETE", "pods") == []
