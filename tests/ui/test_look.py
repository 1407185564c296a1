"""How the page looks and reads: both languages, both themes, a telephone's width, a screen reader.

Pictures of list and job are kept in build/page; README's own is made here too (`make page-picture`).
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.waiting import wait_until
from tests.ui.browser import NARROW, Visitor
from tests.ui.conftest import Visit
from tests.ui.served import Served
from tools.page_checks import node_modules

README_PICTURE = Path(__file__).parents[2] / "docs" / "page.png"
LOOKS = [(theme, locale) for theme in ("light", "dark") for locale in ("en-US", "zh-CN")]
# axe's ranks of what hinders people.
SERIOUS = ("serious", "critical")


def hindrances(page: Visitor) -> list[str]:
    """What axe finds. It is run by the driver, past the page's policy, which would not let it in."""
    page.page.evaluate((node_modules() / "axe-core" / "axe.min.js").read_text())
    found: dict[str, Any] = page.page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    serious = [one for one in found["violations"] if one["impact"] in SERIOUS]
    return [f"{one['id']}: {node['html'][:120]} {node['failureSummary']}" for one in serious for node in one["nodes"]]


def settled(page: Visitor) -> None:
    page.page.get_by_role("link", name="train", exact=True).wait_for()


@pytest.mark.parametrize(("theme", "locale"), LOOKS)
def test_every_view_can_be_read_in_both_themes_and_languages(
    visit: Visit, served: Served, pictures: Path, theme: str, locale: str
) -> None:
    page = visit(served.address, color_scheme=theme, locale=locale)
    look = f"{theme}-{locale[:2]}"
    chinese = locale == "zh-CN"
    settled(page)
    assert page.page.evaluate("() => document.documentElement.lang") == ("zh-CN" if chinese else "en")
    found = {"list": hindrances(page)}
    page.keep(pictures / f"list-{look}.png")
    page.job("broken")
    page.sees("最先失败的 Pod" if chinese else "What failed first")
    page.page.locator(".pods tbody tr").wait_for()
    found["failed"] = hindrances(page)
    page.keep(pictures / f"failed-{look}.png")
    page.page.keyboard.press("Escape")
    page.job("train")
    page.page.locator(".bar.busy").nth(2).wait_for()
    found["job"] = hindrances(page)
    page.keep(pictures / f"job-{look}.png")
    page.page.keyboard.press("2")
    page.page.locator(".line .text").nth(3).wait_for()
    found["logs"] = hindrances(page)
    page.keep(pictures / f"logs-{look}.png")
    page.page.keyboard.press("3")
    page.sees("PaddleJob")
    found["yaml"] = hindrances(page)
    page.page.keyboard.press("n")
    page.page.locator("textarea").fill("kind: PaddleJob\n")
    page.page.locator(".notes li").first.wait_for()
    found["new"] = hindrances(page)
    page.keep(pictures / f"new-{look}.png")
    assert {view: serious for view, serious in found.items() if serious} == {}


def test_a_telephone_shows_everything_without_a_sideways_scroll(visit: Visit, served: Served, pictures: Path) -> None:
    page = visit(served.address, viewport=NARROW)
    settled(page)

    def fits() -> None:
        width = page.page.evaluate("() => document.documentElement.scrollWidth")
        assert width <= NARROW["width"], (page.page.url, width)

    fits()
    assert hindrances(page) == []
    page.keep(pictures / "narrow-list.png")
    page.job("broken")
    page.page.locator(".pods tbody tr").wait_for()
    fits()
    page.keep(pictures / "narrow-job.png")
    page.tab("Logs")
    page.page.locator(".line .text").first.wait_for()
    fits()
    page.keep(pictures / "narrow-logs.png")
    page.page.get_by_role("link", name="New job").click()
    page.page.locator("textarea").fill("kind: PaddleJob\n")
    page.page.locator(".notes li").first.wait_for()
    fits()
    page.keep(pictures / "narrow-new.png")


def test_language_and_theme_are_chosen_and_kept(visit: Visit, served: Served) -> None:
    page = visit(served.address)
    settled(page)
    page.page.get_by_role("button", name="中文").click()
    page.page.get_by_role("link", name="新建作业").wait_for()
    page.page.get_by_role("button", name="主题").click()
    page.page.get_by_role("button", name="主题").click()
    page.page.reload()
    settled(page)
    page.page.get_by_role("link", name="新建作业").wait_for()
    assert page.page.evaluate("() => document.documentElement.dataset.theme") == "dark"


def test_both_languages_have_every_word(visit: Visit, served: Served) -> None:
    page = visit(served.address)
    settled(page)
    words = page.page.evaluate(
        """async () => {
          const [{ english }, { chinese }] = [await import("/words_en.js"), await import("/words_zh.js")];
          return JSON.stringify([english, chinese]);
        }"""
    )
    english, chinese = json.loads(words)
    assert english.keys() == chinese.keys()
    holes = {word: sorted(_holes(text)) for word, text in english.items()}
    assert {word: sorted(_holes(text)) for word, text in chinese.items()} == holes


def _holes(text: str) -> list[str]:
    return [part.partition("}")[0] for part in text.split("{")[1:]]


def test_the_picture_of_the_readme_is_made(visit: Visit, served: Served, pictures: Path) -> None:
    page = visit(served.address, viewport={"width": 900, "height": 620})
    settled(page)
    page.job("train")
    page.page.locator(".bar.busy").nth(2).wait_for()
    wait_until(lambda: page.page.locator(".events li").count() > 1)
    page.keep(pictures / "readme.png")
    if os.environ.get("PICTURE"):
        page.keep(README_PICTURE)
    assert README_PICTURE.read_bytes().startswith(b"\x89PNG")
    assert README_PICTURE.stat().st_size < 200_000
