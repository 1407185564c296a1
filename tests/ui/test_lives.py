"""The time line of jobs on a cluster: what happened to them, attempt by attempt, as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.person import Person
from tests.cluster.waiting import wait_until
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import Desk, a_job, a_role
from tests.ui.browser import Visitor
from tests.ui.conftest import Visit
from tests.ui.served import serving


@pytest.fixture
def page(person: Person, tmp_path: Path, visit: Visit, operator: OperatorProcess) -> Iterator[Visitor]:
    assert operator.exit_code is None
    with serving(person.env, tmp_path) as shown:
        yield visit(shown.address)


def moments(page: Visitor) -> list[str]:
    """The first words of each."""
    return [str(one).partition(":")[0] for one in page.page.locator(".moments .what").all_inner_texts()]


def without_places(page: Visitor) -> list[str]:
    return [one for one in moments(page) if not one.startswith("All pods placed")]


def until_moments(page: Visitor, *wanted: str) -> None:
    def told() -> bool:
        assert without_places(page) == list(wanted), moments(page)
        return True

    wait_until(told)


def test_every_attempt_is_told_and_why_it_ended(page: Visitor, desk: Desk) -> None:
    """A disruption, which restarts at once; then a failure of the program, which waits; then the end."""
    desk.submit(a_job("train", backoffLimit=1))
    page.job("train")
    begun = ("Created", "Pods are being created", "Started")
    wait_until(lambda: set(begun) <= set(moments(page)))
    page.page.locator(".pods tbody tr").nth(1).wait_for()
    desk.delete_pod("train-worker-1")
    wait_until(lambda: moments(page).count("Started") == 2)
    page.page.locator(".facts div", has_text="Disruptions").get_by_text("1", exact=True).wait_for()
    desk.steer("train-worker-0", ends="failed", exit_code="7")
    page.page.locator(".why", has_text="starts again in").wait_for()
    wait_until(lambda: moments(page).count("Started") == 3)
    page.page.locator(".facts div", has_text="Restarts").get_by_text("1 of 1", exact=True).wait_for()
    page.page.locator(".facts div", has_text="Attempt").get_by_text("3", exact=True).wait_for()
    desk.finish_workers("train")
    page.page.locator(".state", has_text="Completed").wait_for()
    until_moments(page, *begun, "Restarted", "Started", "Restarted", "Started", "Completed")
    why = page.page.locator(".moments .restarted .what").all_inner_texts()
    assert "train-worker-1" in why[0]
    assert "exit code 7" in why[1]
    stages = [str(one.get_attribute("title")).split()[0] for one in page.page.locator(".segment").all()]
    assert [one for one in stages if one != "starting"] == ["waiting", "waiting", "running"] + [
        "waiting",
        "running",
    ] * 2
    page.page.keyboard.press("Escape")
    row = page.page.locator("tr", has=page.page.get_by_role("link", name="train", exact=True))
    row.locator("td.restarts", has_text="1 + 1").wait_for()


def test_a_job_that_is_suspended_and_resumed_says_so(page: Visitor, desk: Desk) -> None:
    desk.submit(a_job("rests", suspend=True))
    page.job("rests")
    until_moments(page, "Created", "Suspended")
    page.page.get_by_role("button", name="Resume").click()
    page.page.get_by_role("dialog").get_by_role("button", name="Resume").click()
    # What the status and the pods say of it is there before the events are.
    until_moments(page, "Created", "Suspended", "Pods are being created", "Started")


def test_pods_have_their_node_state_restarts_and_exit_codes(page: Visitor, desk: Desk) -> None:
    desk.submit(a_job("train", ps=a_role(1)))
    page.job("train")
    page.page.locator(".state", has_text="Running").wait_for()
    desk.steer("train-worker-1", ends="failed", exit_code="137")
    page.page.locator(".state", has_text="Failed").wait_for()
    row = page.page.locator(".pods tbody tr", has_text="train-worker-1")
    row.get_by_text("exit 137").wait_for()
    cells = row.locator("td").all_inner_texts()
    pod = desk.pod("train-worker-1")
    assert cells[2:4] == [pod["spec"]["nodeName"], pod["status"]["podIP"]]
    assert cells[5] == "137"
