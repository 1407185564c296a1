"""A scheduler that is installed after the operator: its kinds are picked up, and not asked for in a loop until then."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone

import pytest

from tests.cluster.binaries import Binaries, Volcano, find_all
from tests.cluster.control_plane import ControlPlane, Variant
from tests.cluster.fixtures import CRD
from tests.cluster.waiting import wait_until
from tests.operator.fixtures import StartOperator
from tests.scenarios.desk import Desk, a_job, a_role
from tests.schedulers.conftest import MakeRoom
from tests.schedulers.gangs import four_pods
from tests.schedulers.telling import goes_on, says_why
from tests.schedulers.volcano import GROUP, RunningVolcano, crds

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def control_plane(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """Nobody has installed Volcano here."""
    with ControlPlane(
        binaries, tmp_path_factory.mktemp("bare"), manifests=[CRD], variant=Variant(node=False)
    ) as started:
        yield started


def test_kinds_that_arrive_later_are_picked_up(desk: Desk, start_operator: StartOperator, room: MakeRoom) -> None:
    room(8)
    operator = start_operator(f"--namespace={desk.namespace}")
    begin = datetime.now(timezone.utc)
    desk.submit(four_pods("early", ends=False, schedulingPolicy={}))
    says_why(desk, "early", "SchedulerMissing", "scheduling.volcano.sh")
    desk.submit(a_job("plain", worker=a_role(2, ends="succeeded")))
    desk.in_phase("plain", "Completed")
    assert not [name for name in desk.pods() if name.startswith("early")]
    asked = [call for call in desk.control_plane.audit(since=begin) if call.resource == "podgroups"]
    seconds = (datetime.now(timezone.utc) - begin).total_seconds()
    assert 0 < len(asked) <= 4 + seconds / 2, asked
    said = [line for line in operator.log.read_text().splitlines() if "scheduling.volcano.sh" in line]
    assert len(said) == 1, said
    volcano = find_all(Volcano, print)
    desk.control_plane.install(*crds(volcano))
    RunningVolcano(desk.control_plane, volcano)
    goes_on(desk, "early", timeout=120)
    desk.delete("early")
    groups = f"{GROUP}/namespaces/{desk.namespace}/podgroups"
    wait_until(lambda: desk.gone("early") and not desk.api.get(groups)["items"], timeout=90)
