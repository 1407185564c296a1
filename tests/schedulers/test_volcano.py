"""Jobs as gangs on the real Volcano: all pods of a job are placed, or none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml

from tests.cluster.binaries import Binaries, Volcano, find_all
from tests.cluster.control_plane import ControlPlane, Variant
from tests.cluster.fixtures import CRD
from tests.cluster.waiting import wait_until
from tests.docs.typist import ROOT, yaml_blocks
from tests.operator.fixtures import StartOperator
from tests.scenarios.desk import Desk, Json, a_job
from tests.schedulers.conftest import MakeRoom
from tests.schedulers.gangs import (
    ATTEMPT,
    assert_one_after_the_other,
    completed,
    first_placed,
    four_pods,
    is_held,
    make_priorities,
    moments,
    pods_path,
    role,
)
from tests.schedulers.history import Change, History
from tests.schedulers.telling import goes_on, placed, says_why
from tests.schedulers.volcano import GROUP, OVERUSED, RunningVolcano, add_queue, crds

SCHEDULER = "volcano"
DOCUMENTS = ROOT / "tests" / "api" / "seeds"
PAGE = ROOT / "docs" / "gang-scheduling.md"
THREE = ("one", "two", "three")
pytestmark = [pytest.mark.timeout(600), pytest.mark.usefixtures("allowed")]


@pytest.fixture(scope="module")
def programs() -> Volcano:
    return find_all(Volcano, print)


@pytest.fixture(scope="module")
def control_plane(
    binaries: Binaries, programs: Volcano, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    folder = tmp_path_factory.mktemp("volcano")
    with ControlPlane(binaries, folder, manifests=[CRD], variant=Variant(kinds=crds(programs), node=False)) as started:
        yield started


@pytest.fixture(scope="module", autouse=True)
def volcano(control_plane: ControlPlane, programs: Volcano) -> RunningVolcano:
    return RunningVolcano(control_plane, programs)


def groups_path(desk: Desk) -> str:
    return f"{GROUP}/namespaces/{desk.namespace}/podgroups"


def groups(desk: Desk) -> dict[str, Json]:
    return {one["metadata"]["name"]: one for one in desk.api.get(groups_path(desk))["items"]}


def test_three_jobs_block_each_other_without_gang_scheduling(
    desk: Desk, start_operator: StartOperator, room: MakeRoom
) -> None:
    """Room for six pods goes to the servers of all three: no worker ever runs, and nothing that runs ever ends."""
    room(6)
    scheduler = desk.control_plane.scheduler
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


def test_queues_share_as_their_weights_say(
    desk: Desk, start_operator: StartOperator, room: MakeRoom, volcano: RunningVolcano
) -> None:
    """Ten jobs in each of two queues, of which one has three times the other's weight."""
    weights, shares = {"gold": 3, "silver": 1}, {"gold": 6, "silver": 2}
    for name, weight in weights.items():
        add_queue(desk.control_plane, f"{desk.namespace}-{name}", weight=weight)
    room(8)
    for name in (f"{queue}-{number}" for queue in weights for number in range(10)):
        policy = {"queue": f"{desk.namespace}-{name.split('-')[0]}"}
        desk.submit(a_job(name, worker=role(2), schedulingPolicy=policy))
    volcano.scheduler.kill()
    volcano.start_scheduler(overcommit=2.0)
    try:
        start_operator(f"--namespace={desk.namespace}")
        # What comes first may take what nobody else has asked for yet.
        while (held := settled(desk)) != shares:
            finish_one(desk, next(queue for queue in shares if held[queue] > shares[queue]))
        for queue in ("gold", "gold", "silver", "gold", "gold"):
            finish_one(desk, queue)
            assert settled(desk) == shares
        volcano.scheduler.check()
    finally:
        volcano.scheduler.kill()
        volcano.start_scheduler()
    wait_until(lambda: all_finish(desk), timeout=180)


def settled(desk: Desk) -> dict[str, int]:
    """How many pods of each queue are placed, once all room is taken and more of each queue wait.

    Volcano counts for a queue's share only pods that exist, and they exist when it has admitted their group.
    """

    def count() -> dict[str, int]:
        there = [name.split("-")[0] for name, pod in desk.pods().items() if pod["status"]["phase"] != "Succeeded"]
        taken = [name.split("-")[0] for name, pod in desk.pods().items() if is_held(pod)]
        running = [one for one in jobs(desk) if one["status"]["phase"] == "Running"]
        assert (len(taken), len(running)) == (8, 4), taken
        assert all(there.count(queue) > taken.count(queue) for queue in ("gold", "silver")), there
        return {queue: taken.count(queue) for queue in ("gold", "silver")}

    return wait_until(count)


def jobs(desk: Desk) -> list[Json]:
    path = f"/apis/batch.paddlepaddle.org/v1/namespaces/{desk.namespace}/paddlejobs"
    return list(desk.api.get(path)["items"])


def finish_one(desk: Desk, queue: str) -> None:
    running = (one["metadata"]["name"] for one in jobs(desk) if one["status"]["phase"] == "Running")
    name = next(name for name in running if name.startswith(queue))
    desk.finish_workers(name)
    desk.in_phase(name, "Completed")


def all_finish(desk: Desk) -> bool:
    """Ends what runs; whether all twenty are done."""
    for one in jobs(desk):
        if one["status"]["phase"] == "Running":
            desk.finish_workers(one["metadata"]["name"])
    phases = [one["status"]["phase"] for one in jobs(desk)]
    assert phases == ["Completed"] * 20, phases
    return True


def of_the_user(document: str) -> str:
    """wide_and_deep_volcano.yaml as one of the user's documents has it: a job, and a PodGroup of its name."""
    return "---\n".join(file.read_text() for file in sorted(DOCUMENTS.glob(f"{document}-[34]-*.yaml")))


@pytest.mark.parametrize("document", ["000", "004"])
def test_the_users_own_pod_group(desk: Desk, start_operator: StartOperator, room: MakeRoom, document: str) -> None:
    """Word for word, on a cluster that is too small at first.

    What its pods ask for comes from the namespace: pods that ask for nothing are placed by Volcano one by one.
    """
    name, manifest = "wide-ande-deep", of_the_user(document)
    limits = {"limits": [{"type": "Container", "defaultRequest": {"cpu": "1"}}]}
    desk.api.post(f"/api/v1/namespaces/{desk.namespace}/limitranges", {"metadata": {"name": "one"}, "spec": limits})
    room(3)
    start_operator(f"--namespace={desk.namespace}")
    with History(desk.control_plane, pods_path(desk)) as history:
        desk.kubectl("create", "-f", "-", stdin=manifest)
        before = groups(desk)[name]
        says_why(desk, name, "Unschedulable", f"PodGroup {name}: ", "tasks in gang unschedulable")
        room(1)
        goes_on(desk, name)
        assert_one_after_the_other(history.changes(), 4, room=4)
    pods = desk.pods()
    assert len(pods) == 4
    for pod in pods.values():
        assert pod["spec"]["schedulerName"] == "volcano"
        assert pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] == name
    desk.finish_workers(name)
    desk.in_phase(name, "Completed")
    after = groups(desk)[name]
    assert after["spec"] == before["spec"]
    assert after["metadata"].get("ownerReferences") == before["metadata"].get("ownerReferences")
    desk.kubectl("delete", "-f", "-", stdin=manifest)
    wait_until(lambda: not desk.pods() and not groups(desk))


def test_a_job_before_its_users_pod_group(desk: Desk, start_operator: StartOperator, room: MakeRoom) -> None:
    room(4)
    start_operator(f"--namespace={desk.namespace}")
    job, group = (one for one in yaml.safe_load_all(of_the_user("004")))
    desk.submit(job)
    says_why(desk, job["metadata"]["name"], "PodGroupMissing", "create it")
    assert not desk.pods()
    desk.api.post(groups_path(desk), group)
    goes_on(desk, job["metadata"]["name"])


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


def test_the_more_urgent_job_comes_first(desk: Desk, start_operator: StartOperator, room: MakeRoom) -> None:
    """By the priority class of its policy, although it was submitted last."""
    room(4)
    start_operator(f"--namespace={desk.namespace}")
    make_priorities(desk.control_plane, **{f"{desk.namespace}-urgent": 500})
    desk.submit(four_pods("first", ends=False, schedulingPolicy={}))
    goes_on(desk, "first")
    desk.submit(four_pods("patient", ends=False, schedulingPolicy={}))
    says_why(desk, "patient", "NotAdmitted", OVERUSED)
    urgent = {"priorityClass": f"{desk.namespace}-urgent"}
    desk.submit(four_pods("urgent", ends=False, schedulingPolicy=urgent))
    says_why(desk, "urgent", "NotAdmitted", OVERUSED)
    desk.finish_workers("first")
    goes_on(desk, "urgent")
    assert not [name for name in placed(desk) if name.startswith("patient")]


def test_a_lost_node_under_a_gang_of_32(desk: Desk, start_operator: StartOperator, room: MakeRoom) -> None:
    """It comes back whole, and not before there is room for all of it."""
    lost, *_ = room(8, nodes=4)
    start_operator(f"--namespace={desk.namespace}", "--scheduling=volcano")
    with History(desk.control_plane, pods_path(desk), groups_path(desk)) as history:
        desk.submit(a_job("wide", worker=role(32)))
        desk.in_phase("wide", "Running", timeout=120)
        taint = {"key": "test.paddlejob/lost", "effect": "NoExecute"}
        desk.api.merge(f"/api/v1/nodes/{lost}", {"spec": {"unschedulable": True, "taints": [taint]}})
        status = desk.until("wide", lambda status: status.get("attempt") == 1, timeout=60)
        assert (status["disruptions"], status.get("restarts", 0)) == (1, 0)
        says_why(desk, "wide", "Unschedulable", "PodGroup wide: ", "tasks in gang unschedulable", within=60)
        too_small = int(desk.api.get(pods_path(desk))["metadata"]["resourceVersion"])
        room(8)
        goes_on(desk, "wide", timeout=120)
        assert len(placed(desk)) == 32
        changes = history.changes()
    assert_admitted_first(changes, groups_path(desk))
    assert first_placed(changes, "1") > too_small
    pods = [one for one in changes if one.path == pods_path(desk)]
    for rooms in moments(pods):
        assert len([1 for held in rooms.held.values() if held]) <= 1, f"attempts met: {rooms.held}"
    assert {key: len(names) for key, names in rooms.ever.items()} == {("wide", "0"): 32, ("wide", "1"): 32}


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
