"""`paddlejob delete`: end a job, of this machine or of the cluster, and forget it."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from paddlejob.cli.errors import BadUse
from paddlejob.cli.finding import at
from paddlejob.cli.where import ANYWHERE, Place
from paddlejob.local.proc import is_alive
from paddlejob.local.state import Folder, State

if TYPE_CHECKING:
    from paddlejob.api import PaddleJob
    from paddlejob.sdk.cluster import Cluster

PAUSE = 0.05


def delete(
    *names: str,
    place: Place = ANYWHERE,
    force: Annotated[bool, Parameter(help="On this machine: do not wait for a graceful end.", negative="")] = False,
    wait: Annotated[bool, Parameter(help="On the cluster: come back when it is gone.")] = True,
) -> None:
    """End jobs and remove them: on this machine with their logs, on the cluster with their pods.

    Example: paddlejob delete wide-and-deep
    """
    if not names:
        raise BadUse("which job? `paddlejob list` shows those there are")

    def here(folder: Folder, state: State) -> None:
        _end(folder, state, force=force)
        print(f"{state.job.metadata.name} deleted")

    async def there(cluster: Cluster, job: PaddleJob) -> None:
        meta = job.metadata
        await cluster.delete(meta.name, meta.namespace)
        if wait:
            await _gone(cluster, job)
        print(f"{meta.name} deleted" + ("" if wait else " as soon as it can be"))

    for name in names:
        at(name, place, here, there)


def _end(folder: Folder, state: State, *, force: bool) -> None:
    folder.mark_deleted()
    for _ in range(2 if force else 1):
        if is_alive(state.pid, state.start_time) and not state.ended:
            os.kill(state.pid, signal.SIGTERM)
    while is_alive(state.pid, state.start_time) and not state.ended:
        time.sleep(PAUSE)
    folder.remove(state)


async def _gone(cluster: Cluster, job: PaddleJob) -> None:
    async for change in cluster.watch(job.metadata.namespace, job.metadata.name):
        if change.after is None or change.after.metadata.uid != job.metadata.uid:
            return
