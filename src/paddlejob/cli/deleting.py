"""`paddlejob delete`: end a job of this machine and forget it."""

from __future__ import annotations

import os
import signal
import time
from typing import Annotated

from cyclopts import Parameter

from paddlejob.cli.errors import BadUse
from paddlejob.local.errors import NotFound
from paddlejob.local.proc import is_alive
from paddlejob.local.runner import NAMESPACE
from paddlejob.local.state import clear_up, find, root

PAUSE = 0.05


def delete(
    name: str,
    /,
    *,
    force: Annotated[bool, Parameter(help="Do not wait for a graceful end.", negative="")] = False,
    namespace: Annotated[str, Parameter(name=["--namespace", "-n"], help="Its namespace.")] = NAMESPACE,
) -> None:
    """End a job of this machine, all its processes, and remove its logs.

    Example: paddlejob delete wide-and-deep
    """
    try:
        folder, state = find(root(os.environ), namespace, name)
    except NotFound as error:
        raise BadUse(str(error)) from error
    for _ in range(2 if force else 1):
        if is_alive(state.pid, state.start_time) and not state.ended:
            os.kill(state.pid, signal.SIGTERM)
    while is_alive(state.pid, state.start_time) and not state.ended:
        time.sleep(PAUSE)
    clear_up(state)
    folder.remove()
    print(f"{name} deleted")
