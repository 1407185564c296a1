"""Structured concurrency on every Python we support.

Owns where `TaskGroup` and `timeout` come from, and how a task is ended so that nothing of it is left running.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

if sys.version_info >= (3, 11):
    from asyncio import TaskGroup, timeout
else:
    # The back-port is installed only where it is needed, so a newer Python's mypy cannot see it.
    from taskgroup import TaskGroup, timeout  # type: ignore[import-not-found, unused-ignore]  # 3.10 only

__all__ = ["TaskGroup", "TimedOut", "cancelled_and_joined", "timeout"]

# Before Python 3.11 these are two exceptions.
TimedOut = (asyncio.TimeoutError, TimeoutError)


async def cancelled_and_joined(*tasks: asyncio.Task[Any]) -> None:
    """Cancel the tasks and return only when they have ended, even if we are cancelled while we wait."""
    for task in tasks:
        task.cancel()
    interrupted = False
    while pending := [task for task in tasks if not task.done()]:
        try:
            await asyncio.wait(pending)
        except asyncio.CancelledError:
            interrupted = True
    for task in tasks:
        if not task.cancelled():
            task.exception()  # looked at, so that nobody complains that it never was
    if interrupted:
        raise asyncio.CancelledError
