"""`paddlejob wait`: come back when a job has ended."""

from __future__ import annotations

import os
import time
from typing import Annotated

from cyclopts import Parameter

from paddlejob.cli.errors import BadUse, UserError
from paddlejob.cli.listing import phase
from paddlejob.local.errors import NotFound
from paddlejob.local.runner import NAMESPACE
from paddlejob.local.state import State, find, root

PAUSE = 0.2


def wait(
    name: str,
    /,
    *,
    timeout: Annotated[float | None, Parameter(help="Give up after so many seconds.")] = None,
    namespace: Annotated[str, Parameter(name=["--namespace", "-n"], help="Its namespace.")] = NAMESPACE,
) -> int:
    """Wait for the end of a job: exit code 0 when it completed, 1 when it did not.

    Example: paddlejob wait wide-and-deep --timeout 600
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    state: State | None = None
    while True:
        try:
            _, state = find(root(os.environ), namespace, name)
        except NotFound as error:
            if state is None:
                raise BadUse(str(error)) from error
            if not state.job.status.finished:
                raise UserError(f"{name} is gone: somebody deleted it, or it expired as it ended") from error
        if not state.alive:
            print(f"{name}: {phase(state)}: {state.job.status.message}".rstrip(": "))
            return 0 if state.job.status.phase == "Completed" else 1
        if deadline is not None and time.monotonic() > deadline:
            raise UserError(f"{name} has not ended within {timeout:g} s: it is {phase(state)}")
        time.sleep(PAUSE)
