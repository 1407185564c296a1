"""Following the output of pods: the whole lines that came since the last look, from one life of a pod to the next."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from paddlejob.local.logfiles import LogFile, log_files
from paddlejob.terminal import newest

# Of a line that is written over and over, more than one state.
LONGEST_BAR = 8192


class Follower:
    """One file. A line is told when its end is there; at the very end, what is left of it too."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._last = ""
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
        if self.bar:
            self._rest = self._rest[-LONGEST_BAR:]
        if last_call and self._rest:
            whole.append(self._rest)
            self._rest = b""
        for line in whole:
            text = newest(line.decode(errors="replace"))
            self._last = text.strip() or self._last
            yield text

    @property
    def bar(self) -> str:
        """How a progress bar stands that has not ended: a line that writes over itself."""
        return newest(self._rest.decode(errors="replace")) if b"\r" in self._rest else ""

    @property
    def last(self) -> str:
        """The last that there is to read, even if its line goes on."""
        return newest(self._rest.decode(errors="replace")).strip() or self._last


class Logs:
    """The pods of a job whose names are `wanted`, a pattern: as they are now, and those that come after them.

    `earlier`: those that were there before them, too.
    """

    def __init__(self, folder: Path, wanted: str = "*", *, earlier: bool = False) -> None:
        self._folder = folder
        self._wanted = wanted
        self._earlier = earlier
        self._followers: dict[LogFile, Follower] = {}
        self._first_lives: dict[tuple[str, str], int] = {}

    def news(self, *, last_call: bool = False) -> Iterator[tuple[LogFile, list[str]]]:
        """Log and new lines."""
        found = [one for one in log_files(self._folder) if fnmatchcase(one.pod, self._wanted)]
        newest = {(one.pod, one.container): one.life for one in found}  # in order: the last is the newest
        for one in found:
            life = newest[one.pod, one.container]
            if one.life < self._first_lives.setdefault((one.pod, one.container), 0 if self._earlier else life):
                continue
            follower = self._followers.setdefault(one, Follower(self._folder / one.name))
            yield one, list(follower.lines(last_call=last_call or one.life < life))

    def bars(self) -> Iterator[tuple[str, str]]:
        """Pod and newest state of the progress bars that go on."""
        for one, follower in self._followers.items():
            if bar := follower.bar:
                yield one.pod, bar

    def last(self, pod: str) -> str:
        """The last line of the newest pod of this name."""
        lives = [one.life for one in self._followers if one.pod == pod]
        found = [follower.last for one, follower in self._followers.items() if one.pod == pod and one.life == lives[-1]]
        return next((line for line in reversed(found) if line), "")
