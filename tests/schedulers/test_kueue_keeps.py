"""What Kueue keeps: pods by a finalizer, quota by pods that ended, names by groups that finished. None of it is left
when a job restarts, ends or is deleted.

Simulated pods go only when their finalizers are gone, as on a real node.
"""

from __future__ import annotations

import pytest

from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import wait_until
from tests.operator.fixtures import StartOperator
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import Desk, a_job
from tests.schedulers.conftest import MakeRoom
from tests.schedulers.gangs import (
    assert_came_back_whole,
    first_placed,
    four_pods,
    lose_node,
    on_kueue,
    pods_path,
    role,
    version_now,
)
from tests.schedulers.history import History
from tests.schedulers.kueue import API, add_queue, finished, is_idle, raise_quota, workloads
from tests.schedulers.telling import goes_on, placed, says_why

SCHEDULER = "kueue"
# The nodes of one test, for pods that must not go to the node with plenty of room.
OF_TEST = "test.paddlejob/of"
pytestmark = [pytest.mark.timeout(600), pytest.mark.usefixtures("kueue", "operator", "plenty", "allowed")]


@pytest.fixture(scope="module")
def control_plane(kueue_plane: ControlPlane) -> ControlPlane:
    return kueue_plane


@pytest.fixture
def operator(start_operator: StartOperator, namespace: str) -> OperatorProcess:
    return start_operator(f"--namespace={namespace}")


@pytest.fixture
def plenty(room: MakeRoom) -> None:
    """Room for more than any quota here."""
    room(100)


def groups_path(desk: Desk) -> str:
    return f"{API}/namespaces/{desk.namespace}/workloads"


def jobs_path(desk: Desk) -> str:
    return f"/apis/batch.paddlepaddle.org/v1/namespaces/{desk.namespace}/paddlejobs"


@pytest.mark.parametrize("quota", [4, 2], ids=["of a job that runs", "of a job that waits"])
def test_a_workload_deleted_by_hand(desk: Desk, quota: int) -> None:
    """Kueue deletes its pods, which is a disruption: the job starts over."""
    queue = add_queue(desk.control_plane, desk.namespace, quota)
    desk.submit(on_kueue(four_pods("job", ends=False), queue))
    if quota == 4:
        goes_on(desk, "job")
    else:
        says_why(desk, "job", "NotAdmitted", "maximum capacity (2)")
    (workload,) = workloads(desk.control_plane, desk.namespace)
    desk.api.delete(f"{API}/namespaces/{desk.namespace}/workloads/{workload['metadata']['name']}")
    status = desk.until("job", lambda status: status.get("attempt") == 1)
    assert (status["disruptions"], status.get("restarts", 0)) == (1, 0)
    if quota == 2:
        says_why(desk, "job", "NotAdmitted", "maximum capacity (2)", within=60)
        raise_quota(desk.control_plane, queue, 4)
    goes_on(desk, "job", timeout=120)
    desk.finish_workers("job")
    desk.in_phase("job", "Completed")
    wait_until(lambda: is_idle(desk.control_plane, desk.namespace))


@pytest.mark.parametrize("quota", [4, 2], ids=["that runs", "that waits"])
@pytest.mark.parametrize("how", ["Foreground", "Background"])
def test_a_deleted_job_goes(desk: Desk, quota: int, how: str) -> None:
    queue = add_queue(desk.control_plane, desk.namespace, quota)
    desk.submit(on_kueue(four_pods("job", ends=False), queue))
    if quota == 4:
        goes_on(desk, "job")
    else:
        says_why(desk, "job", "NotAdmitted", "maximum capacity (2)")
    desk.delete("job", propagationPolicy=how)
    wait_until(lambda: desk.gone("job") and not desk.pods(), timeout=90)
    wait_until(lambda: is_idle(desk.control_plane, desk.namespace))


def test_a_failed_job_gives_its_quota_back(desk: Desk) -> None:
    queue = add_queue(desk.control_plane, desk.namespace, 4)
    desk.submit(on_kueue(four_pods("bad", ends=False), queue))
    goes_on(desk, "bad")
    desk.steer("bad-worker-0", ends="failed")
    desk.in_phase("bad", "Failed")
    desk.submit(on_kueue(four_pods("good"), queue))
    desk.in_phase("good", "Completed", timeout=90)
    wait_until(lambda: is_idle(desk.control_plane, desk.namespace))


def test_a_restarted_job_gets_its_pods_again(desk: Desk) -> None:
    """Under the same names, although Kueue keeps failed pods until they are replaced."""
    queue = add_queue(desk.control_plane, desk.namespace, 4)
    desk.submit(on_kueue(four_pods("job", ends=False, backoffLimit=1), queue))
    goes_on(desk, "job")
    before = {name: pod["metadata"]["uid"] for name, pod in desk.pods().items()}
    desk.steer("job-worker-1", ends="failed")
    desk.until("job", lambda status: status.get("attempt") == 1)
    goes_on(desk, "job", timeout=120)
    after = {name: pod["metadata"]["uid"] for name, pod in desk.pods().items()}
    assert set(after) == set(before)
    assert not set(after.values()) & set(before.values())
    desk.finish_workers("job")
    desk.in_phase("job", "Completed")
    wait_until(lambda: is_idle(desk.control_plane, desk.namespace))


def test_pods_deleted_by_hand_are_no_success(desk: Desk) -> None:
    """Kueue calls a group whose pods are all gone finished, and even succeeded: 0 of 4."""
    queue = add_queue(desk.control_plane, desk.namespace, 4)
    with History(desk.control_plane, groups_path(desk), jobs_path(desk)) as history:
        desk.submit(on_kueue(four_pods("job", ends=False), queue))
        goes_on(desk, "job")
        for pod in desk.pods():
            desk.delete_pod(pod)
        desk.until("job", lambda status: status.get("disruptions") == 1)
        goes_on(desk, "job", timeout=120)
        said = [finished(change.thing) for change in history.of(groups_path(desk))]
        phases = {change.thing.get("status", {}).get("phase") for change in history.of(jobs_path(desk))}
    assert ("Succeeded", "Pods succeeded: 0/4.") in said
    assert not phases & {"Completed", "Failed"}
    desk.finish_workers("job")
    desk.in_phase("job", "Completed")
    wait_until(lambda: is_idle(desk.control_plane, desk.namespace))


def test_a_lost_node_under_a_gang_of_32(desk: Desk, room: MakeRoom) -> None:
    """It waits for quota as a new group and comes back whole."""
    queue = add_queue(desk.control_plane, desk.namespace, 32)
    lost, *_ = room(8, nodes=4, labels={OF_TEST: desk.namespace})
    workers = role(32, pod={"nodeSelector": {OF_TEST: desk.namespace}})
    with History(desk.control_plane, pods_path(desk), groups_path(desk)) as history:
        desk.submit(on_kueue(a_job("wide", worker=workers), queue))
        desk.in_phase("wide", "Running", timeout=120)
        raise_quota(desk.control_plane, queue, 31)
        room(8, labels={OF_TEST: desk.namespace})
        lose_node(desk, lost)
        status = desk.until("wide", lambda status: status.get("attempt") == 1)
        assert (status["disruptions"], status.get("restarts", 0)) == (1, 0)
        says_why(desk, "wide", "NotAdmitted", "maximum capacity (31)", within=60)
        assert not placed(desk)
        too_small = version_now(desk)
        raise_quota(desk.control_plane, queue, 32)
        goes_on(desk, "wide", timeout=120)
        changes = history.changes()
    assert first_placed(changes, "1") > too_small
    assert_came_back_whole([one for one in changes if one.path == pods_path(desk)], "wide", 32)
    assert len({one.name for one in changes if one.path == groups_path(desk)}) == 2
    desk.finish_workers("wide")
    desk.in_phase("wide", "Completed", timeout=120)
    wait_until(lambda: is_idle(desk.control_plane, desk.namespace))


def test_a_name_that_comes_back(desk: Desk) -> None:
    """Of a job that completed, was deleted, and is submitted once more."""
    queue = add_queue(desk.control_plane, desk.namespace, 4)
    for _ in range(2):
        desk.submit(on_kueue(four_pods("again"), queue))
        desk.in_phase("again", "Completed", timeout=90)
        desk.delete("again", propagationPolicy="Foreground")
        wait_until(lambda: desk.gone("again"), timeout=90)
    wait_until(lambda: not desk.pods() and is_idle(desk.control_plane, desk.namespace))
