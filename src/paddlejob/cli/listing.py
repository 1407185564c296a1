"""`paddlejob list`: the jobs of this machine, as `kubectl get pdj` shows those of a cluster."""

from __future__ import annotations

import os
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from paddlejob.cli.views import age
from paddlejob.local.state import State, folders, root

COLUMNS = ("NAME", "STATUS", "MODE", "PS", "WORKER", "AGE")


def list_jobs(
    *,
    namespace: Annotated[str | None, Parameter(name=["--namespace", "-n"], help="Of this namespace only.")] = None,
) -> None:
    """List the jobs that run or ran on this machine.

    Example: paddlejob list
    """
    console = Console(highlight=False)
    found = [state for _, state in folders(root(os.environ), namespace)]
    if not found:
        console.print("no local jobs; start one with `paddlejob run FILE`", soft_wrap=True)
        return
    table = Table(*COLUMNS, box=None, pad_edge=False, header_style="")
    for state in found:
        status = state.job.status
        roles = [one.ready if one else "" for one in (status.ps, status.worker)]
        created = age(state.job.metadata.creation_timestamp or "")
        table.add_row(state.job.metadata.name, phase(state), status.mode or "", *roles, created)
    console.print(table)


def phase(state: State) -> str:
    """What the job is now; one whose runner vanished in the middle did not end by itself."""
    if state.alive or state.job.status.finished:
        return state.job.status.phase or "Pending"
    return "Stopped" if state.ended else "Lost"
