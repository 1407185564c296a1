"""What keeps a gang from being placed by Volcano: the job says why, leaves nothing behind, and goes on afterwards."""

from __future__ import annotations

import pytest

from tests.cluster.api import ApiError
from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import wait_until
from tests.operator.fixtures import StartOperator
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import Desk, Json, a_job
from tests.schedulers.conftest import MakeRoom
from tests.schedulers.gangs import four_pods, role
from tests.schedulers.telling import goes_on, nothing_leaks, placed, says_why
from tests.schedulers.volcano import (
    OVERUSED,
    QUOTA,
    RunningVolcano,
    add_queue,
    groups,
    groups_path,
    tell_queue,
)

SCHEDULER = "volcano"
# Where Volcano says nothing of a group.
SILENT = "volcano has not admitted it yet: does it run, and is its queue open?"
pytestmark = [pytest.mark.timeout(600), pytest.mark.usefixtures("operator", "volcano", "allowed")]
POLICIES = "/apis/admissionregistration.k8s.io/v1"


@pytest.fixture(scope="module")
def control_plane(volcano_plane: ControlPlane) -> ControlPlane:
    return volcano_plane


@pytest.fixture
def operator(start_operator: StartOperator, namespace: str) -> OperatorProcess:
    return start_operator(f"--namespace={namespace}", "--scheduling=volcano")


def test_a_gang_larger_than_the_cluster(desk: Desk, room: MakeRoom) -> None:
    room(3)
    desk.submit(four_pods("large", ends=False))
    says_why(desk, "large", "NotAdmitted", f"PodGroup large: {OVERUSED}")
    assert not placed(desk)
    desk.submit(a_job("small", worker=role(2, ends="succeeded")))
    desk.in_phase("small", "Completed")
    room(1)
    goes_on(desk, "large")
    nothing_leaks(desk, "large", groups_path(desk))


def test_a_queue_that_does_not_exist(desk: Desk, room: MakeRoom) -> None:
    room(4)
    queue = f"{desk.namespace}-later"
    desk.submit(four_pods("job", ends=False, schedulingPolicy={"queue": queue}))
    says_why(desk, "job", "NotAdmitted", f"PodGroup job: {SILENT}")
    add_queue(desk.control_plane, queue, weight=1)
    goes_on(desk, "job")
    nothing_leaks(desk, "job", groups_path(desk))


def test_a_closed_queue(desk: Desk, room: MakeRoom) -> None:
    """Its scheduler takes the PodGroup, its webhook refuses the pods."""
    room(4)
    queue = f"{desk.namespace}-closed"
    add_queue(desk.control_plane, queue, weight=1)
    tell_queue(desk.control_plane, queue, "CloseQueue")
    desk.submit(four_pods("job", ends=False, schedulingPolicy={"queue": queue}))
    says_why(desk, "job", "Invalid", f"can only submit job to queue with state `Open`, queue `{queue}` status is `Clos")
    assert not desk.pods()
    tell_queue(desk.control_plane, queue, "OpenQueue")
    goes_on(desk, "job", timeout=120)
    nothing_leaks(desk, "job", groups_path(desk))


def test_a_queue_that_is_closed_as_later_releases_do_it(desk: Desk, room: MakeRoom) -> None:
    """They refuse the PodGroup itself, in these words."""
    room(4)
    queue = f"{desk.namespace}-shut"
    add_queue(desk.control_plane, queue, weight=1)
    words = f"can only submit PodGroup to queue with state `Open`, queue `{queue}` status is `Closed`"
    close(desk, queue, words)
    try:
        desk.submit(four_pods("job", ends=False, schedulingPolicy={"queue": queue}))
        says_why(desk, "job", "Invalid", words)
        assert not desk.pods()
    finally:
        open_again(desk, queue)
    goes_on(desk, "job", timeout=120)
    nothing_leaks(desk, "job", groups_path(desk))


def test_a_full_queue(desk: Desk, room: MakeRoom) -> None:
    room(8)
    queue = f"{desk.namespace}-full"
    add_queue(desk.control_plane, queue, weight=1, capability={"cpu": "4"})
    for name in ("first", "second"):
        desk.submit(four_pods(name, ends=False, schedulingPolicy={"queue": queue}))
        if name == "first":
            goes_on(desk, name)
    says_why(desk, "second", "NotAdmitted", f"PodGroup second: {QUOTA}")
    desk.finish_workers("first")
    goes_on(desk, "second")
    nothing_leaks(desk, "first", groups_path(desk))


@pytest.mark.parametrize("cpus", [4, 3], ids=["of a running job", "of a job that waits"])
def test_a_group_deleted_by_hand(desk: Desk, room: MakeRoom, cpus: int) -> None:
    room(cpus)
    desk.submit(four_pods("job", ends=False))
    before = wait_until(lambda: groups(desk)["job"])
    if cpus == 4:
        goes_on(desk, "job")
    else:
        says_why(desk, "job", "NotAdmitted")
    desk.api.delete(f"{groups_path(desk)}/job")
    wait_until(lambda: groups(desk)["job"]["metadata"]["uid"] != before["metadata"]["uid"])
    if cpus == 3:
        says_why(desk, "job", "NotAdmitted")
        assert not placed(desk)
        room(1)
    goes_on(desk, "job")
    assert desk.status("job").get("disruptions", 0) == 0
    desk.finish_workers("job")
    desk.in_phase("job", "Completed")
    wait_until(lambda: not groups(desk))


def test_a_scheduler_that_does_not_run(desk: Desk, room: MakeRoom, volcano: RunningVolcano) -> None:
    room(4)
    volcano.scheduler.kill()
    try:
        desk.submit(four_pods("job", ends=False))
        says_why(desk, "job", "NotAdmitted", f"PodGroup job: {SILENT}")
        assert not desk.pods()
    finally:
        volcano.start_scheduler()
    goes_on(desk, "job")
    nothing_leaks(desk, "job", groups_path(desk))


def test_a_job_that_is_deleted_while_it_waits(desk: Desk, room: MakeRoom) -> None:
    room(3)
    desk.submit(four_pods("job"))
    says_why(desk, "job", "NotAdmitted", OVERUSED)
    nothing_leaks(desk, "job", groups_path(desk))


def close(desk: Desk, queue: str, words: str) -> None:
    """Nobody may make PodGroups of this queue: as the webhook of a later Volcano does it."""
    rule = {
        "apiGroups": ["scheduling.volcano.sh"],
        "apiVersions": ["v1beta1"],
        "operations": ["CREATE"],
        "resources": ["podgroups"],
    }
    validation = {"expression": f"object.spec.queue != '{queue}'", "message": words}
    spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": [validation]}
    desk.api.post(f"{POLICIES}/validatingadmissionpolicies", {"metadata": {"name": queue}, "spec": spec})
    binding = {"policyName": queue, "validationActions": ["Deny"]}
    desk.api.post(f"{POLICIES}/validatingadmissionpolicybindings", {"metadata": {"name": queue}, "spec": binding})
    probe = {"kind": "PodGroup", "metadata": {"generateName": "probe-"}, "spec": {"queue": queue}}
    wait_until(lambda: _is_refused(desk, {"apiVersion": "scheduling.volcano.sh/v1beta1", **probe}))


def open_again(desk: Desk, queue: str) -> None:
    desk.api.delete(f"{POLICIES}/validatingadmissionpolicybindings/{queue}")
    desk.api.delete(f"{POLICIES}/validatingadmissionpolicies/{queue}")


def _is_refused(desk: Desk, probe: Json) -> bool:
    try:
        desk.api.post(f"{groups_path(desk)}?dryRun=All", probe)
    except ApiError as error:
        return error.code == 422
    return False
