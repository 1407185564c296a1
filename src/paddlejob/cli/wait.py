"""`paddlejob wait`: return when a job has ended, or has reached the state given with --for."""

from __future__ import annotations

from contextlib import aclosing
from typing import Annotated, Literal

from cyclopts import Parameter

from paddlejob.cli.durations import seconds
from paddlejob.cli.output import note
from paddlejob.cli.where import ANYWHERE, JobName, Where, at
from paddlejob.errors import Timeout
from paddlejob.places.place import Found, Place, life, loop
from paddlejob.places.words import unseen
from paddlejob.terminal import plain

# If no operator has picked up a new job after this long, there is probably none.
PATIENCE = 10.0

Goal = Literal["End", "Running", "Suspended", "Completed", "Failed", "Deleted"]


def wait(
    name: JobName,
    /,
    *,
    where: Where = ANYWHERE,
    for_: Annotated[Goal, Parameter(name="--for", help="What to wait for; End is Completed or Failed.")] = "End",
    timeout: Annotated[
        float | None, Parameter(converter=seconds, help="Give up after this long: 90s, 10m, 2h.")
    ] = None,
) -> int:
    """Wait until a job has finished, or has reached the state in --for. Exits with 1 if it failed or did not get there.

    Example: paddlejob wait wide-and-deep --timeout 10m
    """
    return at(name, where, lambda place, found: wait_for(place, found, for_, timeout))


async def wait_for(place: Place, found: Found, goal: Goal = "End", limit: float | None = None) -> int:
    name, newest = found.key.name, found

    async def watch() -> int:
        nonlocal newest
        async with aclosing(life(place, found.job)) as changes:
            async for newest in changes:
                if _reached(goal, newest.phase) or (newest.over and goal != "Deleted"):
                    return _say(newest, goal)
        return _say(newest if newest.job.status.finished and goal != "Deleted" else None, goal, name)

    await loop()
    import asyncio  # noqa: PLC0415 - there is a loop now

    watching = asyncio.ensure_future(watch())
    try:
        await asyncio.wait({watching}, timeout=PATIENCE if limit is None else min(PATIENCE, limit))
        if not watching.done() and newest.job.status.phase is None:
            note(f"{name}: {unseen(newest.job)}")
        await asyncio.wait({watching}, timeout=None if limit is None else max(0.0, limit - PATIENCE))
        if not watching.done():
            wanted = "ended" if goal == "End" else f"become {goal}"
            late = f"{name} has not {wanted} after {limit:g} s: it is {newest.phase}"
            raise Timeout(f"{late}; `paddlejob describe {name}` says why")
        return watching.result()
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


def _reached(goal: Goal, now: str) -> bool:
    """A job that has completed has been running."""
    return (
        now == goal or (goal == "Running" and now == "Completed") or (goal == "End" and now in ("Completed", "Failed"))
    )


def _say(found: Found | None, goal: Goal, name: str = "") -> int:
    now, message = (found.phase, found.job.status.message) if found else ("Deleted", "")
    print(plain(f"{found.key.name if found else name}: {now}: {message}".rstrip(": ")), flush=True)
    return 0 if now == "Completed" and goal == "End" else int(goal == "End" or not _reached(goal, now))
