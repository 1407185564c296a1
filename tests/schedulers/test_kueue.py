"""Jobs in queues of the real Kueue: whole jobs by quota, and why a job waits.

Simulated pods go only when their finalizers are gone, as on a real node: Kueue holds pods by one.
"""

from __future__ import annotations

import pytest

from tests.cluster.control_plane import ControlPlane
from tests.cluster.processes import Process
from tests.cluster.waiting import wait_until
from tests.docs.typist import ROOT, yaml_blocks
from tests.operator.fixtures import StartOperator
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import Desk, a_job
from tests.schedulers.conftest import MakeRoom
from tests.schedulers.gangs import ATTEMPT, assert_one_after_the_other, completed, four_pods, on_kueue, pods_path, role
from tests.schedulers.history import History
from tests.schedulers.kueue import (
    PRIORITIES,
    add_object,
    add_queue,
    change_queue,
    is_idle,
    raise_quota,
    workloads,
)
from tests.schedulers.telling import goes_on, placed, says_why

SCHEDULER = "kueue"
KUEUES_WEBHOOK = "mpod.kb.io"
THREE = ("one", "two", "three")
PREEMPTION = {"withinClusterQueue": "LowerPriority"}
# As the page has it, and what only nodes in racks have.
RACK, RACKED = "cloud.provider.com/topology-rack", "test.paddlejob/racked"
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


def test_whole_jobs_by_quota(desk: Desk) -> None:
    """Three jobs of four pods with quota for six: at no moment do two hold a part each. Their servers go at the end."""
    queue = add_queue(desk.control_plane, desk.namespace, 6)
    with History(desk.control_plane, pods_path(desk)) as history:
        for name in THREE:
            desk.submit(on_kueue(four_pods(name), queue))
        wait_until(lambda: completed(desk, *THREE), timeout=180)
        assert_one_after_the_other(history.changes(), 4, room=6)
    wait_until(lambda: is_idle(desk.control_plane, desk.namespace))


def test_a_second_job_waits_and_says_for_what(desk: Desk) -> None:
    queue = add_queue(desk.control_plane, desk.namespace, 4)
    desk.submit(on_kueue(four_pods("first", ends=False), queue))
    goes_on(desk, "first")
    desk.submit(on_kueue(four_pods("second", ends=False), queue))
    says_why(desk, "second", "NotAdmitted", "insufficient unused quota for cpu in flavor plain, 2 more needed")
    assert len(placed(desk)) == 4
    desk.finish_workers("first")
    desk.in_phase("first", "Completed")
    goes_on(desk, "second")
    desk.finish_workers("second")
    desk.in_phase("second", "Completed")
    wait_until(lambda: is_idle(desk.control_plane, desk.namespace))


def test_preemption_is_a_disruption(desk: Desk) -> None:
    """By the priority class that the label of a job names. The preempted job runs again, from its beginning."""
    queue = add_queue(desk.control_plane, desk.namespace, 4, preemption=PREEMPTION)
    with History(desk.control_plane, pods_path(desk)) as history:
        desk.submit(on_kueue(four_pods("low", ends=False), queue, priority_class="patient"))
        goes_on(desk, "low")
        desk.submit(on_kueue(four_pods("high", ends=False), queue, priority_class="urgent"))
        goes_on(desk, "high", timeout=120)
        status = desk.until("low", lambda status: status.get("disruptions") == 1)
        assert (status.get("restarts", 0), status["attempt"]) == (0, 1)
        assert status["failure"]["reason"] == "WorkloadEvictedDueToPreempted"
        said = {one["type"] for change in history.changes() for one in change.thing["status"].get("conditions", ())}
    assert "TerminationTarget" in said
    assert "DisruptionTarget" not in said
    says_why(desk, "low", "NotAdmitted", "insufficient unused quota")
    assert not [name for name in placed(desk) if name.startswith("low")]
    desk.finish_workers("high")
    desk.in_phase("high", "Completed")
    goes_on(desk, "low", timeout=120)
    assert {pod["metadata"]["labels"][ATTEMPT] for name, pod in desk.pods().items() if name.startswith("low")} == {"1"}
    desk.finish_workers("low")
    desk.in_phase("low", "Completed")
    wait_until(lambda: is_idle(desk.control_plane, desk.namespace))


def test_kueue_that_does_not_run(desk: Desk, kueue: Process) -> None:
    """The API server asks its webhooks about every pod: without an answer there is none."""
    queue = add_queue(desk.control_plane, desk.namespace, 4)
    kueue.kill()
    try:
        desk.submit(on_kueue(four_pods("job", ends=False), queue))
        says_why(desk, "job", "WebhookFailed", KUEUES_WEBHOOK)
        assert not desk.pods()
    finally:
        kueue.start()
    goes_on(desk, "job", timeout=120)
    desk.finish_workers("job")
    desk.in_phase("job", "Completed")
    wait_until(lambda: is_idle(desk.control_plane, desk.namespace))


def test_the_third_job_of_the_page(desk: Desk, room: MakeRoom) -> None:
    """docs/gang-scheduling.md: its priority class counts, and its pods come to one rack, for which it asks."""
    racks = {rack: room(2, nodes=2, labels={RACK: f"{desk.namespace}-{rack}", RACKED: "true"}) for rack in "ab"}
    add_racks(desk)
    desk.kubectl("create", "-f", "-", stdin=yaml_blocks(ROOT / "docs" / "gang-scheduling.md")[2])
    goes_on(desk, "queued")
    (workload,) = workloads(desk.control_plane, desk.namespace)
    assert workload["spec"]["priority"] == PRIORITIES["high"]
    nodes = {*placed(desk).values()}
    assert (len(placed(desk)), nodes in [{*names} for names in racks.values()]) == (4, True), (nodes, racks)
    desk.finish_workers("queued")
    desk.in_phase("queued", "Completed")


def add_racks(desk: Desk) -> None:
    """The queue team-queue, whose flavor are nodes in racks."""
    levels = {"levels": [{"nodeLabel": RACK}, {"nodeLabel": "kubernetes.io/hostname"}]}
    flavor = {"nodeLabels": {RACKED: "true"}, "topologyName": "racks"}
    add_object(desk.control_plane, "Topology", "racks", levels)
    add_object(desk.control_plane, "ResourceFlavor", "racked", flavor)
    add_queue(desk.control_plane, desk.namespace, 8, queue="team-queue", flavor="racked")


def test_a_suspended_job_holds_no_quota(desk: Desk) -> None:
    queue = add_queue(desk.control_plane, desk.namespace, 4)
    desk.submit(on_kueue(four_pods("job", ends=False), queue))
    goes_on(desk, "job")
    desk.change("job", {"suspend": True})
    desk.in_phase("job", "Suspended")
    wait_until(lambda: not desk.pods() and is_idle(desk.control_plane, desk.namespace), timeout=90)
    desk.change("job", {"suspend": False})
    goes_on(desk, "job", timeout=90)


def test_a_queue_that_is_stopped(desk: Desk) -> None:
    queue = add_queue(desk.control_plane, desk.namespace, 4)
    change_queue(desk.control_plane, queue, stopPolicy="Hold")
    desk.submit(on_kueue(four_pods("job", ends=False), queue))
    says_why(desk, "job", "NotAdmitted", f"ClusterQueue {queue} is inactive")
    change_queue(desk.control_plane, queue, stopPolicy="None")
    goes_on(desk, "job")


def test_a_queue_that_does_not_exist(desk: Desk) -> None:
    desk.submit(on_kueue(four_pods("job", ends=False), desk.namespace))
    says_why(desk, "job", "NotAdmitted", f"LocalQueue {desk.namespace} doesn't exist")
    add_queue(desk.control_plane, desk.namespace, 4)
    goes_on(desk, "job")


def test_a_job_larger_than_the_quota(desk: Desk) -> None:
    queue = add_queue(desk.control_plane, desk.namespace, 3)
    desk.submit(on_kueue(four_pods("job", ends=False), queue))
    says_why(desk, "job", "NotAdmitted", "maximum capacity (3)")
    assert not placed(desk)
    desk.submit(on_kueue(a_job("small", worker=role(2, ends="succeeded")), queue))
    desk.in_phase("small", "Completed")
    raise_quota(desk.control_plane, queue, 4)
    goes_on(desk, "job")


def test_a_job_that_another_controller_runs(desk: Desk) -> None:
    """Such as Kueue's own, which hands it to another cluster."""
    queue = add_queue(desk.control_plane, desk.namespace, 4)
    desk.submit(on_kueue(four_pods("theirs", managedBy="kueue.x-k8s.io/multikueue"), queue))
    desk.submit(on_kueue(four_pods("ours"), queue))
    desk.in_phase("ours", "Completed")
    assert not [name for name in desk.pods() if name.startswith("theirs")]
    assert not desk.status("theirs")
