"""`paddlejob wait`: come back when a job has ended, or is as far as asked."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from paddlejob.cli.durations import seconds
from paddlejob.cli.errors import UserError
from paddlejob.cli.finding import at
from paddlejob.cli.listing import phase
from paddlejob.cli.output import note
from paddlejob.cli.where import ANYWHERE, Place
from paddlejob.local.state import Folder, State
from paddlejob.terminal import plain

if TYPE_CHECKING:
    from paddlejob.api import PaddleJob
    from paddlejob.sdk.cluster import Cluster

PAUSE = 0.2
# So long an operator may take to look at a new job before its absence is the likely reason.
PATIENCE = 10.0

Goal = Literal["End", "Running", "Suspended", "Completed", "Failed", "Deleted"]


def wait(
    name: str,
    /,
    *,
    place: Place = ANYWHERE,
    for_: Annotated[Goal, Parameter(name="--for", help="How far; End: Completed or Failed.")] = "End",
    timeout: Annotated[float | None, Parameter(converter=seconds, help="Give up after 90s, 10m, 2h.")] = None,
) -> int:
    """Wait for a job: exit code 0 when it came as far as asked, 1 when it did not. Its end counts when it completed.

    Example: paddlejob wait wide-and-deep --timeout 10m
    """

    def here(folder: Folder, _: State) -> int:
        return _wait_here(name, folder, for_, timeout)

    async def there(cluster: Cluster, job: PaddleJob) -> int:
        return await wait_there(cluster, job, for_, timeout)

    return at(name, place, here, there)


def _wait_here(name: str, folder: Folder, goal: Goal, limit: float | None) -> int:
    deadline = None if limit is None else time.monotonic() + limit
    now = "Pending"
    state: State | None = None
    while True:
        state = folder.read() or (state if state and state.job.status.finished else None)
        if state is None:
            return _say(name, "Deleted", "", goal)
        now = phase(state)
        if not state.alive or _reached(goal, now):
            return _say(name, now, state.job.status.message, goal)
        if deadline is not None and time.monotonic() > deadline:
            raise UserError(_late(name, limit, now, goal))
        time.sleep(PAUSE)


async def wait_there(cluster: Cluster, job: PaddleJob, goal: Goal, limit: float | None) -> int:
    meta = job.metadata
    newest = job

    async def watch() -> int:
        nonlocal newest
        async for change in cluster.watch(meta.namespace, meta.name):
            now = change.after
            if now is None or now.metadata.uid != meta.uid:
                return _say(meta.name, "Deleted", "", goal)
            newest = now
            current = now.status.phase or "Pending"
            if _reached(goal, current) or (now.status.finished and goal != "Deleted"):
                return _say(meta.name, current, now.status.message, goal)
        raise AssertionError("a watch ends only by being left")

    watching = asyncio.ensure_future(watch())
    try:
        await asyncio.wait({watching}, timeout=PATIENCE if limit is None else min(PATIENCE, limit))
        if not watching.done() and newest.status.phase is None:
            from paddlejob.cli.describing import unseen  # noqa: PLC0415 - hardly ever needed

            note(f"{meta.name}: {unseen(newest)}")
        rest = None if limit is None else max(0.0, limit - PATIENCE)
        await asyncio.wait({watching}, timeout=rest)
        if not watching.done():
            raise UserError(_late(meta.name, limit, newest.status.phase or "Pending", goal))
        return watching.result()
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


def _reached(goal: Goal, now: str) -> bool:
    """A job that has completed has been running."""
    return (
        now == goal or (goal == "Running" and now == "Completed") or (goal == "End" and now in ("Completed", "Failed"))
    )


def _say(name: str, now: str, message: str, goal: Goal) -> int:
    print(plain(f"{name}: {now}: {message}".rstrip(": ")), flush=True)
    return 0 if now == "Completed" and goal == "End" else int(goal == "End" or not _reached(goal, now))


def _late(name: str, limit: float | None, now: str, goal: Goal) -> str:
    wanted = "ended" if goal == "End" else f"become {goal}"
    return f"{name} has not {wanted} within {limit:g} s: it is {now}; `paddlejob describe {name}` says why"
