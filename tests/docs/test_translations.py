"""The two halves of each page say the same, each in its own language, and no half is older than the other.

Every block of code is the same in both, letter for letter: the tests that run the English pages run the Chinese ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.typist import ROOT, commands
from tools import translations
from tools.markdown import BLOCK, LINK, SPAN, cells, sections, units
from tools.translations import Halves, every, older, stamp, strays, troubles

PAGES = every()
GLOSSARY = "## English and Chinese"
WIDE = r"[\u4e00-\u9fff]"


def names(pair: Halves) -> str:
    return pair.english


@pytest.mark.parametrize("pair", PAGES, ids=names)
def test_the_halves_of_a_page_agree_and_none_is_older(pair: Halves) -> None:
    assert troubles(pair) == []


@pytest.mark.parametrize("pair", PAGES, ids=names)
def test_every_block_of_code_is_the_same_in_both_halves(pair: Halves) -> None:
    english, chinese = ROOT / pair.english, ROOT / pair.chinese
    assert BLOCK.findall(english.read_text()) == BLOCK.findall(chinese.read_text())
    assert commands(english) == commands(chinese)


def test_no_chinese_page_is_without_an_english_one() -> None:
    assert strays() == []


def test_what_is_only_in_english_is_there() -> None:
    assert not [one for one in translations.ENGLISH_ONLY if not (ROOT / one).is_file()]


# How Chinese is set here.


def prose(pair: Halves) -> Iterator[tuple[int, str]]:
    """Every line outside code, with code spans as one letter and links as their words."""
    text = BLOCK.sub(lambda block: "\n" * block[0].count("\n"), (ROOT / pair.chinese).read_text())
    lines = enumerate(text.split("\n<!--", maxsplit=1)[0].splitlines(), start=1)
    return ((number, LINK.sub("]", SPAN.sub("x", line))) for number, line in lines)


@pytest.mark.parametrize("pair", PAGES, ids=names)
def test_chinese_is_set_as_contributing_says(pair: Halves) -> None:
    half_width = re.compile(rf"{WIDE}\s?[,;:?!()]|[,;:?!()]\s?{WIDE}|{WIDE}\.(?:\s|$)")
    unspaced = re.compile(rf"{WIDE}[A-Za-z0-9]|[A-Za-z0-9]{WIDE}|[，。；：、（）]\s+\S|\S\s+[，。；：、（）]")
    found = [f"{pair.chinese}:{number}: {line}" for number, line in prose(pair) if half_width.search(line)]
    found += [f"{pair.chinese}:{number}: {line}" for number, line in prose(pair) if unspaced.search(table_less(line))]
    assert not found


def table_less(line: str) -> str:
    """Neither the bars of a table nor the spaces beside them, nor the mark of an item."""
    return re.sub(r"\s*\|\s*", "|", line) if line.startswith("|") else re.sub(r"^\s*- ", "", line)


@pytest.mark.parametrize("pair", PAGES, ids=names)
def test_a_chinese_paragraph_is_one_line(pair: Halves) -> None:
    text = (ROOT / pair.chinese).read_text().split("\n<!--", maxsplit=1)[0]
    outside = BLOCK.sub("", text)
    parts = [one for one in units(outside) if one.kind != "block of code"]
    code = sum(line.startswith("    ") and not line.strip().startswith("- ") for line in outside.splitlines())
    assert len([line for line in outside.splitlines() if line.strip()]) == len(parts) + code


def glossary() -> list[list[str]]:
    page = (ROOT / "CONTRIBUTING.md").read_text()
    (section,) = (one for one in sections(units(page)) if one.title == GLOSSARY.lstrip("# "))
    rows = [cells(one.text) for one in section.units if one.kind.startswith("row")]
    return rows[2:]


def test_one_chinese_word_is_used_for_each_thing() -> None:
    texts = {one.chinese: (ROOT / one.chinese).read_text() for one in PAGES}
    texts["words_zh.js"] = (ROOT / "src/paddlejob/ui/static/words_zh.js").read_text()
    refused = [row[2] for row in glossary() if row[2]]
    assert len(refused) > 8
    assert not [f"{name}: {word}" for name, text in texts.items() for word in refused if word in text]
    used = "".join(texts.values())
    words = [word for row in glossary() for word in re.findall(rf"{WIDE}+", row[1])]
    assert not [word for word in words if word not in used]


def test_the_page_in_the_browser_uses_the_same_words() -> None:
    words = (ROOT / "src/paddlejob/ui/static/words_zh.js").read_text()
    shown = dict(re.findall(r'^  "([^"]+)": "(.*)",$', words, re.MULTILINE))
    known = {row[0]: row[1] for row in glossary()}
    keys = {"namespace": "column.namespace", "reason": "column.reason", "event": "events", "restart": "column.restarts"}
    keys |= {"disruption": "fact.disruptions", "stall": "moment.stalled", "node": "pod.node", "exit code": "pod.code"}
    assert {english: shown[key] for english, key in keys.items()} == {english: known[english] for english in keys}


# The tool, on a page of its own.

ENGLISH = """# A page

English | [简体中文](zh-CN/page.md)

It takes 10 s with `--fast`, see [the other page](other.md#more).

## Table

| field | means |
| --- | --- |
| `a` | one |

```bash
paddlejob list
```
"""
CHINESE = """# 一页

[English](../page.md) | 简体中文

使用 `--fast` 需要 10 s，见[另一页](other.md#更多)。

## 表

| 字段 | 含义 |
| --- | --- |
| `a` | 一 |

```bash
```
"""


@pytest.fixture
def page(tmp_path: Path) -> Halves:
    (tmp_path / "docs" / "zh-CN").mkdir(parents=True)
    for path, text in {
        "README.md": "# Read me\n",
        "docs/page.md": ENGLISH,
        "docs/zh-CN/page.md": CHINESE,
        "docs/other.md": "# Other\n\n## More\n",
        "docs/zh-CN/other.md": "# 另一页\n\n## 更多\n",
    }.items():
        (tmp_path / path).write_text(text)
    (pair,) = (one for one in every(tmp_path) if one.english == "docs/page.md")
    return pair


def change(pair: Halves, page: str, old: str, new: str) -> None:
    text = (pair.root / page).read_text()
    assert old in text
    (pair.root / page).write_text(text.replace(old, new))


def test_a_stamp_copies_the_code_and_is_taken_for_good(page: Halves) -> None:
    assert troubles(page) != []
    assert stamp(page) == []
    assert troubles(page) == []
    assert "```bash\npaddlejob list\n```" in page.text(page.chinese)
    before = page.text(page.chinese)
    assert stamp(page) == []
    assert page.text(page.chinese) == before, "stamping twice is stamping once"


def test_a_stamp_writes_the_links_between_the_halves(page: Halves) -> None:
    for name, line in page.first_lines().items():
        change(page, name, f"{line}\n\n", "")
        assert f"{name}: the second paragraph must be: {line}" in translations.differences(page)
    assert stamp(page) == []
    assert page.text(page.english) == ENGLISH
    assert troubles(page) == []


def test_what_has_changed_is_named_with_its_heading_and_its_place_in_both_halves(page: Halves) -> None:
    stamp(page)
    change(page, page.english, "| one |", "| two |")
    assert older(page) == ["docs/page.md:11, under 'Table': newer than its translation, docs/zh-CN/page.md:11"]
    assert stamp(page) == [], "whoever stamps says that it was translated"
    assert older(page) == []


def test_what_is_new_and_what_is_gone_is_named(page: Halves) -> None:
    stamp(page)
    change(page, page.english, "It takes", "It is new.\n\nIt takes")
    assert older(page) == ["docs/page.md:5, under 'A page': not translated"]
    change(page, page.english, "It is new.\n\n", "")
    change(page, page.english, "| `a` | one |\n", "")
    assert older(page) == ["docs/zh-CN/page.md:11: translated from what is no more in docs/page.md"]


def test_other_line_breaks_and_other_code_make_no_half_older(page: Halves) -> None:
    stamp(page)
    change(page, page.english, "It takes 10 s", "It takes\n10 s")
    change(page, page.english, "paddlejob list", "paddlejob list -w")
    assert older(page) == []
    (said,) = troubles(page)
    assert "the block of code is not that of docs/page.md:14" in said
    assert stamp(page) == []
    assert "paddlejob list -w" in page.text(page.chinese)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("10 s", "20 s", "page.md:5: lacks the figure 10"),
        ("`--fast`", "`--slow`", "page.md:5: lacks `--fast`"),
        ("`a` |", "`a` `b` |", "page.md:11: has in addition `b`"),
        (
            "other.md#更多",
            "other.md",
            "page.md:5: leads to ['docs/other.md'], the English to ['docs/other.md, heading 2']",
        ),
        ("other.md#更多", "other.md#多", "page.md:5: leads to ['docs/other.md, no heading #多']"),
        ("other.md#更多", "../other.md#more", "page.md:5: leads to ['docs/other.md in English, heading 2']"),
        ("## 表", "### 表", "page.md:7: a heading of level 3, but docs/page.md:7 has a heading of level 2"),
        ("| 一 |", "| 一 | 二 |", "page.md:11: a row of 3 cells, but docs/page.md:11 has a row of 2 cells"),
        ("```bash\n```\n", "", "one half ends earlier"),
    ],
)
def test_a_half_that_says_something_else_is_not_stamped(page: Halves, old: str, new: str, said: str) -> None:
    change(page, page.chinese, old, new)
    assert said in "\n".join(stamp(page))
    assert "was never stamped" in "\n".join(troubles(page))


def test_a_page_without_a_half_and_a_half_without_a_page_are_told(
    page: Halves, capsys: pytest.CaptureFixture[str]
) -> None:
    (page.root / page.english).rename(page.root / "docs" / "moved.md")
    assert translations.main([], page.root) == 1
    said = capsys.readouterr().out
    assert "docs/moved.md has no Chinese half: write docs/zh-CN/moved.md" in said
    assert "docs/zh-CN/page.md has no English half" in said
    assert "README.md has no Chinese half: write README.zh-CN.md" in said


def test_the_command_tells_what_it_took_for_translated(page: Halves, capsys: pytest.CaptureFixture[str]) -> None:
    assert translations.main(["docs/page.md"], page.root) == 0
    change(page, page.english, "| one |", "| two |")
    capsys.readouterr()
    assert translations.main(["docs/zh-CN/page.md"], page.root) == 0
    assert "Taken for translated: docs/page.md:11, under 'Table'" in capsys.readouterr().out
    change(page, page.chinese, "10 s", "20 s")
    assert translations.main(["docs/page.md"], page.root) == 1
    assert translations.main(["docs/nothing.md"], page.root) == 2
