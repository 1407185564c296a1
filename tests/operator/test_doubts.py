"""Pods that left the watch: which of them are asked for, and that nothing is decided before the answer."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from aiohttp import web

from paddlejob.api import ObjectMeta
from paddlejob.api.names import LABEL_ATTEMPT, LABEL_INDEX, LABEL_JOB, LABEL_RES_NAME, LABEL_RES_TYPE
from paddlejob.core import observe
from paddlejob.core.pods import pod
from paddlejob.operator.adopting import Stray, told
from tests.builders import a_job
from tests.kube.fake_server import Fault, refuses, until
from tests.operator.conftest import StartInside
from tests.operator.fake_cluster import FakeCluster, Json
from tests.operator.worlds import end, put_job, run, status
from tests.scenarios.desk import a_role

OURS = (LABEL_JOB, LABEL_RES_NAME, LABEL_RES_TYPE, LABEL_INDEX, LABEL_ATTEMPT)


def strip(cluster: FakeCluster, name: str) -> None:
    cluster.change("pods", name, {"metadata": {"labels": dict.fromkeys(OURS)}})


def labels(cluster: FakeCluster, name: str) -> Json:
    return dict(cluster.get("pods", name)["metadata"]["labels"])


async def running(cluster: FakeCluster, start: StartInside, **spec: Any) -> None:
    put_job(cluster, **spec)
    await start()
    await until(lambda: cluster.count("pods") == 2, "the pods")
    run(cluster)
    await until(lambda: status(cluster).get("phase") == "Running", "Running")


async def test_a_pod_that_lost_its_labels_is_asked_for_once_and_gets_them_back(
    cluster: FakeCluster, start: StartInside
) -> None:
    await running(cluster, start)
    before = labels(cluster, "train-worker-1")
    strip(cluster, "train-worker-1")
    await until(lambda: labels(cluster, "train-worker-1") == before, "its labels")
    end(cluster)
    await until(lambda: status(cluster).get("phase") == "Completed", "Completed")
    assert len(cluster.asked("GET", "pods")) == 1
    assert not status(cluster).get("disruptions")
    notes = [one.body["note"] for one in cluster.asked("POST", "events") if one.body["reason"] == "LabelsMissing"]
    assert notes == ["labels that the operator needs were missing on pod train-worker-1: it has put them back"]


def test_of_many_people_are_told_in_one_sentence_for_each_sort() -> None:
    job = a_job().with_workers(4).build()
    made = [msgspec.convert(pod(job, slot), Stray) for slot in observe(job).slots]
    foreign = [Stray(metadata=ObjectMeta(name="train-worker-3"))]
    assert [(one.reason, one.note) for one in told(job, [*made[:3], *foreign])] == [
        (
            "LabelsMissing",
            "labels that the operator needs were missing on pod train-worker-0 and 2 more: it has put them back",
        ),
        ("UnknownPod", "pod train-worker-3 of this job: not made for this attempt, so deleted and made again"),
    ]


async def test_a_life_in_which_nobody_touches_labels_asks_for_no_pod(cluster: FakeCluster, start: StartInside) -> None:
    """Here pods are gone as soon as they are deleted: the watch tells so before the answer to the delete."""
    await running(cluster, start, cleanPodPolicy="Always")
    cluster.change("paddlejobs", "train", {"spec": {"suspend": True}, "metadata": {"generation": 2}})
    await until(lambda: cluster.count("pods") == 0, "no pods while it is suspended")
    cluster.change("paddlejobs", "train", {"spec": {"suspend": False}, "metadata": {"generation": 3}})
    await until(lambda: cluster.count("pods") == 2, "the pods again")
    run(cluster)
    await until(lambda: status(cluster).get("phase") == "Running", "Running")
    end(cluster)
    await until(lambda: cluster.count("pods") == 0, "all cleaned up")
    assert cluster.asked("GET", "pods") == []


async def test_nothing_is_decided_before_the_answer(cluster: FakeCluster, start: StartInside) -> None:
    await running(cluster, start)
    cluster.fail("GET", "pods", refuses(500, "InternalError", "etcd is away"), times=3)
    strip(cluster, "train-worker-0")
    await until(lambda: LABEL_JOB in labels(cluster, "train-worker-0"), "its labels")
    assert len(cluster.asked("GET", "pods")) == 4
    assert cluster.asked("DELETE", "pods") == []
    assert status(cluster)["phase"] == "Running"


async def test_a_pod_that_is_gone_is_lost(cluster: FakeCluster, start: StartInside) -> None:
    await running(cluster, start)
    cluster.remove("pods", "train-worker-0")
    await until(lambda: status(cluster).get("disruptions") == 1, "the restart")
    assert len(cluster.asked("GET", "pods")) == 1


async def test_a_finished_pod_that_lost_its_labels_gets_them_back(cluster: FakeCluster, start: StartInside) -> None:
    """Also what an earlier attempt left must be seen, or the next one begins beside it."""
    await running(cluster, start)
    before = labels(cluster, "train-worker-1")
    end(cluster, "train-worker-1")
    await until(lambda: status(cluster)["worker"].get("succeeded") == 1, "its success is known")
    strip(cluster, "train-worker-1")
    await until(lambda: labels(cluster, "train-worker-1") == before, "its labels")


# What is left of the status when no operator leads, whether the job is suspended, and whether the pod may stay.
WITHOUT_A_LEADER: dict[str, tuple[Json, bool, bool]] = {
    "its next attempt waits": ({"phase": "Restarting", "attempt": 1}, False, False),
    "it is suspended": ({"phase": "Suspended", "attempt": 1}, True, False),
    "its status was never written": ({"phase": None}, False, True),
}


@pytest.mark.parametrize("case", WITHOUT_A_LEADER)
async def test_a_pod_that_lost_its_labels_while_nobody_led_is_found_though(
    cluster: FakeCluster, start: StartInside, case: str
) -> None:
    """No other attempt begins beside it, nobody who is suspended keeps it, and it is not called lost."""
    seen, suspend, stays = WITHOUT_A_LEADER[case]
    put_job(cluster, intranet="PodIP")
    leader = await start()
    await until(lambda: cluster.count("pods") == 2, "the pods")
    run(cluster)
    await until(lambda: status(cluster).get("phase") == "Running", "Running")
    leader.cancel()
    await asyncio.gather(leader, return_exceptions=True)
    cluster.change("paddlejobs", "train", {"spec": {"suspend": suspend}, "status": seen})
    strip(cluster, "train-worker-1")
    cluster.calls.clear()
    await start()
    if stays:
        await until(lambda: status(cluster).get("phase") == "Running", "Running")
        assert cluster.asked("DELETE", "pods") == cluster.asked("POST", "pods") == []
    else:
        await until(lambda: len(cluster.asked("DELETE", "pods")) == 2, "both are deleted")
        writes = [one.method for one in cluster.calls if one.plural == "pods" and one.method in ("POST", "DELETE")]
        assert writes[:2] == ["DELETE", "DELETE"]


async def test_a_pod_that_came_in_its_place_is_not_touched(cluster: FakeCluster, start: StartInside) -> None:
    await running(cluster, start)
    cluster.remove("pods", "train-worker-0")
    cluster.put("pods", {"metadata": {"name": "train-worker-0", "uid": "a-stranger"}})
    await until(lambda: status(cluster).get("reason") == "NameTaken", "it says why")
    assert not cluster.get("pods", "train-worker-0")["metadata"].get("labels")
    assert [one.name for one in cluster.asked("DELETE", "pods")] == ["train-worker-1"]


def forgets_labels(cluster: FakeCluster) -> Fault:
    """As an admission webhook may: what was patched is answered without it."""

    async def answer(request: web.Request) -> web.StreamResponse:
        unchanged = cluster.get("pods", request.path.rpartition("/")[2])
        return web.Response(body=msgspec.json.encode(unchanged), content_type="application/json")

    return answer


async def test_labels_that_do_not_stay_are_put_back_again_later(
    cluster: FakeCluster, start: StartInside, capsys: pytest.CaptureFixture[str]
) -> None:
    await running(cluster, start)
    cluster.fail("PATCH", "pods", forgets_labels(cluster), times=3)
    strip(cluster, "train-worker-0")
    await until(lambda: LABEL_JOB in labels(cluster, "train-worker-0"), "its labels")
    assert len(cluster.asked("PATCH", "pods")) == 4
    assert cluster.asked("DELETE", "pods") == []
    assert "do not stay" in capsys.readouterr().out


@pytest.mark.parametrize("uid", ["deleted", "another"])
async def test_of_a_job_that_goes_no_pod_is_asked_for(cluster: FakeCluster, start: StartInside, uid: str) -> None:
    await running(cluster, start)
    if uid == "deleted":
        cluster.change("paddlejobs", "train", {"metadata": {"deletionTimestamp": "2026-05-04T12:00:00Z"}})
    else:
        cluster.remove("paddlejobs", "train")
        put_job(cluster, worker=a_role(1), suspend=True)
    put_job(cluster, "witness", worker=a_role(1))
    await until(lambda: "witness-worker-0" in cluster.names("pods"), "the change was seen")
    cluster.remove("pods", "train-worker-0")
    cluster.remove("pods", "witness-worker-0")
    await until(lambda: len(cluster.asked("POST", "pods")) == 4, "the witness's pod is made again")
    assert {one.name for one in cluster.asked("GET", "pods")} <= {"witness-worker-0"}
