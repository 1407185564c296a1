"""One limit on work in flight, shared fairly: waiters are served round-robin between keys, in order within a key.

Owns who goes next. Refuses to know what the work is.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager


class FairLimiter:
    """A key with a thousand waiters delays a key with one by one slot, not by a thousand."""

    def __init__(self, limit: int) -> None:
        if limit < 1:
            raise ValueError(f"a limit of {limit} lets nothing through: give 1 or more")
        self.limit = self._free = limit
        # Insertion order is whose turn it is: a key that was served moves to the end.
        self._waiting: dict[Hashable, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def slot(self, key: Hashable) -> AsyncIterator[None]:
        await self._acquire(key)
        try:
            yield
        finally:
            self._release()

    async def _acquire(self, key: Hashable) -> None:
        if self._free:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._leave(key, turn)
            else:
                # The slot was handed over in the very moment of the cancellation: pass it on.
                self._release()
            raise

    def _leave(self, key: Hashable, turn: asyncio.Future[None]) -> None:
        # A release may have met the cancelled waiter already and dropped it.
        line = self._waiting.get(key, deque())
        if turn in line:
            line.remove(turn)
        if not line:
            self._waiting.pop(key, None)

    def _release(self) -> None:
        while self._waiting:
            key = next(iter(self._waiting))
            line = self._waiting.pop(key)
            turn = line.popleft()
            if line:
                self._waiting[key] = line
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
