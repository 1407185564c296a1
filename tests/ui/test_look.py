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
from tests.ui.browser import NARROW, WIDE, Visitor
from tests.ui.conftest import Visit
from tests.ui.laptop import Laptop
from tests.ui.served import Served
from tools.page_checks import node_modules

README_PICTURE = Path(__file__).parents[2] / "docs" / "page.png"
LOOKS = [
    (theme, locale, width)
    for theme in ("light", "dark")
    for locale in ("en-US", "zh-CN")
    for width in (WIDE["width"], NARROW["width"])
]
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


class Eye:
    """Looks at one view after the other: takes a picture, keeps what hinders people, and what does not fit."""

    def __init__(self, page: Visitor, pictures: Path, look: str) -> None:
        self.page = page
        self.found: dict[str, list[str]] = {}
        self._pictures = pictures
        self._look = look

    def at(self, view: str) -> None:
        found = hindrances(self.page)
        wide, room = self.page.page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
        if wide > room:
            found.append(f"{wide} pixels do not fit into {room}")
        if found:
            self.found[view] = found
        self.page.keep(self._pictures / f"{view}-{self._look}.png")


@pytest.mark.parametrize(("theme", "locale", "width"), LOOKS)
def test_every_view_can_be_read_in_both_themes_and_languages_at_every_width(
    visit: Visit, served: Served, pictures: Path, theme: str, locale: str, width: int
) -> None:
    """A telephone shows everything, too, without a sideways scroll."""
    size = NARROW if width == NARROW["width"] else WIDE
    page = visit(served.address, color_scheme=theme, locale=locale, viewport=size)
    chinese = locale == "zh-CN"
    eye = Eye(page, pictures, f"{theme}-{locale[:2]}{'-narrow' if size is NARROW else ''}")
    settled(page)
    assert page.page.evaluate("() => document.documentElement.lang") == ("zh-CN" if chinese else "en")
    look_at_the_list(page, eye)
    look_at_a_failure(page, eye, "最先失败的 Pod" if chinese else "What failed first")
    look_at_a_run(page, eye)
    page.page.keyboard.press("n")
    page.page.locator("textarea").fill("kind: PaddleJob\n")
    page.page.locator(".notes li").first.wait_for()
    eye.at("new")
    page.page.locator("#top").click()
    page.page.keyboard.press("?")
    page.page.get_by_role("dialog").wait_for()
    eye.at("help")
    assert eye.found == {}


def look_at_the_list(page: Visitor, eye: Eye) -> None:
    eye.at("list")
    page.page.locator("#search").fill("no such job")
    page.page.locator(".empty h2").wait_for()
    eye.at("no-match")
    page.page.locator("#search").fill("")


def look_at_a_failure(page: Visitor, eye: Eye, headline: str) -> None:
    page.job("broken")
    page.sees(headline)
    page.page.locator(".pods tbody tr").wait_for()
    eye.at("failed")
    page.page.locator(".danger-quiet").click()
    page.page.get_by_role("dialog").wait_for()
    eye.at("delete")
    page.page.keyboard.press("Escape")
    page.page.get_by_role("dialog").wait_for(state="detached")
    page.page.keyboard.press("Escape")


def look_at_a_run(page: Visitor, eye: Eye) -> None:
    page.job("train")
    page.page.locator(".bar.busy").nth(2).wait_for()
    page.page.locator(".curves svg").nth(1).wait_for()
    eye.at("job")
    page.page.keyboard.press("2")
    page.page.locator(".line .text").nth(3).wait_for()
    page.page.locator("#search").fill("loss")
    page.page.locator("mark").first.wait_for()
    eye.at("logs")
    page.page.keyboard.press("Escape")
    page.page.keyboard.press("3")
    page.page.locator("pre.source", has_text="kind: PaddleJob").wait_for()
    eye.at("yaml")


def test_the_colours_of_logs_can_be_read_in_both_themes(
    laptop: Laptop, served: Served, visit: Visit, pictures: Path
) -> None:
    codes = [*range(30, 38), *range(40, 48), *range(90, 98), *range(100, 108), 1, 2, 3, 4]
    laptop.submit("colours", "".join(rf"printf '\033[{code}mcolour {code}\033[0m plain\n';" for code in codes))
    laptop.bench.ended("colours")
    for theme in ("light", "dark"):
        page = visit(served.address, color_scheme=theme, viewport={"width": 900, "height": 1200})
        page.job("colours")
        page.tab("Logs")
        page.sees(f"{len(codes)} lines, complete")
        eye = Eye(page, pictures, theme)
        eye.at("colours")
        assert eye.found == {}


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
          const words = (name) => import(new URL(name, location));
          const [{ english }, { chinese }] = [await words("words_en.js"), await words("words_zh.js")];
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
    page.page.locator(".curves svg").nth(1).wait_for()
    wait_until(lambda: page.page.locator(".events li").count() > 1)
    page.keep(pictures / "readme.png")
    if os.environ.get("PICTURE"):
        page.keep(README_PICTURE)
    assert README_PICTURE.read_bytes().startswith(b"\x89PNG")
    assert README_PICTURE.stat().st_size < 200_000
