"""Waits for a condition with a deadline, never for a time: `eventually` in async tests, `wait_until` in others.

A check that returns something falsy, or raises what NOT_YET names, is tried again.
"""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tests.cluster.api import ApiError

T = TypeVar("T")

TIMEOUT = 60.0  # for what is broken, not a measure: under load, things take their time
# A field that a check reads may still be missing.
NOT_YET = (AssertionError, ApiError, LookupError)
_FIRST, _LONGEST, _GROWTH = 0.02, 0.5, 1.5


def wait_until(check: Callable[[], T], timeout: float = TIMEOUT) -> T:
    """The first truthy answer of `check`."""
    deadline = time.monotonic() + timeout
    pause = _FIRST
    while True:
        try:
            if result := check():
                return result
            why = f"the check said {result!r}"
        except NOT_YET as error:
            why = str(error) or repr(error)
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout} s: {why}")
        time.sleep(pause)
        pause = min(pause * _GROWTH, _LONGEST)


async def eventually(check: Callable[[], T | Awaitable[T]], timeout: float = TIMEOUT) -> T:
    """The first truthy answer of `check`. A plain function runs in a thread: it may block, the loop turns on."""
    deadline = time.monotonic() + timeout
    pause = _FIRST
    while True:
        try:
            result = await _answer(check)
            if result:
                return result
            why = f"the check said {result!r}"
        except NOT_YET as error:
            why = str(error) or repr(error)
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout} s: {why}")
        await asyncio.sleep(pause)
        pause = min(pause * _GROWTH, _LONGEST)


async def _answer(check: Callable[[], T | Awaitable[T]]) -> T:
    if inspect.iscoroutinefunction(check):
        return await check()  # type: ignore[no-any-return]  # the question before narrows to Any
    answer = await asyncio.to_thread(check)
    if inspect.isawaitable(answer):
        return await answer
    return answer
