"""Jobs as gangs on the real Volcano: all pods of a job are placed, or none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cluster.binaries import Binaries, Volcano, find_all
from tests.cluster.control_plane import ControlPlane, Variant
from tests.cluster.fixtures import CRD
from tests.cluster.waiting import wait_until
from tests.operator.fixtures import StartOperator
from tests.scenarios.desk import Desk, Json, a_job
from tests.schedulers.conftest import MakeRoom
from tests.schedulers.gangs import (
    ATTEMPT,
    assert_one_after_the_other,
    completed,
    four_pods,
    is_held,
    moments,
    pods_path,
    role,
)
from tests.schedulers.history import Change, History
from tests.schedulers.telling import goes_on, placed, says_why
from tests.schedulers.volcano import GROUP, RunningVolcano, add_queue, crds

EXAMPLE = Path(__file__).parents[2] / "deploy" / "examples" / "wide_and_deep_volcano.yaml"
THREE = ("one", "two", "three")
pytestmark = pytest.mark.timeout(600)


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
        assert_one_after_the_other(history.changes(), 4)
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


def test_the_users_own_pod_group(desk: Desk, start_operator: StartOperator, room: MakeRoom) -> None:
    """deploy/examples/wide_and_deep_volcano.yaml, word for word, on a cluster that is too small at first.

    What its pods ask for comes from the namespace: pods that ask for nothing are placed by Volcano one by one.
    """
    name = "wide-ande-deep"
    limits = {"limits": [{"type": "Container", "defaultRequest": {"cpu": "1"}}]}
    desk.api.post(f"/api/v1/namespaces/{desk.namespace}/limitranges", {"metadata": {"name": "one"}, "spec": limits})
    room(3)
    start_operator(f"--namespace={desk.namespace}")
    desk.kubectl("create", "-f", str(EXAMPLE))
    before = groups(desk)[name]
    says_why(desk, name, "Unschedulable", f"PodGroup {name}")
    assert not placed(desk)
    room(1)
    goes_on(desk, name)
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
    desk.kubectl("delete", "-f", str(EXAMPLE))
    wait_until(lambda: not desk.pods() and not groups(desk))


def test_a_job_before_its_users_pod_group(desk: Desk, start_operator: StartOperator, room: MakeRoom) -> None:
    room(4)
    start_operator(f"--namespace={desk.namespace}")
    job, group = (one for one in yaml.safe_load_all(EXAMPLE.read_text()))
    desk.submit(job)
    says_why(desk, job["metadata"]["name"], "PodGroupMissing", "create it")
    assert not placed(desk)
    desk.api.post(groups_path(desk), group)
    goes_on(desk, job["metadata"]["name"])


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
        says_why(desk, "wide", "Unschedulable", "PodGroup wide", within=60)
        assert not [pod for pod in desk.pods().values() if pod["metadata"]["labels"][ATTEMPT] == "1" and is_held(pod)]
        room(8)
        goes_on(desk, "wide", timeout=120)
        assert len(placed(desk)) == 32
        changes = history.changes()
    assert_admitted_first(changes, pods_path(desk), groups_path(desk))
    assert all(
        len(pods) == 32
        for pods in list(moments(one for one in changes if one.path == pods_path(desk)))[-1].ever.values()
    )


def assert_admitted_first(changes: list[Change], pods: str, groups: str) -> None:
    """Of no attempt was a pod placed before its own group was admitted."""
    admitted: set[str] = set()
    for change in changes:
        attempt = change.thing["metadata"]["labels"][ATTEMPT]
        if change.path == groups and change.thing.get("status", {}).get("phase", "Pending") != "Pending":
            admitted.add(attempt)
        if change.path == pods and is_held(change.thing):
            assert attempt in admitted, change
    assert admitted == {"0", "1"}


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
