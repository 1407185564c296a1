"""Pods that ended and were gone before anybody looked: what they had come to is not lost."""

from __future__ import annotations

from typing import Any

import pytest

from paddlejob.api import Job
from paddlejob.api.names import LABEL_ATTEMPT
from paddlejob.core import Pod
from paddlejob.kube.events import Removed, Seen
from paddlejob.kube.store import Store
from paddlejob.operator.vanished import Vanished
from tests.builders import JobBuilder, PodBuilder, a_job, an_elastic_job, pods_of
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


async def test_a_server_that_exits_0_and_is_gone_is_lost(cluster: FakeCluster, start: StartInside) -> None:
    await running(cluster, start, ps=a_role(1), withGloo=0, pods=3)
    end(cluster, "train-ps-0")
    cluster.remove("pods", "train-ps-0")
    await until(lambda: status(cluster).get("disruptions") == 1, "all start again")
    assert status(cluster)["attempt"] == 1


JOB = a_job().with_workers(2).in_phase("Running")
DONE = pods_of(JOB.build())["train-worker-0"].succeeded()
LATER = JOB.with_status(attempt=1)
AFTERWARDS: dict[str, tuple[JobBuilder | None, PodBuilder | None]] = {
    "the status tells of it": (JOB.with_status(succeeded_indexes="0"), None),
    "it is being replaced": (JOB.with_status(replacing=(DONE.build().metadata.uid,)), None),
    "another attempt began": (LATER, None),
    "the job ended": (JOB.in_phase("Failed"), None),
    "another job has its name": (JOB.with_uid("another"), None),
    "the job is gone": (None, None),
    "a new pod came": (JOB, DONE.with_uid("new").running()),
}


@pytest.mark.parametrize(("job", "pod"), AFTERWARDS.values(), ids=AFTERWARDS.keys())
def test_it_is_forgotten_when(job: JobBuilder | None, pod: PodBuilder | None) -> None:
    jobs: Store[Job] = Store()
    pods: Store[Pod] = Store()
    vanished = Vanished(jobs, pods)
    jobs.apply_event(Seen(JOB.build()))
    pods.apply_event(Seen(DONE.build()))
    assert vanished.of(JOB.build()) == ()
    pods.apply_event(Removed(DONE.build()))
    assert vanished.of(JOB.build()) == (DONE.build(),)
    jobs.apply_event(Seen(job.build()) if job else Removed(JOB.build()))
    if pod:
        pods.apply_event(Seen(pod.build()))
    assert vanished.of(JOB.build()) == ()


WITHOUT_A_VERDICT: dict[str, PodBuilder] = {
    "it ran": DONE.running(),
    "it was evicted": DONE.evicted(),
    "it was deleted, and failed": DONE.failed(143).deleting(),
    "it is of another job": DONE.owned_by(JOB.with_uid("another").build()),
    "it was made for no attempt": DONE._meta(labels={**DONE.build().metadata.labels, LABEL_ATTEMPT: "none"}),
}


@pytest.mark.parametrize("pod", WITHOUT_A_VERDICT.values(), ids=WITHOUT_A_VERDICT.keys())
def test_nothing_is_remembered_if(pod: PodBuilder) -> None:
    jobs: Store[Job] = Store()
    pods: Store[Pod] = Store()
    vanished = Vanished(jobs, pods)
    jobs.apply_event(Seen(JOB.build()))
    pods.apply_event(Seen(pod.build()))
    pods.apply_event(Removed(pod.build()))
    assert vanished.of(JOB.build()) == ()


@pytest.mark.parametrize("end", ["succeeded", "failed"])
def test_of_an_elastic_worker_nothing_is_remembered(end: str) -> None:
    """As in campaigns 311 and 321: exit 0 is no success there, so the replaced worker was remembered for ever."""
    job = an_elastic_job().in_phase("Running").build()
    worker = pods_of(job)["train-worker-0"]
    pod = (worker.succeeded() if end == "succeeded" else worker.failed(1)).build()
    jobs: Store[Job] = Store()
    pods: Store[Pod] = Store()
    vanished = Vanished(jobs, pods)
    jobs.apply_event(Seen(job))
    pods.apply_event(Seen(pod))
    pods.apply_event(Removed(pod))
    assert vanished.of(job) == ()
