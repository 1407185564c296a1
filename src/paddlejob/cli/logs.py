"""`paddlejob logs`: what the pods of a job print, all workers together or chosen ones."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Annotated, Literal

from cyclopts import Parameter
from rich.console import Console
from rich.text import Text

from paddlejob.cli.errors import BadUse
from paddlejob.cli.follow import Logs
from paddlejob.local.errors import NotFound
from paddlejob.local.runner import NAMESPACE
from paddlejob.local.state import Folder, find, root

PAUSE = 0.2


def logs(
    name: str,
    /,
    *,
    follow: Annotated[bool, Parameter(name=["--follow", "-f"], help="Go on until the job ends.", negative="")] = False,
    role: Annotated[Literal["ps", "worker", "heter", "all"], Parameter(help="Of which role.")] = "worker",
    index: Annotated[int | None, Parameter(help="Of one pod only.")] = None,
    tail: Annotated[int | None, Parameter(help="Only the last so many lines of each pod.")] = None,
    namespace: Annotated[str, Parameter(name=["--namespace", "-n"], help="Its namespace.")] = NAMESPACE,
) -> None:
    """Print the output of a job's pods: of those that are there now, and with -f of those that come after them.

    Example: paddlejob logs -f wide-and-deep
    """
    try:
        folder, _ = find(root(os.environ), namespace, name)
    except NotFound as error:
        raise BadUse(str(error)) from error
    console = Console(highlight=False)
    wanted = f"{name}-{'*' if role == 'all' else role}-{'*' if index is None else index}"
    for pod, line in _lines(folder, wanted, tail, follow=follow):
        console.print(Text(f"[{pod}] {line}"), soft_wrap=True)


def _lines(folder: Folder, wanted: str, tail: int | None, *, follow: bool) -> Iterator[tuple[str, str]]:
    following = Logs(folder.logs, wanted)
    first = True
    while True:
        state = folder.read()
        over = not follow or state is None or not state.alive
        for pod, lines in following.news(last_call=over):
            for line in lines[-tail:] if first and tail is not None else lines:
                yield pod, line
        if over:
            return
        first = False
        time.sleep(PAUSE)
