"""The English and the Chinese half of each page: whether they agree, and which Chinese half is older.

`python tools/translations.py` tells what does not agree. With the names of English pages it stamps their Chinese
halves: it writes the links between the two, copies the blocks of code, and writes at the end of the half what it was
translated from: for each heading, paragraph, item and row of the English page a part of its hash, so that no history is
needed. A half is never stamped while its headings, tables, code, figures or links differ. It translates nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.markdown import BLOCK, Section, Unit, anchors, figures, links, sections, spans, units

ROOT = Path(__file__).resolve().parents[1]
# Tables that a program fills or checks, for those who develop and release.
ENGLISH_ONLY = ("docs/compatibility.md", "docs/programs.md", "docs/release.md")
_STAMP = re.compile(r"\n<!-- Translated from these sections.*?-->\n", re.DOTALL)
_STAMPED = re.compile(r"\b[0-9a-f]{6}\b(?=[^:]*$)", re.MULTILINE)


@dataclass(frozen=True)
class Halves:
    """A page in both languages; paths are those in the repository."""

    root: Path
    english: str

    @property
    def chinese(self) -> str:
        page = Path(self.english)
        return str(page.parent / "zh-CN" / page.name) if page.parent.name else f"{page.stem}.zh-CN.md"

    def text(self, page: str) -> str:
        return (self.root / page).read_text()

    def first_lines(self) -> dict[str, str]:
        """What stands below the title of each half: the way to the other one."""
        there = os.path.relpath(self.chinese, Path(self.english).parent)
        back = os.path.relpath(self.english, Path(self.chinese).parent)
        return {self.english: f"English | [简体中文]({there})", self.chinese: f"[English]({back}) | 简体中文"}

    def units(self, page: str) -> list[Unit]:
        """Without the way to the other half, and without the stamp."""
        own = self.first_lines()[page]
        return [one for one in units(_STAMP.sub("", self.text(page))) if one.text != own]

    def sections(self, page: str) -> list[Section]:
        return sections(self.units(page))


def every(root: Path = ROOT) -> list[Halves]:
    """Every page that has, or should have, two halves."""
    docs = sorted(str(one.relative_to(root)) for one in (root / "docs").glob("*.md"))
    return [Halves(root, one) for one in ("README.md", *docs) if one not in ENGLISH_ONLY]


def troubles(pair: Halves) -> list[str]:
    """All that is to be done, in the order in which one would do it."""
    if not (pair.root / pair.chinese).exists():
        return [f"{pair.english} has no Chinese half: write {pair.chinese}"]
    return [*differences(pair), *older(pair)]


def strays(root: Path = ROOT) -> list[str]:
    """Chinese pages without an English one."""
    wanted = {one.chinese for one in every(root)}
    found = [*root.glob("*.zh-CN.md"), *(root / "docs" / "zh-CN").rglob("*.md")]
    return sorted({str(one.relative_to(root)) for one in found} - wanted)


def differences(pair: Halves) -> list[str]:
    """Where the halves do not say the same, as far as a program can see it."""
    found = [
        f"{page}: the second paragraph must be: {line}"
        for page, line in pair.first_lines().items()
        if pair.text(page).split("\n\n")[1:2] != [line]
    ]
    ours, theirs = pair.units(pair.english), pair.units(pair.chinese)
    for english, chinese in zip(ours, theirs, strict=False):
        if english.kind != chinese.kind:
            place = f"{pair.english}:{english.line}"
            return [*found, f"{pair.chinese}:{chinese.line}: a {chinese.kind}, but {place} has a {english.kind}"]
        found += [f"{pair.chinese}:{chinese.line}: {one}" for one in _unlike(pair, english, chinese)]
    if len(ours) != len(theirs):
        found.append(f"{pair.chinese}: one half ends earlier: {len(ours)} parts in English, {len(theirs)} in Chinese")
    return found


def _unlike(pair: Halves, english: Unit, chinese: Unit) -> Iterator[str]:
    if english.kind == "block of code":
        if english.text != chinese.text:
            yield f"the block of code is not that of {pair.english}:{english.line}"
        return
    for ours, theirs in zip(english.parts, chinese.parts, strict=True):
        yield from _not_in("lacks", spans(ours), spans(theirs))
        yield from _not_in("has in addition", spans(theirs), spans(ours))
        yield from _not_in("lacks the figure", figures(ours), figures(theirs))
        wanted = sorted(_targets(pair, pair.english, ours))
        leads = sorted(_targets(pair, pair.chinese, theirs))
        if wanted != leads:
            yield f"leads to {leads}, the English to {wanted}"


def _not_in(what: str, some: set[str], others: set[str]) -> Iterator[str]:
    if missing := some - others:
        yield f"{what} {', '.join(sorted(missing))}"


def _targets(pair: Halves, page: str, text: str) -> Iterator[str]:
    """Where the links of a part lead, by the names of English pages and the numbers of headings."""
    english = {one.chinese: one.english for one in every(pair.root)}
    for link in links(text):
        name, _, anchor = link.partition("#")
        if "://" in link:
            yield link
            continue
        path = os.path.normpath(Path(page).parent / name) if name else page
        half = " in English" if page == pair.chinese and path in english.values() else ""  # is in Chinese too
        yield f"{english.get(path, path)}{half}{_heading(pair.root / path, anchor)}"


def _heading(page: Path, anchor: str) -> str:
    known = list(anchors(page.read_text())) if anchor and page.is_file() else []
    return f", heading {known.index(anchor) + 1}" if anchor in known else anchor and f", no heading #{anchor}"


def fingerprint(unit: Unit) -> str:
    return hashlib.sha256(f"{unit.kind}: {unit.text}".encode()).hexdigest()[:6]


def older(pair: Halves) -> list[str]:
    """What of the English half has changed since the Chinese half was stamped, and where its translation is.

    Line breaks do not count, nor does code, which is the same in both halves anyway.
    """
    stamp = _STAMP.search(pair.text(pair.chinese))
    if stamp is None:
        return [f"{pair.chinese} was never stamped: make chinese PAGE={pair.english}"]
    stamped = _STAMPED.findall(stamp[0])
    english, chinese = words(pair.sections(pair.english)), words(pair.sections(pair.chinese))
    places = [f"{pair.chinese}:{one.line}" for _, one in chinese]
    now = [fingerprint(one) for _, one in english]
    found = []
    for change, start, end, first, last in SequenceMatcher(None, stamped, now, autojunk=False).get_opcodes():
        if change == "equal":
            continue
        olds = places[start:end]
        for title, one in english[first:last]:
            old = f"newer than its translation, {olds.pop(0)}" if olds else "not translated"
            found.append(f"{pair.english}:{one.line}, under {title!r}: {old}")
        found += [f"{old}: translated from what is no more in {pair.english}" for old in olds]
    return found


def words(parts: list[Section]) -> list[tuple[str, Unit]]:
    """All that is not code, each with the title of its section."""
    return [(part.title, one) for part in parts for one in part.units if one.kind != "block of code"]


def lead_to_each_other(pair: Halves) -> None:
    for page, line in pair.first_lines().items():
        title, _, rest = pair.text(page).partition("\n\n")
        if not rest.startswith(line):
            (pair.root / page).write_text(f"{title}\n\n{line}\n\n{rest}")


def copy_blocks(pair: Halves) -> None:
    """The blocks of the English half, if there are as many of them in the Chinese one."""
    text = pair.text(pair.chinese)
    blocks = BLOCK.findall(pair.text(pair.english))
    if len(blocks) == len(BLOCK.findall(text)):
        remaining = iter(blocks)
        (pair.root / pair.chinese).write_text(BLOCK.sub(lambda _: next(remaining), text))


def stamp(pair: Halves) -> list[str]:
    """What still differs; if nothing does, the half is as new as the English page."""
    if not (pair.root / pair.chinese).exists():
        return troubles(pair)
    lead_to_each_other(pair)
    copy_blocks(pair)
    if found := differences(pair):
        return found
    parts = pair.sections(pair.english)
    lines = [f"{part.title}: {' '.join(fingerprint(one) for _, one in words([part]))}" for part in parts]
    head = f"<!-- Translated from these sections; `make chinese PAGE={pair.english}` writes this:"
    page = _STAMP.sub("", pair.text(pair.chinese)).rstrip("\n")
    (pair.root / pair.chinese).write_text("\n".join([page, "", head, *lines, "-->", ""]))
    return []


def main(names: Iterable[str], root: Path = ROOT) -> int:
    known = {name: one for one in every(root) for name in (one.english, one.chinese)}
    named = list(names)
    if unknown := [one for one in named if one not in known]:
        print(
            f"no page with two halves: {', '.join(unknown)}; there are: {', '.join(one.english for one in every(root))}"
        )
        return 2
    if named:
        return max(_stamp_and_tell(known[name]) for name in named)
    found = [line for pair in every(root) for line in troubles(pair)]
    found += [f"{one} has no English half" for one in strays(root)]
    print("\n".join(found) or "English and Chinese agree.")
    return 1 if found else 0


def _stamp_and_tell(pair: Halves) -> int:
    """Tells what is now taken for translated: whoever forgot something sees it here for the last time."""
    new = older(pair) if (pair.root / pair.chinese).exists() else []
    found = stamp(pair)
    print("\n".join(found or [f"{pair.chinese} is stamped.", *(f"Taken for translated: {one}" for one in new)]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
