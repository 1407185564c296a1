"""What real programs have printed, and when: see `record.py`. A recording can be heard up to any moment."""

from __future__ import annotations

import ast
from datetime import datetime, timedelta, timezone
from pathlib import Path

import msgspec

from paddlejob.core.times import LONG_AGO
from paddlejob.profiles.ear import Timed

FOLDER = Path(__file__).parent / "recordings"
BEGUN = datetime(2026, 5, 4, 12, 0, 0, tzinfo=timezone.utc)


class Recording(msgspec.Struct, frozen=True):
    """`pieces`: seconds and text, each up to the end of a line, or to where it is written over."""

    made_by: str
    pieces: tuple[tuple[float, str], ...]

    def until(self, seconds: float) -> tuple[list[Timed], Timed]:
        """The lines, and how the one stands that goes on."""
        lines: list[Timed] = []
        rest, at = "", LONG_AGO
        for when, piece in self.pieces:
            if when > seconds:
                break
            at, rest = BEGUN + timedelta(seconds=when), rest + piece
            if rest.endswith("\n"):
                lines.append((at, rest.removesuffix("\n")))
                rest = ""
        return lines, (at, rest)


def recording(name: str) -> Recording:
    made_by, *rest = (FOLDER / f"{name}.txt").read_text().splitlines()
    split = (line.split(maxsplit=1) for line in rest)
    return Recording(made_by.removeprefix("# "), tuple((float(at), ast.literal_eval(text)) for at, text in split))
