"""Jobs in queues of the real Kueue: whole jobs by quota, and nothing that it keeps for ever.

Simulated pods go only when their finalizers are gone, as on a real node: Kueue holds pods by one.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster.binaries import Binaries, Kueue, find_all
from tests.cluster.control_plane import ControlPlane, Variant
from tests.cluster.fixtures import CRD
from tests.cluster.processes import Process
from tests.cluster.waiting import wait_until
from tests.docs.typist import ROOT, yaml_blocks
from tests.operator.fixtures import StartOperator
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import Desk, Json, a_job
from tests.schedulers.conftest import MakeRoom
from tests.schedulers.gangs import (
    ATTEMPT,
    assert_one_after_the_other,
    completed,
    four_pods,
    on_kueue,
    pods_path,
    role,
)
from tests.schedulers.history import History
from tests.schedulers.kueue import API, Preparation, add_object, add_queue, change_queue, held, workloads
from tests.schedulers.telling import goes_on, placed, says_why

SCHEDULER = "kueue"
KUEUES_WEBHOOK = "mpod.kb.io"
THREE = ("one", "two", "three")
PRIORITIES = {"high": 1000, "urgent": 100, "patient": 10}
PREEMPTION = {"withinClusterQueue": "LowerPriority"}
# As the page has it, and what only nodes in racks have.
RACK, RACKED = "cloud.provider.com/topology-rack", "test.paddlejob/racked"
pytestmark = [pytest.mark.timeout(600), pytest.mark.usefixtures("kueue", "operator", "plenty", "allowed")]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Preparation:
    return Preparation(find_all(Kueue, print), tmp_path_factory.mktemp("kueue"))


@pytest.fixture(scope="module")
def control_plane(
    binaries: Binaries, prepared: Preparation, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    folder = tmp_path_factory.mktemp("cluster")
    with ControlPlane(binaries, folder, manifests=[CRD], variant=Variant(kinds=prepared.crds, node=False)) as started:
        yield started


@pytest.fixture(scope="module")
def kueue(control_plane: ControlPlane, prepared: Preparation) -> Process:
    process = prepared.start(control_plane)
    for name, value in PRIORITIES.items():
        body = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "value": value}
        control_plane.api.post(f"{API}/workloadpriorityclasses", {**body, "metadata": {"name": name}})
    return process


@pytest.fixture
def operator(start_operator: StartOperator, namespace: str) -> OperatorProcess:
    return start_operator(f"--namespace={namespace}")


@pytest.fixture
def plenty(room: MakeRoom) -> None:
    """Room for more than any quota here."""
    room(100)


def is_idle(desk: Desk) -> bool:
    """Whether nobody holds any of the quota, no pod is left that still runs or waits to go, and no group unfinished."""
    assert held(desk.control_plane, desk.namespace) == "0"
    left = {
        name: pod["status"]["phase"]
        for name, pod in desk.pods().items()
        if pod["metadata"].get("deletionTimestamp") or pod["status"]["phase"] not in ("Succeeded", "Failed")
    }
    assert not left, left
    unfinished = [one for one in workloads(desk.control_plane, desk.namespace) if not is_finished(one)]
    return not unfinished


def is_finished(workload: Json) -> bool:
    found = workload.get("status", {}).get("conditions", [])
    return any(one["type"] == "Finished" and one["status"] == "True" for one in found)


def test_whole_jobs_by_quota(desk: Desk) -> None:
    """Three jobs of four pods with quota for six: at no moment do two hold a part each. Their servers go at the end."""
    queue = add_queue(desk.control_plane, desk.namespace, 6)
    with History(desk.control_plane, pods_path(desk)) as history:
        for name in THREE:
            desk.submit(on_kueue(four_pods(name), queue))
        wait_until(lambda: completed(desk, *THREE), timeout=180)
        assert_one_after_the_other(history.changes(), 4, room=6)
    wait_until(lambda: is_idle(desk))


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
    wait_until(lambda: is_idle(desk))


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
    wait_until(lambda: is_idle(desk))


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
        raise_quota(desk, queue, 4)
    goes_on(desk, "job", timeout=120)
    desk.finish_workers("job")
    desk.in_phase("job", "Completed")
    wait_until(lambda: is_idle(desk))


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
    wait_until(lambda: is_idle(desk))


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
    wait_until(lambda: is_idle(desk))


def test_a_failed_job_gives_its_quota_back(desk: Desk) -> None:
    queue = add_queue(desk.control_plane, desk.namespace, 4)
    desk.submit(on_kueue(four_pods("bad", ends=False), queue))
    goes_on(desk, "bad")
    desk.steer("bad-worker-0", ends="failed")
    desk.in_phase("bad", "Failed")
    desk.submit(on_kueue(four_pods("good"), queue))
    desk.in_phase("good", "Completed", timeout=90)
    wait_until(lambda: is_idle(desk))


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
    wait_until(lambda: is_idle(desk))


def test_pods_deleted_by_hand_are_no_success(desk: Desk) -> None:
    """Kueue calls a group whose pods are all gone finished, and even succeeded: 0 of 4."""
    queue = add_queue(desk.control_plane, desk.namespace, 4)
    desk.submit(on_kueue(four_pods("job", ends=False), queue))
    goes_on(desk, "job")
    for pod in desk.pods():
        desk.delete_pod(pod)
    status = desk.until("job", lambda status: status.get("disruptions") == 1)
    assert status["phase"] != "Completed"
    goes_on(desk, "job", timeout=120)
    desk.finish_workers("job")
    desk.in_phase("job", "Completed")
    wait_until(lambda: is_idle(desk))


def test_a_name_that_comes_back(desk: Desk) -> None:
    """Of a job that completed, was deleted, and is submitted once more."""
    queue = add_queue(desk.control_plane, desk.namespace, 4)
    for _ in range(2):
        desk.submit(on_kueue(four_pods("again"), queue))
        desk.in_phase("again", "Completed", timeout=90)
        desk.delete("again", propagationPolicy="Foreground")
        wait_until(lambda: desk.gone("again"), timeout=90)
    wait_until(lambda: not desk.pods() and is_idle(desk))


def test_a_suspended_job_holds_no_quota(desk: Desk) -> None:
    queue = add_queue(desk.control_plane, desk.namespace, 4)
    desk.submit(on_kueue(four_pods("job", ends=False), queue))
    goes_on(desk, "job")
    desk.change("job", {"suspend": True})
    desk.in_phase("job", "Suspended")
    wait_until(lambda: not desk.pods() and is_idle(desk), timeout=90)
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
    raise_quota(desk, queue, 4)
    goes_on(desk, "job")


def raise_quota(desk: Desk, queue: str, cpu: int) -> None:
    groups = desk.api.get(f"{API}/clusterqueues/{queue}")["spec"]["resourceGroups"]
    groups[0]["flavors"][0]["resources"][0]["nominalQuota"] = cpu
    change_queue(desk.control_plane, queue, resourceGroups=groups)


def test_a_job_that_another_controller_runs(desk: Desk) -> None:
    """Such as Kueue's own, which hands it to another cluster."""
    queue = add_queue(desk.control_plane, desk.namespace, 4)
    desk.submit(on_kueue(four_pods("theirs", managedBy="kueue.x-k8s.io/multikueue"), queue))
    desk.submit(on_kueue(four_pods("ours"), queue))
    desk.in_phase("ours", "Completed")
    assert not [name for name in desk.pods() if name.startswith("theirs")]
    assert not desk.status("theirs")
