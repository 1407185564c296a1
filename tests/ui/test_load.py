"""The page under load, for some seconds; `make ui-load` does it for ten minutes, and at full size."""

from __future__ import annotations

from pathlib import Path

from tests.cli.person import Person
from tests.scenarios.desk import Desk
from tests.ui.browser import Driver
from tests.ui.load import Crowd, looked_at, measure


def test_many_jobs_that_change_all_the_time_leave_the_page_fluid(
    desk: Desk, person: Person, tmp_path: Path, chromium: Driver
) -> None:
    """The bound for the server is wide: with few changes a second, what it does besides counts for more."""
    crowd = Crowd(desk.control_plane, desk.namespace, jobs=60, pods=0)
    with looked_at(person, tmp_path, chromium) as (page, served):
        # Only the rows that a person sees are there: the last ones may be further down.
        page.page.get_by_label("Search jobs").fill(crowd.names[0])
        page.page.get_by_role("link", name=crowd.names[0], exact=True).wait_for()
        page.page.get_by_label("Search jobs").fill("")
        found = measure(crowd, page, served, seconds=6, rate=50)
    assert found.shown
    assert found.blocked.tasks
    assert found.blocked.ms < 100, found
    assert found.core < 0.5, found
