"""How much a YAML text stands for: with aliases, a few lines can stand for billions of values, more than can be read.

Owns the bounds. Looks at the text's events one by one and stops at the first that is too much; builds nothing.
"""

from __future__ import annotations

from typing import Any

import yaml

# Kubernetes' own objects are some 20 deep; a program that walks a document may be limited to a few hundred.
DEEPEST = 100
# Values that aliases repeat, all of a text together.
MOST_REPEATED = 50_000


class TooMuch(yaml.YAMLError):
    """It is YAML, but nobody should read it. Line and column are counted from 1."""

    def __init__(self, text: str, event: yaml.Event) -> None:
        super().__init__(text)
        mark = event.start_mark
        self.text = text
        self.line, self.column = (mark.line + 1, mark.column + 1) if mark else (0, 0)


def check_extent(text: str, loader: Any) -> None:
    """Raises TooMuch where the text becomes too deep or too much."""
    extent = _Extent()
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.AliasEvent):
            extent.repeat(event)
        elif isinstance(event, yaml.ScalarEvent):
            extent.add(1, event.anchor)
        elif isinstance(event, yaml.CollectionStartEvent):
            extent.begin(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            extent.end()


class _Extent:
    def __init__(self) -> None:
        self._open: list[tuple[str | None, int]] = []
        self._sizes: dict[str, int] = {}
        self._repeated = 0

    def add(self, size: int, anchor: str | None = None) -> None:
        if anchor is not None:
            self._sizes[anchor] = size
        if self._open:
            of, before = self._open[-1]
            self._open[-1] = (of, before + size)

    def repeat(self, event: yaml.AliasEvent) -> None:
        """An anchor that contains itself, or that nobody has set, is no size: who builds the document says so."""
        size = self._sizes.get(event.anchor or "", 0)
        self._repeated += size
        if self._repeated > MOST_REPEATED:
            said = f"its aliases repeat more than {MOST_REPEATED:,} values: write them out, or leave them away"
            raise TooMuch(said, event)
        self.add(size)

    def begin(self, event: yaml.CollectionStartEvent) -> None:
        self._open.append((event.anchor, 1))
        if len(self._open) > DEEPEST:
            raise TooMuch(f"it is nested more than {DEEPEST} deep", event)

    def end(self) -> None:
        anchor, size = self._open.pop()
        self.add(size, anchor)
