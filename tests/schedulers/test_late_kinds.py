"""Schedulers that come after the operator: their kinds are picked up, and not asked for in a loop until then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timezone
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from tests.cluster.binaries import Binaries, Coscheduling, Kueue, Volcano, find_all
from tests.cluster.control_plane import ControlPlane, Variant
from tests.cluster.fixtures import CRD
from tests.cluster.waiting import wait_until
from tests.docs.typist import ROOT
from tests.operator.fixtures import StartOperator
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import Desk, a_job, a_role
from tests.schedulers import coscheduling, kueue
from tests.schedulers.conftest import MakeRoom, grant
from tests.schedulers.gangs import four_pods, on_kueue
from tests.schedulers.telling import goes_on, nothing_leaks, placed, says_why
from tests.schedulers.volcano import GROUP, RunningVolcano, crds

SCHEDULER = "volcano"
PODGROUPS = "podgroups.scheduling.volcano.sh"
EXAMPLE = ROOT / "deploy" / "examples" / "wide_and_deep_volcano.yaml"
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def control_plane(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """Nobody has installed a scheduler of gangs here."""
    with ControlPlane(
        binaries, tmp_path_factory.mktemp("bare"), manifests=[CRD], variant=Variant(node=False)
    ) as started:
        yield started


def test_kinds_that_arrive_later_are_picked_up(desk: Desk, start_operator: StartOperator, room: MakeRoom) -> None:
    """Also for the job of a user whose own PodGroup the cluster could not take yet."""
    room(8)
    begin = datetime.now(timezone.utc)
    operator = start_operator(f"--namespace={desk.namespace}")
    job, group = yaml.safe_load_all(EXAMPLE.read_text())
    desk.submit(four_pods("early", ends=False, schedulingPolicy={}))
    says_why(desk, "early", "SchedulerMissing", "scheduling.volcano.sh", "goes on when their scheduler is installed")
    desk.submit(job)
    # Ten seconds and more after its pods were made.
    says_why(desk, job["metadata"]["name"], "SchedulerSilent", "4 pods wait", "the scheduler volcano", within=60)
    desk.submit(a_job("plain", worker=a_role(2, ends="succeeded")))
    desk.in_phase("plain", "Completed")
    assert not [name for name in desk.pods() if name.startswith("early")]
    asked = Counter(
        (call.resource, call.verb)
        for call in desk.control_plane.audit(since=begin)
        if call.resource in ("podgroups", "customresourcedefinitions")
    )
    assert asked == {("podgroups", "watch"): 1, ("customresourcedefinitions", "watch"): 1}
    assert len(said_of(operator, PODGROUPS)) == 1, operator.log.read_text()
    pid, volcano = operator.pid, find_all(Volcano, print)
    desk.control_plane.install(*crds(volcano))
    says_why(desk, job["metadata"]["name"], "PodGroupMissing", "create it")
    RunningVolcano(desk.control_plane, volcano)
    goes_on(desk, "early", timeout=120)
    groups = f"{GROUP}/namespaces/{desk.namespace}/podgroups"
    desk.api.post(groups, group)
    goes_on(desk, job["metadata"]["name"], timeout=120)
    assert operator.pid == pid
    assert operator.exit_code is None
    nothing_leaks(desk, "early", groups)


def said_of(operator: OperatorProcess, what: str) -> list[str]:
    return [line for line in operator.log.read_text().splitlines() if what in line]


def test_whatever_is_missing_is_told_and_picked_up_when_it_comes(
    desk: Desk, start_operator: StartOperator, room: MakeRoom
) -> None:
    """The rights, the kind, and the scheduler itself, in this order."""
    room(4)
    groups = f"/apis/scheduling.x-k8s.io/v1alpha1/namespaces/{desk.namespace}/podgroups"
    operator = start_operator(f"--namespace={desk.namespace}", "--scheduling=coscheduling")
    desk.submit(four_pods("job", ends=False))
    says_why(desk, "job", "Forbidden", "podgroups.scheduling.x-k8s.io", "deploy/v1/scheduling-coscheduling.yaml")
    wait_until(lambda: len(calls_for_groups(desk)) >= 3)
    grant(desk.control_plane, "coscheduling")
    says_why(desk, "job", "SchedulerMissing", "podgroups.scheduling.x-k8s.io", within=60)
    assert not desk.pods()
    times = calls_for_groups(desk)
    pauses = [(after - before).total_seconds() for before, after in pairwise(times)]
    assert all(pause > 0.25 * 2**number for number, pause in enumerate(pauses)), pauses
    programs = find_all(Coscheduling, print)
    desk.control_plane.install(*coscheduling.crds(programs))
    says_why(desk, "job", "SchedulerSilent", "4 pods wait", coscheduling.NAME, within=60)
    assert not placed(desk)
    assert [one["metadata"]["name"] for one in desk.api.get(groups)["items"]] == ["job"]
    coscheduling.start_coscheduling(desk.control_plane, programs)
    goes_on(desk, "job", timeout=coscheduling.BY_THEN)
    assert operator.exit_code is None
    nothing_leaks(desk, "job", groups)


def test_jobs_of_a_queue_wait_for_a_kueue_that_comes_later(
    desk: Desk, start_operator: StartOperator, room: MakeRoom, tmp_path: Path
) -> None:
    """Pods that nobody holds back would run at once, without quota."""
    room(8)
    grant(desk.control_plane, "kueue")
    start_operator(f"--namespace={desk.namespace}")
    desk.submit(on_kueue(four_pods("job", ends=False), desk.namespace))
    says_why(desk, "job", "SchedulerMissing", "workloads.kueue.x-k8s.io")
    assert not desk.pods()
    prepared = kueue.Preparation(find_all(Kueue, print), tmp_path)
    desk.control_plane.install(*prepared.crds)
    prepared.start(desk.control_plane)
    kueue.add_queue(desk.control_plane, desk.namespace, 4)
    goes_on(desk, "job", timeout=120)
    desk.delete("job", propagationPolicy="Foreground")
    wait_until(lambda: desk.gone("job") and not desk.pods(), timeout=90)
    desk.submit(on_kueue(four_pods("next", ends=False), desk.namespace))
    goes_on(desk, "next", timeout=120)
    wait_until(lambda: kueue.held(desk.control_plane, desk.namespace) == "4")


def calls_for_groups(desk: Desk) -> list[datetime]:
    calls = desk.control_plane.audit(namespace=desk.namespace)
    return [call.timestamp for call in calls if call.resource == "podgroups"]
