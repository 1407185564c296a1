"""What commands print: columns as kubectl writes them, colours on a terminal only, and objects for other programs."""

from __future__ import annotations

import math
import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console
from rich.text import Text

from paddlejob.places.words import as_yaml, without_managed_fields
from paddlejob.terminal import coloured, lines, plain

if TYPE_CHECKING:
    from paddlejob.api import Job

Format = Literal["json", "yaml", "name", "wide"]
ObjectFormat = Literal["json", "yaml", "name"]
Cell = str | Text

PHASES = {
    "Completed": "green",
    "Failed": "red",
    "Lost": "red",
    "Running": "cyan",
    "Pending": "yellow",
    "Starting": "yellow",
    "Restarting": "yellow",
}
GAP = "   "
COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "bright_red")
# Where lines cannot be overwritten, the state of a progress bar is printed this often.
BAR_PAUSE = 5.0


def console() -> Console:
    return Console(highlight=False)


def note(text: str) -> None:
    """Something to know that is no part of the answer."""
    print(*lines(f"paddlejob: {text}"), sep="\n", file=sys.stderr)


def printed(line: str) -> Text:
    """A line that a pod printed: its colours are kept, for a terminal, and nothing else that is no text."""
    return Text.from_ansi(coloured(line)) if "\x1b" in line else Text(plain(line))


class Lines:
    """Lines of many pods, each with its pod's name, which has a colour of its own on a terminal.

    A progress bar that goes on stays at the foot of a terminal; elsewhere it is a line now and then.
    """

    def __init__(self, to: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._to = to
        self._clock = clock
        self._colours: dict[str, str] = {}
        self._bars: dict[str, tuple[str, float]] = {}
        self._foot = False
        self.any = False

    def show(self, pod: str, line: str) -> None:
        self.any = True
        self._clear()
        self._to.print(self._line(pod, line), soft_wrap=True)

    def show_bar(self, pod: str, bar: str) -> None:
        before, at = self._bars.get(pod, ("", -math.inf))
        if bar == before:
            return
        if self._to.is_terminal:
            self._clear()
            line = self._line(pod, bar)
            line.truncate(self._to.width - 1, overflow="ellipsis")
            self._to.print(line, end="", soft_wrap=True)
            self._foot = True
        elif self._clock() < at + BAR_PAUSE:
            return
        else:
            self.show(pod, bar)
        self._bars[pod] = (bar, self._clock())

    def close(self) -> None:
        if self._foot:
            self._to.print()
            self._foot = False

    def _clear(self) -> None:
        if self._foot:
            self._to.file.write("\r\x1b[K")
            self._foot = False

    def _line(self, pod: str, line: str) -> Text:
        colour = self._colours.setdefault(pod, COLOURS[len(self._colours) % len(COLOURS)])
        return Text.assemble((f"[{pod}]", colour), " ", printed(line))


def phase_text(phase: str) -> Text:
    return Text(phase, PHASES.get(phase, ""))


def as_text(said: Cell) -> Text:
    """A str is made safe for a terminal; a Text is trusted to be safe already."""
    return said if isinstance(said, Text) else Text(plain(said))


def columns(rows: Sequence[Sequence[Cell]]) -> Text:
    """Lines whose cells stand below each other; never folded or cut, so that a pipe gets what a person would read."""
    table = [[as_text(one) for one in row] for row in rows]
    widths = [max(one.cell_len for one in column) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        line = Text(GAP).join(_padded(cell, width) for cell, width in zip(row, widths, strict=True))
        line.rstrip()
        lines.append(line)
    return Text("\n").join(lines)


def _padded(cell: Text, width: int) -> Text:
    made = cell.copy()
    made.append(" " * (width - cell.cell_len))
    return made


def show(text: Text | str, to: Console) -> None:
    to.print(as_text(text), soft_wrap=True)


def show_objects(objects: Iterable[dict[str, Any]], how: ObjectFormat, *, as_list: bool = True) -> None:
    """As kubectl does: one object, or a List."""
    found = [without_managed_fields(one) for one in objects]
    if how == "name":
        for one in found:
            print(qualified(one["apiVersion"], one["kind"], one["metadata"]["name"]))
        return
    whole: Any = {"apiVersion": "v1", "kind": "List", "items": found} if as_list else found[0]
    if how == "json":
        import json  # noqa: PLC0415 - each format loads its own writer

        text = json.dumps(whole, indent=2, ensure_ascii=False)
        print(re.sub(r"[\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", text))  # JSON leaves these as they are
    else:
        print(as_yaml(whole), end="")


def qualified(api_version: str, kind: str, name: str) -> str:
    """As `kubectl -o name` writes it: pod/a, paddlejob.batch.paddlepaddle.org/b."""
    group, slash, _ = api_version.partition("/")
    return f"{kind.lower()}{f'.{group}' if slash else ''}/{name}"


def logs_hint(job: Job, flag: str = "") -> str:
    """The command that shows more: the output of the role that failed, else of the workers."""
    name, failed = job.metadata.name, job.status.failure
    role = failed.pod.removeprefix(f"{name}-").rpartition("-")[0] if failed else ""
    return f"paddlejob logs {name}{f' --role {role}' if role not in ('', 'worker') else ''}{flag}"
