"""How far a job is, on the page: in the list, and on its own page with curves, in both languages."""

from __future__ import annotations

import pytest

from tests.cluster.waiting import wait_until
from tests.ui.browser import Visitor
from tests.ui.conftest import Visit
from tests.ui.served import Served

WORDS = {
    "en-US": ("Progress", ("of 6000", "loss 0.", "steps/s", "left"), ("Loss from step 1 to", "Steps per second from")),
    "zh-CN": ("进度", ("/ 6000 步", "损失 0.", "steps/s", "剩余"), ("损失，第 1 步到", "每秒步数，第 1 步到")),
}


@pytest.mark.parametrize("locale", WORDS)
def test_a_job_that_tells_how_far_it_is_has_a_bar_and_curves(served: Served, visit: Visit, locale: str) -> None:
    name, words, curves = WORDS[locale]
    page = visit(served.address, locale=locale)
    page.page.get_by_role("columnheader", name=name).wait_for()
    row = page.page.locator("tr", has=page.page.get_by_role("link", name="train", exact=True))
    wait_until(lambda: "%" in row.inner_text() and " · " in row.inner_text())
    page.job("train")
    page.page.get_by_role("progressbar", name=name).wait_for()
    card = page.page.locator(".card.progress")
    wait_until(lambda: all(one in card.inner_text() for one in words))
    for one in curves:
        page.page.get_by_role("img", name=one).wait_for()


def test_a_job_that_tells_nothing_has_neither(page: Visitor) -> None:
    page.job("hello")
    page.page.locator(".pods tbody tr").first.wait_for()
    assert page.page.locator(".card.progress").is_hidden()
