"""Queues of the real Volcano: shares by weight, and who comes first."""

from __future__ import annotations

import pytest

from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import wait_until
from tests.operator.fixtures import StartOperator
from tests.scenarios.desk import Desk, Json, a_job
from tests.schedulers.conftest import MakeRoom
from tests.schedulers.gangs import four_pods, is_held, make_priorities, role
from tests.schedulers.telling import goes_on, placed, says_why
from tests.schedulers.volcano import OVERUSED, RunningVolcano, add_queue

SCHEDULER = "volcano"
pytestmark = [pytest.mark.timeout(600), pytest.mark.usefixtures("volcano", "allowed")]


@pytest.fixture(scope="module")
def control_plane(volcano_plane: ControlPlane) -> ControlPlane:
    return volcano_plane


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
