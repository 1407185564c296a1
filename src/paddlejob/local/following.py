"""Following log files: the complete lines that came since the last look."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


class Follower:
    """One file. A line is told when its end is there; at the very end, what is left of it too."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.last = ""
        self._at = 0
        self._rest = b""

    def lines(self, *, last_call: bool = False) -> Iterator[str]:
        try:
            with self.path.open("rb") as file:
                file.seek(self._at)
                new = file.read()
        except FileNotFoundError:
            return
        self._at += len(new)
        *whole, self._rest = (self._rest + new).split(b"\n")
        if last_call and self._rest:
            whole.append(self._rest)
            self._rest = b""
        for line in whole:
            # A progress bar writes over its own line: the last version counts.
            text = line.decode(errors="replace").rstrip("\r").rpartition("\r")[2]
            self.last = text.strip() or self.last
            yield text
