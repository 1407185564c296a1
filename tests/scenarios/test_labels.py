"""Objects of a job that lost the labels by which the operator watches: nothing is lost, nothing hangs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from paddlejob.api import names as n
from paddlejob.core.config_maps import CONFIG_MAPS
from paddlejob.core.kind import Kind
from paddlejob.core.pods import PODS
from paddlejob.core.services import SERVICES
from tests.cluster.waiting import wait_until
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import IMAGE, Desk, Json, a_job, a_role

LONG = 60
OURS = (n.LABEL_JOB, n.LABEL_RES_NAME, n.LABEL_RES_TYPE, n.LABEL_INDEX, n.LABEL_ATTEMPT)
Names = tuple[str, ...]


def strip(desk: Desk, kind: Kind[Any], name: str, labels: Names = OURS) -> None:
    desk.api.merge(f"{desk.path(kind)}/{name}", {"metadata": {"labels": dict.fromkeys(labels)}})


def labels_of(desk: Desk, kind: Kind[Any], name: str) -> Json:
    return dict(desk.api.get(f"{desk.path(kind)}/{name}")["metadata"].get("labels", {}))


def uids(desk: Desk) -> dict[str, str]:
    return {name: pod["metadata"]["uid"] for name, pod in desk.pods().items()}


def finish_undisturbed(desk: Desk, name: str, pods: dict[str, str]) -> None:
    desk.finish_workers(name)
    status = desk.in_phase(name, "Completed", LONG)
    assert (status.get("disruptions", 0), status.get("restarts", 0)) == (0, 0)
    assert uids(desk) == pods


def running(desk: Desk, name: str, **spec: object) -> dict[str, str]:
    desk.submit(a_job(name, **spec))
    desk.in_phase(name, "Running", LONG)
    return uids(desk)


STRIPPED: dict[str, Names] = {
    "all of them": OURS,
    "the one by which we watch": (n.LABEL_JOB,),
    "the one by which its Service finds it": (n.LABEL_RES_NAME,),
    "the one that tells its attempt": (n.LABEL_ATTEMPT,),
}


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize("labels", STRIPPED.values(), ids=STRIPPED.keys())
def test_a_running_pod_without_labels_gets_them_back_and_the_job_goes_on(desk: Desk, labels: Names) -> None:
    pods = running(desk, "stripped")
    before = labels_of(desk, PODS, "stripped-worker-0")
    strip(desk, PODS, "stripped-worker-0", labels)
    wait_until(lambda: labels_of(desk, PODS, "stripped-worker-0") == before)
    wait_until(lambda: "LabelsMissing" in desk.told("stripped"))
    finish_undisturbed(desk, "stripped", pods)


@pytest.mark.usefixtures("operator")
def test_a_whole_job_without_labels_goes_on(desk: Desk) -> None:
    pods = running(desk, "bare", ps=a_role(1), worker=a_role(3))
    for name in pods:
        strip(desk, PODS, name)
    wait_until(lambda: all(labels_of(desk, PODS, name).get(n.LABEL_JOB) == "bare" for name in pods))
    desk.finish_workers("bare")
    status = desk.in_phase("bare", "Completed", LONG)
    assert not status.get("disruptions")


def test_labels_that_were_removed_while_no_operator_ran_are_put_back(desk: Desk, operator: OperatorProcess) -> None:
    pods = running(desk, "alone")
    before = labels_of(desk, PODS, "alone-worker-1")
    operator.stop()
    strip(desk, PODS, "alone-worker-1")
    operator.start()
    wait_until(lambda: labels_of(desk, PODS, "alone-worker-1") == before)
    finish_undisturbed(desk, "alone", pods)


@pytest.mark.usefixtures("operator")
def test_a_pod_that_is_really_gone_is_lost_all_the_same(desk: Desk) -> None:
    """Deleted by force: the watch tells no more of that than of a removed label."""
    running(desk, "forced")
    desk.api.delete(f"{desk.path(PODS)}/forced-worker-0", gracePeriodSeconds=0)
    status = desk.until("forced", lambda one: one.get("disruptions") and one["phase"] == "Running", LONG)
    assert status["disruptions"] == 1


def an_old_pod(job: Json, name: str) -> Json:
    """As paddle-operator 0.3.5 made it."""
    owner = {"apiVersion": n.API_VERSION, "kind": n.KIND, "name": job["metadata"]["name"]}
    owner |= {"uid": job["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}
    labels = {n.LABEL_RES_NAME: name, n.LABEL_RES_TYPE: "worker"}
    return {
        "metadata": {"name": name, "labels": labels, "ownerReferences": [owner]},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "paddle", "image": IMAGE}]},
    }


def before_it_starts(job: Json) -> Json:
    return job


def while_it_runs(job: Json) -> Json:
    return {**job, "status": {"phase": "Running", "mode": "Collective", "startTime": "2026-05-04T11:00:00Z"}}


@pytest.mark.parametrize("at", [before_it_starts, while_it_runs])
def test_a_pod_that_an_earlier_release_made_is_made_again(
    desk: Desk, operator: OperatorProcess, at: Callable[[Json], Json]
) -> None:
    operator.stop()
    job = desk.submit(a_job("old"))
    desk.api.post(desk.path(PODS), an_old_pod(job, "old-worker-0"))
    old = uids(desk)
    if status := at({}).get("status"):
        path = f"/apis/batch.paddlepaddle.org/v1/namespaces/{desk.namespace}/paddlejobs/old/status"
        desk.api.merge(path, {"status": status})
    operator.start()
    wait_until(lambda: len(desk.pods()) == 2 and not set(uids(desk).values()) & set(old.values()), LONG)
    desk.in_phase("old", "Running", LONG)
    assert "UnknownPod" in desk.told("old")
    desk.finish_workers("old")
    desk.in_phase("old", "Completed", LONG)


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize(
    ("kind", "name"), [(SERVICES, "named-worker-0"), (CONFIG_MAPS, "named")], ids=["a Service", "the ConfigMap"]
)
def test_other_objects_without_labels_get_them_back(desk: Desk, kind: Kind[Any], name: str) -> None:
    pods = running(desk, "named", intranet="Service", worker=a_role(2, starts="at-once"))
    before = desk.api.get(f"{desk.path(kind)}/{name}")
    strip(desk, kind, name)
    wait_until(lambda: labels_of(desk, kind, name) == before["metadata"]["labels"])
    after = desk.api.get(f"{desk.path(kind)}/{name}")
    assert {**after, "metadata": 0} == {**before, "metadata": 0}
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    finish_undisturbed(desk, "named", pods)
