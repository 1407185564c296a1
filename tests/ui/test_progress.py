"""How far a job is, on the page: in the list, and on its own page with curves, in both languages."""

from __future__ import annotations

from tests.cluster.waiting import wait_until
from tests.ui.browser import Visitor
from tests.ui.laptop import Laptop

TRAIN = 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo "step $i/3000 loss: 0.$((9999 - i))"; sleep 0.2; done'


def test_a_job_that_tells_how_far_it_is_has_a_bar_and_curves(page: Visitor, laptop: Laptop) -> None:
    laptop.submit("far", TRAIN)
    page.page.get_by_role("columnheader", name="Progress").wait_for()
    row = page.page.locator("tr", has=page.page.get_by_role("link", name="far", exact=True))
    wait_until(lambda: "%" in row.inner_text() and " · " in row.inner_text())
    page.job("far")
    bar = page.page.get_by_role("progressbar", name="Progress")
    bar.wait_for()
    card = page.page.locator(".card.progress")
    wait_until(
        lambda: "of 3000" in card.inner_text() and "loss 0." in card.inner_text() and "left" in card.inner_text()
    )
    page.page.get_by_role("img", name="Loss from step 1 to").wait_for()
    laptop.bench.paddlejob("delete", "--local", "far")


def test_a_job_that_tells_nothing_has_neither(page: Visitor) -> None:
    page.job("hello")
    page.sees("Time line")
    assert page.page.locator(".card.progress").is_hidden()
