"""`paddlejob list`: the jobs of this machine and of the cluster, as `kubectl get pdj` shows them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

from paddlejob.cli.errors import BadUse
from paddlejob.cli.output import Cell, Format, columns, console, note, phase_text, show, show_objects
from paddlejob.cli.where import ANYWHERE, Where, run
from paddlejob.errors import PaddleJobError
from paddlejob.places.place import Found, Place
from paddlejob.places.words import age, document, left, mode


def list_jobs(
    *,
    where: Where = ANYWHERE,
    all_namespaces: Annotated[bool, Parameter(alias="-A", help="List the jobs in all namespaces.")] = False,
    output: Annotated[Format | None, Parameter(alias="-o", help="Output format.")] = None,
    watch: Annotated[bool, Parameter(alias="-w", help="Keep running and show changes.")] = False,
) -> None:
    """List the jobs on this machine and on the cluster.

    Example: paddlejob list
    """
    if all_namespaces and where.namespace:
        raise BadUse("use either -n or -A, not both")
    if watch:
        if output in ("json", "yaml"):
            raise BadUse("-w shows a table: leave out -o, or give -o wide or -o name")
        from paddlejob.cli.list_watch import watch_jobs  # noqa: PLC0415 - only who watches pays for it

        run(watch_jobs(where, all_namespaces, output))
        return
    found = run(found_jobs(where, all_namespaces))
    if output in ("json", "yaml", "name"):
        show_objects([document(one) for one in found], output)
    elif found:
        show(table(found, wide=output == "wide", namespaces=all_namespaces), console())
    else:
        show(nothing(where), console())


async def found_jobs(where: Where, everywhere: bool) -> list[Found]:
    """A cluster that nobody asked for by name may be out of reach, if there are jobs on this machine."""
    found: list[Found] = []
    for enter in where.places:
        try:
            async with enter() as place:
                found += await place.list(listed(place, where, everywhere))
        except PaddleJobError as error:
            if not found:
                raise
            note(str(error))
    return found


def listed(place: Place, where: Where, everywhere: bool) -> str | None:
    return None if everywhere else where.namespace or place.listed


def table(jobs: Iterable[Found], *, wide: bool = False, namespaces: bool = False, progress: bool | None = None) -> Text:
    """`progress`: whether there are columns for it; otherwise where any job has some."""
    found = list(jobs)
    told = any(one.job.status.progress for one in found) if progress is None else progress
    places = len({one.where for one in found}) > 1
    heads = ["NAME", "STATUS", "MODE", "PS", "WORKER", "AGE"]
    heads = [*(["WHERE"] if places else []), *(["NAMESPACE"] if namespaces else []), *heads]
    heads = [*heads, *(["PROGRESS", "ETA"] if told else [])]
    rows: list[list[Cell]] = [[*heads, *(["RESTARTS", "REASON"] if wide else [])]]
    for one in found:
        rows.append(
            [
                *([one.where.removeprefix("the ")] if places else []),
                *([one.key.namespace] if namespaces else []),
                *_cells(one),
                *(_progress(one) if told else []),
                *([str(one.job.status.restarts), one.job.status.reason] if wide else []),
            ]
        )
    return columns(rows)


def _cells(found: Found) -> list[Cell]:
    meta, status = found.job.metadata, found.job.status
    roles = [one.ready if one else "" for one in (status.ps, status.worker)]
    return [meta.name, phase_text(found.phase), mode(found.job), *roles, age(meta.creation_timestamp or "")]


def _progress(found: Found) -> list[Cell]:
    progress = found.job.status.progress
    return [progress.summary, left(progress)] if progress else ["", ""]


def nothing(where: Where) -> str:
    if where.only_here:
        return "no jobs on this machine: start one with `paddlejob run FILE`"
    return "no jobs: start one here with `paddlejob run FILE`, on the cluster with `paddlejob submit FILE`"
