"""`paddlejob usage`: what jobs have used: accelerators, or pods, times seconds, by what the jobs did meanwhile."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone
from typing import Annotated, Literal

from cyclopts import Parameter
from rich.text import Text

from paddlejob.api import Usage
from paddlejob.cli.errors import BadUse
from paddlejob.cli.list import found_jobs, nothing
from paddlejob.cli.output import Cell, columns, console, show
from paddlejob.cli.where import ANYWHERE, Where, at, run
from paddlejob.core.usage import so_far
from paddlejob.places.place import Found, Place
from paddlejob.places.words import span

HEADS: tuple[Cell, ...] = ("NAME", "OF", "WAITING", "STARTING", "TRAINING", "LOST", "TOTAL")


def usage(
    name: Annotated[str | None, Parameter(help="The job's name; without it, all jobs.")] = None,
    /,
    *,
    where: Where = ANYWHERE,
    all_namespaces: Annotated[bool, Parameter(alias="-A", help="Show the jobs in all namespaces.")] = False,
    output: Annotated[Literal["json"] | None, Parameter(alias="-o", help="Exact seconds, for programs.")] = None,
) -> None:
    """Show what jobs have used: each accelerator (each pod, where a job asks for none) counts for as long as it waited,
    started, trained, or trained in vain.

    Example: paddlejob usage
    """
    if name and all_namespaces:
        raise BadUse("use either the name of a job or -A, not both")
    found = [at(name, where, _one)] if name else run(found_jobs(where, all_namespaces))
    used = _used(found)
    if output:
        _show_json(used)
    elif found:
        show(_table(used, namespaces=all_namespaces), console())
    else:
        show(nothing(where), console())


async def _one(_: Place, found: Found) -> Found:
    return found


def _used(jobs: Iterable[Found]) -> list[tuple[Found, Usage]]:
    """A job that nobody looks after any more uses nothing."""
    now = datetime.now(timezone.utc)
    return [(one, (one.job.status.usage or Usage()) if one.over else so_far(one.job, now)) for one in jobs]


def _table(used: Iterable[tuple[Found, Usage]], *, namespaces: bool) -> Text:
    rows: list[list[Cell]] = [[*(["NAMESPACE"] if namespaces else []), *HEADS]]
    for found, one in used:
        times = (one.waiting, one.starting, one.training, one.lost, total(one))
        where = [found.key.namespace] if namespaces else []
        rows.append([*where, found.key.name, one.of, *map(span, times)])
    return columns(rows)


def total(used: Usage) -> int:
    return used.waiting + used.starting + used.training + used.lost


def _show_json(used: Iterable[tuple[Found, Usage]]) -> None:
    import json  # noqa: PLC0415 - only who asks for it pays for it

    sums = ("waiting", "starting", "training", "lost")
    rows = [
        {
            "namespace": found.key.namespace,
            "name": found.key.name,
            "where": found.where,
            "of": one.of,
            **{name: getattr(one, name) for name in sums},
            "total": total(one),
        }
        for found, one in used
    ]
    print(json.dumps(rows, indent=2))
