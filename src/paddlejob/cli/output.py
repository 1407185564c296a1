"""What commands print: columns as kubectl writes them, colours on a terminal only, and objects for other programs."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from paddlejob.api import PaddleJob

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


def console() -> Console:
    return Console(highlight=False)


def note(text: str) -> None:
    """Something to know that is no part of the answer."""
    print(f"paddlejob: {text}", file=sys.stderr)


def coloured(phase: str) -> Text:
    return Text(phase, PHASES.get(phase, ""))


def columns(rows: Sequence[Sequence[Cell]]) -> Text:
    """Lines whose cells stand below each other; never folded or cut, so that a pipe gets what a person would read."""
    table = [[one if isinstance(one, Text) else Text(one) for one in row] for row in rows]
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
    to.print(text if isinstance(text, Text) else Text(text), soft_wrap=True)


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

        print(json.dumps(whole, indent=2, ensure_ascii=False))
    else:
        print(as_yaml(whole), end="")


def qualified(api_version: str, kind: str, name: str) -> str:
    """As `kubectl -o name` writes it: pod/a, paddlejob.batch.paddlepaddle.org/b."""
    group, slash, _ = api_version.partition("/")
    return f"{kind.lower()}{f'.{group}' if slash else ''}/{name}"


def as_yaml(*objects: Any) -> str:
    import yaml  # noqa: PLC0415 - as above

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return str(yaml.dump_all(objects, Dumper=dumper, sort_keys=False, width=10**6, default_flow_style=False))


def _without_managed_fields(one: dict[str, Any]) -> dict[str, Any]:
    meta = {key: value for key, value in one["metadata"].items() if key != "managedFields"}
    return {**one, "metadata": meta}


def upcoming(job: PaddleJob) -> str:
    """When a job that failed starts again, the whole of it or a single pod."""
    at = job.status.next_attempt_time
    seconds = (
        math.ceil((datetime.fromisoformat(_without_fraction(at)) - datetime.now(timezone.utc)).total_seconds())
        if at
        else 0
    )
    if seconds <= 0:
        return ""
    return f"; starts again in {seconds} s (restart {job.status.restarts} of {job.spec.backoff_limit})"


def age(since: str) -> str:
    """As kubectl writes it: 45s, 4m4s, 3h12m, 2d4h."""
    if not since:
        return ""
    begun = datetime.fromisoformat(_without_fraction(since))
    seconds = max(0, int((datetime.now(timezone.utc) - begun).total_seconds()))
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if minutes < 2:
        return f"{seconds}s"
    if hours < 3:
        return f"{minutes}m{seconds % 60}s" if minutes < 10 else f"{minutes}m"
    return f"{hours}h{minutes % 60}m" if days < 2 else f"{days}d{hours % 24}h"


def _without_fraction(stamp: str) -> str:
    """Python before 3.11 reads neither Z nor fractions of other than three or six digits."""
    whole, _, rest = stamp.removesuffix("Z").partition(".")
    return f"{whole}+00:00" if stamp.endswith("Z") else f"{whole}{rest.lstrip('0123456789')}"
