"""Whatever a pod prints, a terminal gets text and colours; a progress bar is one line, as it stood last."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from paddlejob.terminal import coloured, lines, newest, plain

PIECES = (
    "\x1b",
    "\x1b[",
    "\x1b]0;",
    "\x9b",
    "\x90",
    "\x9d",
    "\x9c",
    "\x07",
    "\r",
    "\n",
    "\t",
    "2J",
    "31m",
    "A",
    ";",
    "\\",
)
ANYTHING = st.lists(st.sampled_from(PIECES) | st.text(max_size=5)).map("".join)
SGR = re.compile(r"\x1b\[[0-9;:]*m")


def controls(text: str) -> list[str]:
    return [one for one in text if unicodedata.category(one) in ("Cc", "Zl", "Zp")]


@given(ANYTHING)
@example("\x1b\x1b[2J")
@example("\x1b\x1b]0;title\x07[2J")
@example("\x1b[\x1b[31m31m")
def test_no_control_character_passes_but_those_of_colours(said: str) -> None:
    assert controls(plain(said)) == []
    assert controls(SGR.sub("", coloured(said))) == []
    assert not any(controls(line) for line in lines(said))


@given(ANYTHING)
def test_what_is_safe_stays_as_it_is(said: str) -> None:
    for made in (plain, coloured):
        assert made(made(said)) == made(said)


@given(st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"))))
def test_a_text_without_control_characters_is_not_touched(said: str) -> None:
    assert plain(said) == coloured(said) == said


PRINTED = {
    "a cleared screen": ("\x1b[2J\x1b[Hhello", "hello"),
    "nested bars": ("\x1b[A\x1b[Kinner: 50%", "inner: 50%"),
    "a title": ("\x1b]0;pwned\x07hello", "hello"),
    "a title that never ends": ("hello\x1b]0;pwned", "hello"),
    "a link": ("\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", "text"),
    "eight-bit sequences": ("\x9b2Jhello\x9d0;x\x9c", "hello"),
    "another character set": ("\x1b(0hello", "hello"),
    "a reset": ("\x1bchello", "hello"),
    "colours": ("\x1b[1;31mred\x1b[0m", "red"),
    "a bar": ("\r 10%\r 20%\r", " 20%"),
    "a bar that was wiped out": ("\r 10%\r     \r", " 10%"),
    "a Windows line": ("hello\r", "hello"),
    "columns": ("a\tb", "a       b"),
}


@pytest.mark.parametrize("case", PRINTED)
def test_what_a_person_reads(case: str) -> None:
    said, read = PRINTED[case]
    assert plain(said) == read


def test_colours_stay_where_they_are_wanted() -> None:
    assert coloured("\x1b[1;38;5;9mred\x1b[m \x1b[2Kplain") == "\x1b[1;38;5;9mred\x1b[m plain"


def test_a_bar_is_one_of_several_lines() -> None:
    assert lines("start\n\r10%\r20%\r30%\nValueError: no\n") == ["start", "30%", "ValueError: no"]
    assert lines("") == []


def test_the_newest_state_of_a_bar() -> None:
    assert [newest(one) for one in ("", "a", "a\rb", "a\rb\r", "\r")] == ["", "a", "b", "b", ""]
