"""What commands print: columns as kubectl writes them, colours on a terminal only, and objects for other programs."""

from __future__ import annotations

import math
import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console
from rich.text import Text

from paddlejob.api import reasons
from paddlejob.core.times import moment
from paddlejob.terminal import coloured, lines, plain

if TYPE_CHECKING:
    from paddlejob.api import Job
    from paddlejob.core.children import Pod
    from paddlejob.places.place import Found

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
    found = [_without_managed_fields(one) for one in objects]
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


def document(found: Found) -> dict[str, Any]:
    """The object itself, as an API server would show it."""
    if found.document is not None:
        return found.document
    import msgspec  # noqa: PLC0415 - only -o json, yaml and name need it

    from paddlejob.api.status import as_json  # noqa: PLC0415 - only -o json, yaml and name need it

    return {**msgspec.to_builtins(found.job), "status": as_json(found.job.status)}


def qualified(api_version: str, kind: str, name: str) -> str:
    """As `kubectl -o name` writes it: pod/a, paddlejob.batch.paddlepaddle.org/b."""
    group, slash, _ = api_version.partition("/")
    return f"{kind.lower()}{f'.{group}' if slash else ''}/{name}"


def as_yaml(*objects: Any) -> str:
    import yaml  # noqa: PLC0415 - only yaml is written by it

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return str(yaml.dump_all(objects, Dumper=dumper, sort_keys=False, width=10**6, default_flow_style=False))


def _without_managed_fields(one: dict[str, Any]) -> dict[str, Any]:
    meta = {key: value for key, value in one["metadata"].items() if key != "managedFields"}
    return {**one, "metadata": meta}


def upcoming(job: Job) -> str:
    """When a job that failed starts again, the whole of it or a single pod."""
    at = job.status.next_attempt_time
    seconds = math.ceil((moment(at) - datetime.now(timezone.utc)).total_seconds()) if at else 0
    if seconds <= 0:
        return ""
    return f"; starts again in {seconds} s (restart {job.status.restarts} of {job.spec.backoff_limit})"


def unseen(job: Job) -> str:
    """A job without a status: nobody takes care of it."""
    if job.status.phase is not None:
        return ""
    since = age(job.metadata.creation_timestamp or "")
    return f"no operator has picked it up in {since}: is one installed? `paddlejob install` installs it"


def logs_hint(job: Job, flag: str = "") -> str:
    """The command that shows more: the output of the role that failed, else of the workers."""
    name, failed = job.metadata.name, job.status.failure
    role = failed.pod.removeprefix(f"{name}-").rpartition("-")[0] if failed else ""
    return f"paddlejob logs {name}{f' --role {role}' if role not in ('', 'worker') else ''}{flag}"


def age(since: str) -> str:
    """As kubectl writes it: 45s, 4m4s, 3h12m, 2d4h."""
    if not since:
        return ""
    seconds = max(0, int((datetime.now(timezone.utc) - moment(since)).total_seconds()))
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if minutes < 2:
        return f"{seconds}s"
    if hours < 3:
        return f"{minutes}m{seconds % 60}s" if minutes < 10 else f"{minutes}m"
    return f"{hours}h{minutes % 60}m" if days < 2 else f"{days}d{hours % 24}h"


def pod_word(pod: Pod) -> str:
    """The one word that says most about a pod."""
    for one in pod.containers:
        if one.state.waiting and one.state.waiting.reason not in ("", reasons.CONTAINER_CREATING):
            return one.state.waiting.reason
        if one.state.terminated and one.state.terminated.exit_code:
            return f"exit {one.state.terminated.exit_code}"
    return "stopping" if pod.deleting else pod.state


def restarts(pod: Pod) -> int:
    return sum(one.restart_count for one in pod.containers)


def uptime(pod: Pod) -> str:
    starts = [one.state.running.started_at for one in pod.containers if one.state.running]
    first = min((one for one in starts if one), default=None)
    return "" if first is None else age(first)
