"""PodGroups that users make themselves, as their documents have it, on the real Volcano."""

from __future__ import annotations

import pytest
import yaml

from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import wait_until
from tests.docs.typist import ROOT
from tests.operator.fixtures import StartOperator
from tests.scenarios.desk import Desk
from tests.schedulers.conftest import MakeRoom
from tests.schedulers.gangs import assert_one_after_the_other, pods_path
from tests.schedulers.history import History
from tests.schedulers.telling import goes_on, placed, says_why
from tests.schedulers.volcano import groups, groups_path

SCHEDULER = "volcano"
DOCUMENTS = ROOT / "tests" / "api" / "seeds"
pytestmark = [pytest.mark.timeout(600), pytest.mark.usefixtures("volcano", "allowed")]


@pytest.fixture(scope="module")
def control_plane(volcano_plane: ControlPlane) -> ControlPlane:
    return volcano_plane


def of_the_user(document: str) -> str:
    """wide_and_deep_volcano.yaml as one of the user's documents has it: a job, and a PodGroup of its name."""
    return "---\n".join(file.read_text() for file in sorted(DOCUMENTS.glob(f"{document}-[34]-*.yaml")))


def ask_for_one_cpu_each(desk: Desk) -> None:
    limits = {"limits": [{"type": "Container", "defaultRequest": {"cpu": "1"}}]}
    desk.api.post(f"/api/v1/namespaces/{desk.namespace}/limitranges", {"metadata": {"name": "one"}, "spec": limits})


@pytest.mark.parametrize("document", ["000", "004"])
def test_the_users_own_pod_group(desk: Desk, start_operator: StartOperator, room: MakeRoom, document: str) -> None:
    """Word for word, on a cluster that is too small at first.

    What its pods ask for comes from the namespace: pods that ask for nothing are placed by Volcano one by one.
    """
    name, manifest = "wide-ande-deep", of_the_user(document)
    ask_for_one_cpu_each(desk)
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


@pytest.mark.parametrize("cpus", [4, 3], ids=["of a running job", "of a job that waits"])
def test_a_users_group_deleted_by_hand(desk: Desk, start_operator: StartOperator, room: MakeRoom, cpus: int) -> None:
    """It is the user's to make again: a job that runs needs it no more, one that waits says that it is missing."""
    ask_for_one_cpu_each(desk)
    room(cpus)
    start_operator(f"--namespace={desk.namespace}")
    job, group = yaml.safe_load_all(of_the_user("004"))
    name = job["metadata"]["name"]
    desk.api.post(groups_path(desk), group)
    desk.submit(job)
    if cpus == 4:
        goes_on(desk, name)
    else:
        says_why(desk, name, "Unschedulable", "tasks in gang unschedulable")
    desk.api.delete(f"{groups_path(desk)}/{name}")
    if cpus == 3:
        says_why(desk, name, "PodGroupMissing", "create it")
        assert not placed(desk)
        room(1)
        desk.api.post(groups_path(desk), group)
    status = goes_on(desk, name)
    assert (status.get("disruptions", 0), status.get("restarts", 0)) == (0, 0)
    desk.finish_workers(name)
    desk.in_phase(name, "Completed")
    assert {*groups(desk)} == ({name} if cpus == 3 else set())
