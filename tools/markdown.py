"""A Markdown page as what it is made of: headings, paragraphs, items of lists, rows of tables and blocks of code.

Reads what the documents here use and no more; it draws nothing. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

BLOCK = re.compile(r"^```[^\n]*\n.*?^```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`[^`]+`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_ITEM = re.compile(r" *(?=- )")


@dataclass(frozen=True)
class Unit:
    """The least part of a page that is translated as a whole."""

    kind: str
    text: str
    line: int

    @property
    def parts(self) -> list[str]:
        """The cells of a row; of anything else its text."""
        return cells(self.text) if self.kind.startswith("row") else [self.text]


@dataclass(frozen=True)
class Section:
    """A heading and what follows, up to the next heading."""

    title: str
    line: int
    units: tuple[Unit, ...]


def units(text: str) -> list[Unit]:
    found: list[Unit] = []
    lines = list(enumerate(text.splitlines(), start=1))
    while lines:
        number, first = lines.pop(0)
        if not first.strip():
            continue
        kind, taken = _kind(first), [first]
        while lines and _goes_on(kind, taken, lines[0][1]):
            taken.append(lines.pop(0)[1])
        whole = "\n".join(taken) if kind == "block of code" else re.sub(r"\s+", " ", " ".join(taken)).strip()
        found.append(Unit(kind, whole, number))
    return found


def _kind(line: str) -> str:
    if line.startswith(("```", "    ")):
        return "block of code"
    if line.startswith("#"):
        return f"heading of level {len(line.split(maxsplit=1)[0])}"
    if line.startswith("|"):
        return f"row of {len(cells(line))} cells"
    if item := _ITEM.match(line):
        return f"item indented by {len(item[0])}"
    return "paragraph"


def _goes_on(kind: str, taken: list[str], line: str) -> bool:
    """Whether a line belongs to what was begun."""
    if kind == "block of code":
        if taken[0].startswith("```"):
            return len(taken) == 1 or not taken[-1].startswith("```")
        return line.startswith("    ")
    if kind.startswith(("heading", "row")):
        return False
    return bool(line.strip()) and not line.startswith(("```", "#", "|")) and _ITEM.match(line) is None


def sections(found: list[Unit]) -> list[Section]:
    """What stands before the first heading is no section: our pages begin with their title."""
    starts = [at for at, one in enumerate(found) if one.kind.startswith("heading")]
    ends = [*starts[1:], len(found)]
    return [
        Section(found[start].text.lstrip("# "), found[start].line, tuple(found[start:end]))
        for start, end in zip(starts, ends, strict=True)
    ]


def cells(row: str) -> list[str]:
    hidden = SPAN.sub(lambda span: span[0].replace("|", "\0"), row)
    return [cell.strip().replace("\0", "|") for cell in hidden.strip().strip("|").split("|")]


def spans(text: str) -> set[str]:
    return set(SPAN.findall(text))


def links(text: str) -> list[str]:
    return LINK.findall(SPAN.sub("", text))


def figures(text: str) -> set[str]:
    """Every number in the words: not in code, not in the addresses of links."""
    return set(_FIGURE.findall(LINK.sub("]", SPAN.sub("", text))))


def anchors(text: str) -> Iterator[str]:
    """What a link may name behind `#`, one for each heading, as GitHub makes them."""
    for one in units(text):
        if one.kind.startswith("heading"):
            yield re.sub(r"[^\w\- ]", "", one.text.lstrip("# ").lower()).replace(" ", "-")
