"""Jobs as gangs on Kubernetes' own scheduler, from 1.36 on, where an administrator has opened the gates for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.cluster.binaries import Binaries, NewerServers, find_all
from tests.cluster.control_plane import ControlPlane, Variant
from tests.cluster.fixtures import CRD
from tests.cluster.waiting import wait_until
from tests.operator.fixtures import StartOperator
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import Desk, Json, a_job
from tests.schedulers.conftest import MakeRoom
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

API = "/apis/scheduling.k8s.io/v1alpha2"
GATES = ("GenericWorkload", "GangScheduling")
SERVED = ("--runtime-config=scheduling.k8s.io/v1alpha2=true",)
SCHEDULER = "kubernetes"
THREE = ("one", "two", "three")
pytestmark = [pytest.mark.timeout(600), pytest.mark.usefixtures("operator", "allowed")]


@pytest.fixture(scope="module", params=[True], ids=["gates open"])
def control_plane(
    request: pytest.FixtureRequest, binaries: Binaries, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    newer = find_all(NewerServers, print)
    programs = replace(
        binaries,
        kube_apiserver=newer.kube_apiserver_1_36,
        kube_controller_manager=newer.kube_controller_manager_1_36,
        kube_scheduler=newer.kube_scheduler_1_36,
    )
    gates, flags = (GATES, SERVED) if request.param else ((), ())
    folder = tmp_path_factory.mktemp("newer")
    with ControlPlane(
        programs, folder, manifests=[CRD], apiserver_flags=flags, variant=Variant(gates=gates, node=False)
    ) as started:
        yield started


@pytest.fixture
def operator(start_operator: StartOperator, namespace: str) -> OperatorProcess:
    return start_operator(f"--namespace={namespace}", "--scheduling=kubernetes")


def groups_path(desk: Desk) -> str:
    return f"{API}/namespaces/{desk.namespace}/podgroups"


def groups(desk: Desk) -> dict[str, Json]:
    return {one["metadata"]["name"]: one for one in desk.api.get(groups_path(desk))["items"]}


def test_three_jobs_run_one_after_the_other(desk: Desk, room: MakeRoom) -> None:
    """They block each other without gang scheduling: tests/schedulers/test_volcano.py."""
    room(6)
    with History(desk.control_plane, pods_path(desk)) as history:
        for name in THREE:
            desk.submit(four_pods(name))
        wait_until(lambda: completed(desk, *THREE), timeout=180)
        assert_one_after_the_other(history.changes(), 4, room=6)
    wait_until(lambda: not groups(desk))


def test_a_gang_larger_than_the_cluster(desk: Desk, room: MakeRoom) -> None:
    room(3)
    desk.submit(four_pods("large", ends=False))
    says_why(desk, "large", "Unschedulable", "PodGroup large", "pod group is unschedulable")
    assert not placed(desk)
    desk.submit(a_job("small", worker=role(2, ends="succeeded")))
    desk.in_phase("small", "Completed")
    room(1)
    goes_on(desk, "large", timeout=120)
    large = [pod for name, pod in desk.pods().items() if name.startswith("large-")]
    assert [pod["spec"]["schedulingGroup"]["podGroupName"] for pod in large] == ["large"] * 4
    nothing_leaks(desk, "large", groups_path(desk))


@pytest.mark.parametrize("cpus", [4, 3], ids=["of a running job", "of a job that waits"])
def test_a_group_deleted_by_hand(desk: Desk, room: MakeRoom, cpus: int) -> None:
    """Kubernetes keeps it until its pods have ended."""
    room(cpus)
    desk.submit(four_pods("job", ends=False))
    if cpus == 4:
        goes_on(desk, "job")
    else:
        says_why(desk, "job", "Unschedulable", "PodGroup job")
    desk.api.delete(f"{groups_path(desk)}/job")
    if cpus == 3:
        assert not placed(desk)
        room(1)
    goes_on(desk, "job", timeout=120)
    assert len(placed(desk)) == 4
    assert desk.status("job").get("disruptions", 0) == 0
    desk.finish_workers("job")
    desk.in_phase("job", "Completed")
    wait_until(lambda: not groups(desk))


def test_a_scheduler_that_does_not_run(desk: Desk, room: MakeRoom) -> None:
    room(4)
    scheduler = desk.control_plane.scheduler
    scheduler.kill()
    try:
        desk.submit(four_pods("job", ends=False))
        says_why(desk, "job", "SchedulerSilent", "4 pods wait", "of this cluster", within=30)
        assert not placed(desk)
    finally:
        scheduler.start()
    goes_on(desk, "job", timeout=120)
    nothing_leaks(desk, "job", groups_path(desk))


def test_a_suspended_job_holds_no_group(desk: Desk, room: MakeRoom) -> None:
    room(4)
    desk.submit(four_pods("job", ends=False))
    goes_on(desk, "job", timeout=120)
    before = groups(desk)["job"]["metadata"]["uid"]
    desk.change("job", {"suspend": True})
    desk.in_phase("job", "Suspended")
    wait_until(lambda: not groups(desk) and not desk.pods())
    desk.change("job", {"suspend": False})
    goes_on(desk, "job", timeout=120)
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
        goes_on(desk, "wide", timeout=120)
        assert groups(desk)["wide"]["metadata"]["uid"] != before
        changes = history.changes()
    assert first_placed(changes, "1") > too_small
    assert_came_back_whole(changes, "wide", 32)


@pytest.mark.parametrize("control_plane", [False], indirect=True, ids=["gates closed"])
def test_a_cluster_that_would_drop_the_field_silently(desk: Desk, room: MakeRoom) -> None:
    room(4)
    desk.submit(four_pods("job", ends=False))
    says_why(desk, "job", "SchedulerMissing", "podgroups.scheduling.k8s.io")
    assert not desk.pods()
    desk.delete("job")
    wait_until(lambda: desk.gone("job"))
