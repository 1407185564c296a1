"""Lengths of time as people type them: 90, 90s, 10m, 2h, 1h30m."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PARTS = re.compile(r"(\d+(?:\.\d+)?)([smhd])")


def seconds(_: type, tokens: Sequence[Any]) -> float:
    """A converter for cyclopts."""
    said = str(tokens[0].value)
    if re.fullmatch(r"\d+(\.\d+)?", said):
        return float(said)
    if re.fullmatch(rf"(?:{_PARTS.pattern})+", said):
        return sum(float(number) * _UNITS[unit] for number, unit in _PARTS.findall(said))
    raise ValueError(f"{said!r} is not a duration: write 90s, 10m or 2h")
