"""Waits for what is to be awaited, from ordinary code: on a thread that has a loop of its own, so that it works in a
notebook too, where a loop runs already.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncGenerator, Coroutine, Iterator
from concurrent.futures import CancelledError, Future, TimeoutError, wait
from typing import Any, TypeVar

T = TypeVar("T")
GLANCE = 0.5
# How long an interrupted call may take to leave in order.
PATIENCE = 5.0
_END: Any = object()
_lock = threading.Lock()
_loops: dict[int, asyncio.AbstractEventLoop] = {}


def blocking(coroutine: Coroutine[Any, Any, T]) -> T:
    """Its result. An interrupt from the keyboard ends it, and comes through when it has ended."""
    loop, answer = _loop(), Future[T]()
    running: list[asyncio.Task[T]] = []

    def start() -> None:
        running.append(loop.create_task(coroutine))
        running[0].add_done_callback(lambda task: _tell(task, answer))

    def stop() -> None:
        if running:
            running[0].cancel()
        else:  # interrupted before it could start
            coroutine.close()
            answer.set_exception(CancelledError())

    try:
        loop.call_soon_threadsafe(start)
        return _result(answer)
    except BaseException:
        if not answer.done():
            loop.call_soon_threadsafe(stop)
            wait([answer], PATIENCE)
        raise


def _result(answer: Future[T]) -> T:
    """Not by one long wait: an interrupt that comes just before a wait begins is seen only when it ends."""
    while True:
        try:
            return answer.result(GLANCE)
        except TimeoutError:
            if answer.done():
                return answer.result()


def _tell(task: asyncio.Task[T], answer: Future[T]) -> None:
    if task.cancelled():
        answer.set_exception(CancelledError())
    elif (error := task.exception()) is not None:
        answer.set_exception(error)
    else:
        answer.set_result(task.result())


def iterating(items: AsyncGenerator[T, None]) -> Iterator[T]:
    try:
        while (one := blocking(_next(items))) is not _END:
            yield one
    finally:
        if not sys.is_finalizing():  # then the thread is gone, and all it held
            blocking(items.aclose())


async def _next(items: AsyncGenerator[T, None]) -> T:
    found: T = await anext(items, _END)
    return found


def _loop() -> asyncio.AbstractEventLoop:
    """One per process: a fork does not take threads along."""
    with _lock:
        pid = os.getpid()
        if pid not in _loops:
            _loops[pid] = asyncio.new_event_loop()
            threading.Thread(target=_loops[pid].run_forever, name="paddlejob", daemon=True).start()
        return _loops[pid]
