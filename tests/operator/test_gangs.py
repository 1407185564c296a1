"""Kinds that not every cluster has: watched when a job needs them, waited for where they are missing."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from tests.kube.fake_server import bookmark, opened, refuses, until
from tests.operator.conftest import StartInside
from tests.operator.fake_cluster import FakeCluster, Json
from tests.operator.worlds import put_job, run, status
from tests.scenarios.desk import a_job, a_role

MANY = 1000
DEFINITION = "podgroups.scheduling.volcano.sh"


def put_gang(cluster: FakeCluster, name: str = "train", **spec: Any) -> Json:
    return put_job(cluster, name, schedulingPolicy={}, **spec)


def admit(cluster: FakeCluster, name: str = "train") -> None:
    cluster.change("podgroups", name, {"status": {"phase": "Inqueue"}})


def without_pod_groups(cluster: FakeCluster) -> None:
    cluster.fail("WATCH", "podgroups", refuses(404, "NotFound", "the server could not find it"), MANY)


def define(cluster: FakeCluster) -> None:
    cluster.allow_all()
    conditions = [{"type": "Established", "status": "True"}]
    cluster.put("customresourcedefinitions", {"metadata": {"name": DEFINITION}, "status": {"conditions": conditions}})


async def test_jobs_without_a_gang_open_no_watch_and_cost_no_call(cluster: FakeCluster, start: StartInside) -> None:
    put_job(cluster)
    await start()
    await until(lambda: len(cluster.names("pods")) == 2, "the pods")
    assert {one.plural for one in cluster.calls if one.method == "WATCH"} == {
        "paddlejobs",
        "pods",
        "services",
        "configmaps",
    }


async def test_pods_come_when_the_group_is_admitted_and_the_group_goes_at_the_end(
    cluster: FakeCluster, start: StartInside
) -> None:
    put_gang(cluster)
    await start()
    await until(lambda: status(cluster).get("reason") == "NotAdmitted", "it says that it waits")
    assert (cluster.names("podgroups"), cluster.names("pods")) == (["train"], [])
    admit(cluster)
    await until(lambda: len(cluster.names("pods")) == 2, "the pods")
    run(cluster)
    await until(lambda: status(cluster).get("phase") == "Running", "Running")
    for name in cluster.names("pods"):
        cluster.change("pods", name, {"status": {"phase": "Succeeded"}})
    await until(lambda: status(cluster).get("phase") == "Completed", "Completed")
    await until(lambda: not cluster.names("podgroups"), "the group is gone")
    assert len(cluster.asked("WATCH", "podgroups")) == 1


async def test_the_group_of_a_user_is_used_when_it_comes(cluster: FakeCluster, start: StartInside) -> None:
    job = put_job(cluster, suspend=True)
    worker = job["spec"]["worker"]
    worker["template"]["spec"]["schedulerName"] = "volcano"
    cluster.change("paddlejobs", "train", {"spec": {"worker": worker, "suspend": False}})
    await start()
    await until(lambda: status(cluster).get("reason") == "PodGroupMissing", "it waits for the group")
    cluster.put("podgroups", {"metadata": {"name": "train"}, "status": {"phase": "Inqueue"}})
    await until(lambda: len(cluster.names("pods")) == 2, "the pods")
    assert not cluster.asked("POST", "podgroups")


async def test_a_group_that_a_user_made_in_the_same_moment_is_the_users(
    cluster: FakeCluster, start: StartInside
) -> None:
    """The watch has not told of it yet: the API server refuses a second one of that name."""

    async def tell_nothing(request: web.Request) -> web.StreamResponse:
        response = await opened(request)
        await response.write(bookmark(1, end=True))
        await cluster.stopping.wait()
        return response

    cluster.fail("WATCH", "podgroups", tell_nothing)
    cluster.put("podgroups", {"metadata": {"name": "train"}, "status": {"phase": "Inqueue"}})
    put_gang(cluster)
    await start()
    await until(lambda: len(cluster.names("pods")) == 2, "the pods")
    assert len(cluster.asked("POST", "podgroups")) == 1


async def test_a_cluster_without_the_kind_is_not_asked_in_a_loop_and_noticed_when_it_has_it(
    cluster: FakeCluster, start: StartInside
) -> None:
    without_pod_groups(cluster)
    put_gang(cluster)
    await start()
    await until(lambda: status(cluster).get("reason") == "SchedulerMissing", "it says so")
    await until(lambda: bool(cluster.asked("WATCH", "customresourcedefinitions")), "the definition is watched")
    put_gang(cluster, "another")
    await until(lambda: status(cluster, "another").get("reason") == "SchedulerMissing", "the second, too")
    assert (len(cluster.asked("WATCH", "podgroups")), len(cluster.asked("WATCH", "customresourcedefinitions"))) == (
        1,
        1,
    )
    define(cluster)
    await until(lambda: cluster.names("podgroups") == ["another", "train"], "the groups are made")
    admit(cluster)
    await until(lambda: len(cluster.names("pods")) == 2, "the pods")


async def test_who_may_not_watch_definitions_asks_rarely(cluster: FakeCluster, start: StartInside) -> None:
    without_pod_groups(cluster)
    cluster.fail("WATCH", "customresourcedefinitions", refuses(403, "Forbidden", "no"), MANY)
    put_gang(cluster)
    await start()
    await until(lambda: len(cluster.asked("WATCH", "podgroups")) == 4, "the fourth time")
    first, *_, last = (one.at for one in cluster.asked("WATCH", "podgroups"))
    assert last - first > 1.7  # half of 0.5 and 1 and 2 s at the least
    define(cluster)
    await until(lambda: cluster.names("podgroups") == ["train"], "it has noticed", seconds=30)


def put_queued(cluster: FakeCluster) -> None:
    job = a_job("train", worker=a_role(2), intranet="Service")
    labels = {"kueue.x-k8s.io/queue-name": "gold"}
    cluster.put("paddlejobs", {**job, "metadata": {**job["metadata"], "labels": labels}})


async def test_an_older_kueue_is_read_in_its_own_version(cluster: FakeCluster, start: StartInside) -> None:
    async def knows_v1beta1_alone(request: web.Request) -> web.StreamResponse:
        asked.append(request.path.split("/")[3])
        return await (cluster.answer(request) if asked[-1] == "v1beta1" else missing(request))

    asked: list[str] = []
    missing = refuses(404, "NotFound", "the server could not find it")
    cluster.fail("WATCH", "workloads", knows_v1beta1_alone, MANY)
    put_queued(cluster)
    await start()
    await until(lambda: len(cluster.names("pods")) == 2, "the pods")
    assert asked == ["v1beta2", "v1beta1"]


async def test_jobs_of_a_queue_wait_for_kueue_where_it_is_not_installed(
    cluster: FakeCluster, start: StartInside
) -> None:
    """Nobody else would hold their pods back."""
    cluster.fail("WATCH", "workloads", refuses(404, "NotFound", "the server could not find it"), MANY)
    put_queued(cluster)
    await start()
    await until(lambda: status(cluster).get("reason") == "SchedulerMissing", "it says so")
    assert not cluster.names("pods")


async def test_without_the_right_to_read_workloads_pods_are_made_all_the_same(
    cluster: FakeCluster, start: StartInside
) -> None:
    cluster.fail("WATCH", "workloads", refuses(403, "Forbidden", "no"), MANY)
    put_queued(cluster)
    await start()
    await until(lambda: len(cluster.names("pods")) == 2, "the pods")


async def test_without_the_right_to_read_groups_a_job_says_so(cluster: FakeCluster, start: StartInside) -> None:
    cluster.fail("WATCH", "podgroups", refuses(403, "Forbidden", "no"), MANY)
    put_gang(cluster)
    await start()
    await until(lambda: status(cluster).get("reason") == "Forbidden", "it says so")
    assert "scheduling-volcano.yaml" in status(cluster)["message"]
    assert not cluster.asked("WATCH", "customresourcedefinitions")
    cluster.allow_all()
    await until(lambda: cluster.names("podgroups") == ["train"], "it has noticed", seconds=30)


async def test_a_scheduler_that_is_removed_is_missing_again(cluster: FakeCluster, start: StartInside) -> None:
    put_gang(cluster)
    await start()
    await until(lambda: status(cluster).get("reason") == "NotAdmitted", "it waits")
    without_pod_groups(cluster)
    cluster.end_watches("podgroups")
    await until(lambda: status(cluster).get("reason") == "SchedulerMissing", "it says so", seconds=30)


async def test_the_words_of_events_are_read(cluster: FakeCluster, start: StartInside) -> None:
    cluster.put("podgroups", {"metadata": {"name": "train", "uid": "known"}, "status": {"phase": "Pending"}})
    said = {"reason": "Unschedulable", "note": "queue resource quota insufficient", "regarding": {"uid": "known"}}
    cluster.put("events", {"metadata": {"name": "said"}, **said})
    put_gang(cluster)
    await start()
    await until(lambda: "quota insufficient" in status(cluster).get("message", ""), "its words")
    assert status(cluster)["reason"] == "NotAdmitted"


async def test_other_words_of_a_scheduler_are_told_within_seconds(cluster: FakeCluster, start: StartInside) -> None:
    """Though nothing else of the status changes."""
    put_queued(cluster)
    await start()
    await until(lambda: len(cluster.names("pods")) == 2, "the pods")
    group = cluster.get("pods", "train-worker-0")["metadata"]["labels"]["kueue.x-k8s.io/pod-group-name"]
    wait = {"type": "QuotaReserved", "status": "False", "reason": "Pending"}
    cluster.put("workloads", {"metadata": {"name": group}, "status": {"conditions": [{**wait, "message": "2 more"}]}})
    await until(lambda: status(cluster).get("message", "").endswith("2 more"), "its words")
    cluster.change("workloads", group, {"status": {"conditions": [{**wait, "message": "1 more"}]}})
    await until(lambda: status(cluster)["message"].endswith("1 more"), "its new words", seconds=15)


async def test_a_job_of_another_controller_gets_nothing(cluster: FakeCluster, start: StartInside) -> None:
    put_gang(cluster, "theirs", managedBy="kueue.x-k8s.io/multikueue")
    cluster.change("paddlejobs", "theirs", {"status": {"phase": "Running"}})
    await start()
    put_job(cluster, "ours")
    await until(lambda: len(cluster.names("pods")) == 2, "the pods of the other")
    assert status(cluster, "theirs") == {"phase": "Running"}
    assert not [one for one in cluster.calls if "theirs" in one.name or one.plural == "podgroups"]
