"""What one container has printed lately, put together from one time that somebody listens to the next.

Whatever a program prints, what is kept of it is little, and plain text.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from paddlejob.api.spec import ProgressPolicy
from paddlejob.core import Reading, Said
from paddlejob.core.times import LONG_AGO
from paddlejob.profiles.profile import Compiled, asked
from paddlejob.profiles.reader import Reader
from paddlejob.terminal import newest, plain

LINES, READINGS = 5, 64
LONGEST_LINE = 1000
# So many of the lines that came at once are read; what stood in those before them is not known.
MOST_AT_ONCE = 500
# Of the processor's time, for what came at once. RE2 needs time that grows with the text only, and some patterns let it
# grow by much: then fewer lines are read, until some are read in a fraction of it.
MOST_SECONDS = 0.05

# As Paddle's own libraries log: some of their threads go on with it while nothing moves any more.
NOISE = re.compile(r"[IWE]\d{4,8} \d\d:\d\d:\d\d\.\d+ +\d+ [\w.]+:\d+\]")

NUMBERS = "0123456789.,+-eE/"

Timed = tuple[datetime, str]
NOTHING: Timed = (LONG_AGO, "")


class Ear:
    """For one life of one container."""

    def __init__(self, policy: ProgressPolicy | None) -> None:
        self._unreadable = ""
        candidates: Sequence[Compiled] = ()
        try:
            candidates = asked(policy)
        except ValueError as error:  # an API server without rules let it pass
            self._unreadable = str(error)
        self._reader = Reader(candidates)
        self._lines: deque[str] = deque(maxlen=LINES)
        self._open = ""
        self._most = MOST_AT_ONCE
        self._readings: deque[Reading] = deque(maxlen=READINGS)
        self._changed: datetime | None = None

    def hear(self, lines: Sequence[Timed], *, unfinished: Timed = NOTHING, missed: bool = False) -> None:
        """New lines, and how one stands that goes on. `missed`: there were others between these and those before."""
        if missed or len(lines) > self._most:
            self._reader.forget()
        begun = time.thread_time()
        recent = lines[-self._most :]
        if len(recent) < len(lines):
            self._changed = lines[-1][0]  # what is not read may have been anything
        for left, (at, line) in zip(range(len(recent) - 1, -1, -1), recent, strict=True):
            if left and time.thread_time() - begun > MOST_SECONDS:
                self._most = max(1, (len(recent) - left) // 2)
                self._changed = at
                continue  # to the last one, which says most
            if text := _clean(line):
                self._take(at, text)
                self._lines.append(text)
        if time.thread_time() - begun < MOST_SECONDS / 4:
            self._most = min(MOST_AT_ONCE, 2 * self._most)
        before, self._open = self._open, _clean(unfinished[1])
        if self._open and self._open != before:
            self._take(unfinished[0], self._open)

    def said(self, at: datetime, *, last: bool = False, error: str = "") -> Said:
        return Said(
            at=at,
            changed=self._changed,
            lines=(*self._lines, *([self._open] if self._open else []))[-LINES:],
            readings=tuple(self._readings),
            error=error,
            unreadable=self._unreadable,
            last=last,
        )

    def _take(self, at: datetime, line: str) -> None:
        read = self._reader.read(line, at)
        if read is not None or not NOISE.match(line):
            self._changed = at
        if read is None:
            return
        before = self._readings[-1] if self._readings else None
        if before is not None and read.step is None:
            kept = (before.step, before.total, before.at)
            read = replace(read, step=kept[0], total=kept[1], at=kept[2], metrics={**before.metrics, **read.metrics})
        elif before is not None and read.loss is None and not read.diverged:
            read = replace(read, loss=before.loss, diverged=before.diverged)
        # Of those of one second the last is enough.
        if before is not None and (read.step == before.step or abs((read.at - before.at).total_seconds()) < 1):
            self._readings.pop()
        self._readings.append(read)

    @property
    def changed(self) -> datetime | None:
        return self._changed


def without_half(text: str) -> str:
    """Where the rest was cut off, what stands at the end may be half of a number: that is another number."""
    return text.rstrip(NUMBERS)


def _clean(line: str) -> str:
    text = newest(line)
    if len(text) > LONGEST_LINE:
        text = without_half(text[:LONGEST_LINE]) or "..."
    return plain(text).strip()
