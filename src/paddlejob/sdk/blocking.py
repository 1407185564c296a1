"""Waits for what is to be awaited, from ordinary code: on a thread that has a loop of its own, so that it works in a
notebook too, where a loop runs already.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from _thread import start_new_thread
from collections.abc import AsyncGenerator, Coroutine, Iterator
from typing import Any, TypeVar

T = TypeVar("T")
GLANCE = 0.5
# How long an interrupted call may take to leave in order.
PATIENCE = 5.0
_END: Any = object()
_lock = threading.Lock()
_loops: dict[int, asyncio.AbstractEventLoop] = {}


def blocking(coroutine: Coroutine[Any, Any, T]) -> T:
    """Its result. An interrupt from the keyboard ends it, and comes through when it has ended.

    It is waited for with a bare lock: an interrupt inside of Python's conditions, and so of its futures, may leave
    them locked for ever. And not by one long wait: one that comes just before a wait begins is seen only when it ends.
    """
    loop, done = _loop(), threading.Lock()
    done.acquire()
    running: list[asyncio.Task[T]] = []
    ended: list[asyncio.Task[T]] = []

    def start() -> None:
        running.append(loop.create_task(coroutine))
        running[0].add_done_callback(end)

    def end(task: asyncio.Task[T]) -> None:
        ended.append(task)
        done.release()

    def stop() -> None:
        if running:
            running[0].cancel()
        else:  # interrupted before it could start
            coroutine.close()
            done.release()

    try:
        loop.call_soon_threadsafe(start)
        while not done.acquire(timeout=GLANCE):
            pass
    except BaseException:
        if not ended:
            loop.call_soon_threadsafe(stop)
            done.acquire(timeout=PATIENCE)
        raise
    return ended[0].result()


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
    """One per process: a fork does not take threads along. Known only once its thread is there, and started without
    `threading.Thread`, whose start can be interrupted half-way.
    """
    with _lock:
        pid = os.getpid()
        if pid not in _loops:
            loop = asyncio.new_event_loop()
            start_new_thread(loop.run_forever, ())
            _loops[pid] = loop
        return _loops[pid]
