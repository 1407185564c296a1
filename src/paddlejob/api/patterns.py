"""Regular expressions that users write, matched by RE2: in time that grows with the text alone, whatever they are.

Python's own would let one of them stop whoever reads the output of all jobs. API servers check a pattern with the same
dialect, so one that is refused is refused everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, cast

# The time for a character grows with what a pattern becomes: so large, and no larger.
MOST_MEMORY = 1 << 18


class Match(Protocol):
    def groupdict(self) -> dict[str, str | None]: ...


class Pattern(Protocol):
    @property
    def groupindex(self) -> Mapping[str, int]: ...

    def search(self, text: str) -> Match | None: ...


def compiled(pattern: str) -> Pattern:
    """Raises `ValueError` with what is wrong with it."""
    import re2  # noqa: PLC0415 - only who reads patterns pays for it

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MOST_MEMORY
    try:
        return cast("Pattern", re2.compile(pattern, options=options))
    except re2.error as error:
        said = error.args[0]
        raise ValueError(said.decode(errors="replace") if isinstance(said, bytes) else str(said)) from error


def is_readable(pattern: str) -> bool:
    try:
        compiled(pattern)
    except ValueError:
        return False
    return True
