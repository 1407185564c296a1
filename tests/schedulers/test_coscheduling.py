"""Jobs as gangs on the real scheduler of scheduler-plugins: all pods of a job are placed, or none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster.binaries import Binaries, Coscheduling, find_all
from tests.cluster.control_plane import ControlPlane, Variant
from tests.cluster.fixtures import CRD
from tests.cluster.processes import Process
from tests.cluster.waiting import wait_until
from tests.operator.fixtures import StartOperator
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import Desk, Json, a_job
from tests.schedulers.conftest import MakeRoom
from tests.schedulers.coscheduling import BY_THEN, NAME, crds, start_coscheduling
from tests.schedulers.gangs import (
    assert_came_back_whole,
    assert_one_after_the_other,
    completed,
    first_placed,
    four_pods,
    lose_node,
    pods_path,
    role,
    version_now,
)
from tests.schedulers.history import History
from tests.schedulers.telling import goes_on, nothing_leaks, placed, says_why

SCHEDULER = "coscheduling"
THREE = ("one", "two", "three")
pytestmark = [pytest.mark.timeout(600), pytest.mark.usefixtures("scheduler", "operator", "allowed")]


@pytest.fixture(scope="module")
def programs() -> Coscheduling:
    return find_all(Coscheduling, print)


@pytest.fixture(scope="module")
def control_plane(
    binaries: Binaries, programs: Coscheduling, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    folder = tmp_path_factory.mktemp("coscheduling")
    with ControlPlane(binaries, folder, manifests=[CRD], variant=Variant(kinds=crds(programs), node=False)) as started:
        yield started


@pytest.fixture(scope="module")
def scheduler(control_plane: ControlPlane, programs: Coscheduling) -> Process:
    started, _ = start_coscheduling(control_plane, programs)
    return started


@pytest.fixture
def operator(start_operator: StartOperator, namespace: str) -> OperatorProcess:
    return start_operator(f"--namespace={namespace}", "--scheduling=coscheduling")


def groups_path(desk: Desk) -> str:
    return f"/apis/scheduling.x-k8s.io/v1alpha1/namespaces/{desk.namespace}/podgroups"


def groups(desk: Desk) -> dict[str, Json]:
    return {one["metadata"]["name"]: one for one in desk.api.get(groups_path(desk))["items"]}


def test_three_jobs_run_one_after_the_other(desk: Desk, room: MakeRoom) -> None:
    """They block each other without gang scheduling: tests/schedulers/test_volcano.py."""
    room(6)
    with History(desk.control_plane, pods_path(desk)) as history:
        for name in THREE:
            desk.submit(four_pods(name))
        wait_until(lambda: completed(desk, *THREE), timeout=300)
        assert_one_after_the_other(history.changes(), 4, room=6)
    wait_until(lambda: not groups(desk))


def test_a_gang_larger_than_the_cluster(desk: Desk, room: MakeRoom) -> None:
    room(3)
    desk.submit(four_pods("large", ends=False))
    says_why(desk, "large", "Unschedulable")
    assert not placed(desk)
    desk.submit(a_job("small", worker=role(2, ends="succeeded")))
    desk.in_phase("small", "Completed")
    room(1)
    goes_on(desk, "large", timeout=BY_THEN)
    assert groups(desk)["large"]["spec"]["minMember"] == 4
    nothing_leaks(desk, "large", groups_path(desk))


@pytest.mark.parametrize("cpus", [4, 3], ids=["of a running job", "of a job that waits"])
def test_a_group_deleted_by_hand(desk: Desk, room: MakeRoom, cpus: int) -> None:
    room(cpus)
    desk.submit(four_pods("job", ends=False))
    before = wait_until(lambda: groups(desk)["job"])
    if cpus == 4:
        goes_on(desk, "job")
    else:
        says_why(desk, "job", "Unschedulable")
    desk.api.delete(f"{groups_path(desk)}/job")
    wait_until(lambda: groups(desk)["job"]["metadata"]["uid"] != before["metadata"]["uid"])
    if cpus == 3:
        assert not placed(desk)
        room(1)
    goes_on(desk, "job", timeout=BY_THEN)
    assert desk.status("job").get("disruptions", 0) == 0
    desk.finish_workers("job")
    desk.in_phase("job", "Completed")
    wait_until(lambda: not groups(desk))


def test_a_scheduler_that_does_not_run(desk: Desk, room: MakeRoom, scheduler: Process) -> None:
    room(4)
    scheduler.kill()
    try:
        desk.submit(four_pods("job", ends=False))
        says_why(desk, "job", "SchedulerSilent", "4 pods wait", NAME, within=30)
        assert not placed(desk)
    finally:
        scheduler.start()
    goes_on(desk, "job", timeout=BY_THEN)
    nothing_leaks(desk, "job", groups_path(desk))


def test_a_suspended_job_holds_no_group(desk: Desk, room: MakeRoom) -> None:
    room(4)
    desk.submit(four_pods("job", ends=False))
    goes_on(desk, "job", timeout=BY_THEN)
    before = groups(desk)["job"]["metadata"]["uid"]
    desk.change("job", {"suspend": True})
    desk.in_phase("job", "Suspended")
    wait_until(lambda: not groups(desk) and not desk.pods())
    desk.change("job", {"suspend": False})
    goes_on(desk, "job", timeout=BY_THEN)
    assert groups(desk)["job"]["metadata"]["uid"] != before
    nothing_leaks(desk, "job", groups_path(desk))


def test_a_lost_node_under_a_gang_of_32(desk: Desk, room: MakeRoom) -> None:
    """It comes back whole, and not before there is room for all of it."""
    lost, *_ = room(8, nodes=4)
    with History(desk.control_plane, pods_path(desk)) as history:
        desk.submit(a_job("wide", worker=role(32)))
        desk.in_phase("wide", "Running", timeout=120)
        before = groups(desk)["wide"]["metadata"]["uid"]
        lose_node(desk, lost)
        status = desk.until("wide", lambda status: status.get("attempt") == 1)
        assert (status["disruptions"], status.get("restarts", 0)) == (1, 0)
        says_why(desk, "wide", "Unschedulable", within=60)
        assert not placed(desk)
        too_small = version_now(desk)
        room(8)
        goes_on(desk, "wide", timeout=BY_THEN)
        assert groups(desk)["wide"]["metadata"]["uid"] != before
        changes = history.changes()
    assert first_placed(changes, "1") > too_small
    assert_came_back_whole(changes, "wide", 32)
