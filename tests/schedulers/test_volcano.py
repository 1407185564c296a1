"""Jobs as gangs on the real Volcano: all pods of a job are placed, or none."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.cluster.control_plane import OPERATOR_NAMESPACE, ControlPlane
from tests.cluster.waiting import wait_until
from tests.docs.typist import ROOT, yaml_blocks
from tests.etcd.server import EtcdServer
from tests.operator.fixtures import MANIFEST, StartOperator
from tests.operator.process import ACCOUNT
from tests.scenarios.desk import Desk, a_job
from tests.schedulers.conftest import MakeRoom
from tests.schedulers.gangs import (
    ATTEMPT,
    assert_came_back_whole,
    assert_one_after_the_other,
    completed,
    first_placed,
    four_pods,
    lose_node,
    moments,
    pods_path,
    role,
    version_now,
)
from tests.schedulers.history import Change, History
from tests.schedulers.telling import goes_on, placed, says_why
from tests.schedulers.volcano import OVERUSED, groups, groups_path

SCHEDULER = "volcano"
PAGE = ROOT / "docs" / "gang-scheduling.md"
THREE = ("one", "two", "three")
pytestmark = [pytest.mark.timeout(600), pytest.mark.usefixtures("volcano", "allowed")]


@pytest.fixture(scope="module")
def control_plane(volcano_plane: ControlPlane) -> ControlPlane:
    return volcano_plane


def test_three_jobs_block_each_other_without_gang_scheduling(
    desk: Desk, start_operator: StartOperator, room: MakeRoom
) -> None:
    """Room for six pods goes to the servers of all three: no worker ever runs, and nothing that runs ever ends. What
    the next test asks of the history does not hold here."""
    room(6)
    scheduler = desk.control_plane.scheduler
    with History(desk.control_plane, pods_path(desk)) as history:
        scheduler.kill()
        try:
            start_operator(f"--namespace={desk.namespace}")
            for name in THREE:
                desk.submit(four_pods(name))
            wait_until(lambda: len(desk.pods()) == 12)
        finally:
            scheduler.start()
        for name in THREE:
            says_why(desk, name, "Unschedulable", "Insufficient cpu", within=60)
        assert set(placed(desk)) == {f"{name}-ps-{index}" for name in THREE for index in range(2)}
        with pytest.raises(AssertionError, match="held a part each"):
            assert_one_after_the_other(history.changes(), 4, room=6)


def test_three_jobs_run_one_after_the_other(desk: Desk, start_operator: StartOperator, room: MakeRoom) -> None:
    """The same jobs in the same room."""
    room(6)
    with History(desk.control_plane, pods_path(desk)) as history:
        for name in THREE:
            desk.submit(four_pods(name))
        start_operator(f"--namespace={desk.namespace}", "--scheduling=volcano")
        wait_until(lambda: completed(desk, *THREE), timeout=120)
        assert_one_after_the_other(history.changes(), 4, room=6)
    wait_until(lambda: not groups(desk))


def test_the_second_job_of_the_page(desk: Desk, start_operator: StartOperator, room: MakeRoom) -> None:
    """docs/gang-scheduling.md."""
    room(6)
    start_operator(f"--namespace={desk.namespace}")
    desk.kubectl("create", "-f", "-", stdin=yaml_blocks(PAGE)[1])
    says_why(desk, "resnet", "NotAdmitted", OVERUSED)
    assert not desk.pods()
    room(4)
    goes_on(desk, "resnet")
    (group,) = groups(desk).values()
    asked = {"queue": "default", "priorityClassName": "system-cluster-critical", "minMember": 2}
    assert {field: group["spec"][field] for field in asked} == asked
    desk.finish_workers("resnet")
    desk.in_phase("resnet", "Completed")
    wait_until(lambda: not groups(desk))


def test_fewer_pods_than_all_may_begin(desk: Desk, start_operator: StartOperator, room: MakeRoom) -> None:
    room(3)
    start_operator(f"--namespace={desk.namespace}")
    with History(desk.control_plane, pods_path(desk)) as history:
        desk.submit(four_pods("job", ends=False, schedulingPolicy={"minAvailable": 4}))
        desk.submit(four_pods("fewer", ends=False, schedulingPolicy={"minAvailable": 3}))
        wait_until(lambda: len(placed(desk)) == 3)
        says_why(desk, "fewer", "Unschedulable")
        says_why(desk, "job", "NotAdmitted", OVERUSED)
        ((job, _),) = list(moments(history.changes()))[-1].ever
    assert job == "fewer"


def test_a_lost_node_under_a_gang_of_32(desk: Desk, start_operator: StartOperator, room: MakeRoom) -> None:
    """It comes back whole, and not before there is room for all of it."""
    lost, *_ = room(8, nodes=4)
    start_operator(f"--namespace={desk.namespace}", "--scheduling=volcano")
    with History(desk.control_plane, pods_path(desk), groups_path(desk)) as history:
        desk.submit(a_job("wide", worker=role(32)))
        desk.in_phase("wide", "Running", timeout=120)
        lose_node(desk, lost)
        status = desk.until("wide", lambda status: status.get("attempt") == 1, timeout=60)
        assert (status["disruptions"], status.get("restarts", 0)) == (1, 0)
        says_why(desk, "wide", "Unschedulable", "PodGroup wide: ", "tasks in gang unschedulable", within=60)
        too_small = version_now(desk)
        room(8)
        goes_on(desk, "wide", timeout=120)
        assert len(placed(desk)) == 32
        changes = history.changes()
    assert_admitted_first(changes, groups_path(desk))
    assert first_placed(changes, "1") > too_small
    assert_came_back_whole([one for one in changes if one.path == pods_path(desk)], "wide", 32)


def assert_admitted_first(changes: list[Change], groups: str) -> None:
    """Of no attempt was a pod placed before its own group was admitted."""
    admitted: dict[str, int] = {}
    for change in changes:
        if change.path == groups and change.thing.get("status", {}).get("phase", "Pending") != "Pending":
            admitted.setdefault(change.thing["metadata"]["labels"][ATTEMPT], change.version)
    assert {*admitted} == {"0", "1"}
    assert all(first_placed(changes, attempt) > version for attempt, version in admitted.items())


def test_what_is_left_of_a_job(desk: Desk, start_operator: StartOperator, room: MakeRoom) -> None:
    """A group goes with the job's end, with its suspension and with the job; a job that goes on has a new one."""
    room(4)
    start_operator(f"--namespace={desk.namespace}", "--scheduling=volcano")
    desk.submit(four_pods("job", ends=False))
    goes_on(desk, "job")
    (group,) = groups(desk).values()
    assert (group["spec"]["minMember"], group["spec"]["minResources"]["cpu"]) == (4, "4")
    desk.change("job", {"suspend": True})
    desk.in_phase("job", "Suspended")
    wait_until(lambda: not groups(desk) and not desk.pods())
    desk.change("job", {"suspend": False})
    goes_on(desk, "job")
    assert groups(desk)["job"]["metadata"]["uid"] != group["metadata"]["uid"]
    desk.delete("job", propagationPolicy="Foreground")
    wait_until(lambda: desk.nothing_left("job") and not groups(desk))


def test_an_elastic_job_begins_with_its_least_and_grows(
    desk: Desk, start_operator: StartOperator, room: MakeRoom, etcd: EtcdServer
) -> None:
    """Its group asks for the least workers that it can begin with, and stays when one is replaced alone."""
    room(1)
    start_operator(f"--namespace={desk.namespace}", f"--etcd-server={etcd.address}")
    workers = {**role(3), "requests": 2, "limits": 4}
    desk.submit(a_job("grow", elastic=1, worker=workers, schedulingPolicy={}))
    says_why(desk, "grow", "NotAdmitted", OVERUSED)
    assert not desk.pods()
    room(1)
    status = desk.in_phase("grow", "Running")
    assert (status["worker"]["ready"], len(placed(desk))) == ("2/3", 2)
    (group,) = groups(desk).values()
    assert (group["spec"]["minMember"], group["spec"]["minResources"]) == (2, {"cpu": "2"})
    room(2)
    desk.until("grow", lambda status: status["worker"]["ready"] == "3/3")
    desk.kubectl("scale", "pdj/grow", "--replicas=4")
    desk.until("grow", lambda status: status["worker"]["ready"] == "4/4")
    before = {name: pod["metadata"]["uid"] for name, pod in desk.pods().items()}
    desk.delete_pod("grow-worker-3")
    wait_until(lambda: desk.pod("grow-worker-3")["metadata"]["uid"] != before["grow-worker-3"])
    desk.until("grow", lambda status: status["worker"]["ready"] == "4/4")
    after = {name: pod["metadata"]["uid"] for name, pod in desk.pods().items()}
    assert [name for name in after if after[name] != before[name]] == ["grow-worker-3"]
    assert [one["metadata"]["uid"] for one in groups(desk).values()] == [group["metadata"]["uid"]]


def test_an_operator_for_one_namespace_needs_its_rights_there_only(
    desk: Desk, start_operator: StartOperator, room: MakeRoom, tmp_path: Path
) -> None:
    """As docs/gang-scheduling.md says: the ClusterRole of the manifest, bound by a RoleBinding."""
    room(4)
    manifest = (MANIFEST.parent / "operator-namespaced.yaml").read_text().replace(OPERATOR_NAMESPACE, desk.namespace)
    rights = [one for one in yaml.safe_load_all(manifest) if one["kind"] in ("ServiceAccount", "Role", "RoleBinding")]
    desk.kubectl("apply", "-f", "-", stdin=yaml.safe_dump_all(rights))
    account = f"--serviceaccount={desk.namespace}:{ACCOUNT}"
    desk.kubectl("create", "rolebinding", "gangs", "--clusterrole=paddle-operator-volcano", account)
    token = desk.control_plane.token_for(ACCOUNT, desk.namespace)
    kubeconfig = desk.control_plane.kubeconfig(tmp_path / "kubeconfig", token=token, namespace=desk.namespace)
    operator = start_operator(f"--namespace={desk.namespace}", "--scheduling=volcano", kubeconfig=kubeconfig)
    desk.submit(four_pods("job"))
    desk.in_phase("job", "Completed")
    wait_until(lambda: not groups(desk))
    assert "cannot be watched" not in operator.log.read_text()
