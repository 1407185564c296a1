"""`paddlejob list`: the jobs of this machine and of the cluster, as `kubectl get pdj` shows them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from cyclopts import Parameter
from rich.text import Text

from paddlejob.api import PaddleJob, reasons
from paddlejob.api.status import as_json
from paddlejob.cli.errors import BadUse, UserError
from paddlejob.cli.output import Cell, Format, age, columns, console, note, phase_text, show, show_objects
from paddlejob.cli.where import ANYWHERE, Place
from paddlejob.local.state import State, folders, root

if TYPE_CHECKING:
    from paddlejob.sdk.cluster import Cluster

HERE = "this machine"


class Row(msgspec.Struct, frozen=True):
    where: str
    phase: str
    job: PaddleJob


def list_jobs(
    *,
    place: Place = ANYWHERE,
    all_namespaces: Annotated[bool, Parameter(name=["--all-namespaces", "-A"], negative="", help="Of all.")] = False,
    output: Annotated[Format | None, Parameter(name=["--output", "-o"], help="Another form.")] = None,
    watch: Annotated[bool, Parameter(name=["--watch", "-w"], negative="", help="Go on showing changes.")] = False,
) -> int:
    """List the jobs of this machine and of the cluster.

    Example: paddlejob list
    """
    if all_namespaces and place.namespace:
        raise BadUse("-n and -A exclude each other: give one of them")
    if watch:
        if output in ("json", "yaml"):
            raise BadUse("-w shows a table: leave out -o, or give -o wide or -o name")
        from paddlejob.cli.watching import watch_jobs  # noqa: PLC0415 - only who watches pays for it

        return watch_jobs(place, all_namespaces, output)
    here = [] if place.only_there else local_rows(place)
    there, code = _cluster_rows(place, all_namespaces, bool(here))
    if output in ("json", "yaml", "name"):
        show_objects([*(as_object(row.job) for row in here), *there], output)
        return code
    rows = [*here, *(remote_row(msgspec.convert(one, PaddleJob)) for one in there)]
    if rows:
        show(table(rows, wide=output == "wide", namespaces=all_namespaces), console())
    elif not code:
        show(nothing(place), console())
    return code


def local_rows(place: Place) -> list[Row]:
    found = folders(root(os.environ), place.namespace)
    return [Row(HERE, phase(state), state.job) for _, state in found]


def remote_row(job: PaddleJob) -> Row:
    return Row("cluster", "Terminating" if job.metadata.deletion_timestamp else job.status.phase or "Pending", job)


def _cluster_rows(place: Place, everywhere: bool, some_here: bool) -> tuple[tuple[dict[str, Any], ...], int]:
    """The cluster's jobs, and the exit code: a cluster that nobody asked for by name may be out of reach."""
    if place.only_here:
        return (), 0
    from paddlejob.cli.reaching import on_cluster  # noqa: PLC0415 - only who asks a cluster pays for it

    async def ask(cluster: Cluster, namespace: str) -> tuple[dict[str, Any], ...]:
        return await cluster.documents(None if everywhere else namespace)

    try:
        return on_cluster(place, ask), 0
    except UserError as error:
        if not some_here or place.only_there:
            raise
        note(str(error))
        return (), 0


def table(rows: Iterable[Row], *, wide: bool = False, namespaces: bool = False) -> Text:
    found = list(rows)
    places = len({row.where for row in found}) > 1
    heads = ["NAME", "STATUS", "MODE", "PS", "WORKER", "AGE"]
    heads = [*(["WHERE"] if places else []), *(["NAMESPACE"] if namespaces else []), *heads]
    lines: list[list[Cell]] = [[*heads, *(["RESTARTS", "REASON"] if wide else [])]]
    for row in found:
        lines.append(
            [
                *([row.where] if places else []),
                *([row.job.metadata.namespace] if namespaces else []),
                *_cells(row),
                *([str(row.job.status.restarts), row.job.status.reason] if wide else []),
            ]
        )
    return columns(lines)


def _cells(row: Row) -> list[Cell]:
    meta, status = row.job.metadata, row.job.status
    roles = [one.ready if one else "" for one in (status.ps, status.worker)]
    mode = status.mode or row.job.spec.mode
    return [meta.name, phase_text(row.phase), mode, *roles, age(meta.creation_timestamp or "")]


def phase(state: State) -> str:
    """What a job of this machine is now; one whose runner vanished in the middle did not end by itself."""
    if state.alive or state.job.status.finished:
        return state.job.status.phase or "Pending"
    return reasons.STOPPED if state.ended else "Lost"


def as_object(job: PaddleJob) -> dict[str, Any]:
    """A job of this machine, as the API server would show it."""
    made: dict[str, Any] = msgspec.to_builtins(job)
    return {**made, "status": as_json(job.status)}


def nothing(place: Place) -> str:
    if place.only_here:
        return "no local jobs; start one with `paddlejob run FILE`"
    return "no jobs; start one here with `paddlejob run FILE`, on the cluster with `paddlejob submit FILE`"
