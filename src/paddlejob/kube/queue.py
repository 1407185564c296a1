"""The keys that wait to be looked at: each at most once, in order, some only later.

Owns deduplication, delays and per-key back-off. Refuses to know what a key means or who works on it.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Hashable
from typing import Generic, TypeVar

from paddlejob.kube.backoff import Backoff

K = TypeVar("K", bound=Hashable)


class WorkQueue(Generic[K]):
    """A key that is being processed is never handed out a second time; added meanwhile, it comes once more after."""

    def __init__(self, rng: random.Random | None = None) -> None:
        self._rng = rng or random.Random()
        self._ready: asyncio.Queue[K] = asyncio.Queue()
        self._queued: set[K] = set()
        self._processing: set[K] = set()
        self._again: set[K] = set()
        self._timers: dict[K, asyncio.TimerHandle] = {}
        self._backoffs: dict[K, Backoff] = {}
        # Until when the server asked not to be bothered about a key, whatever happens meanwhile.
        self._held: dict[K, float] = {}

    @property
    def depth(self) -> int:
        """How many keys wait to be taken now; those that wait for their time are not counted."""
        return len(self._queued)

    def add(self, key: K) -> None:
        if key in self._processing:
            self._again.add(key)
        elif (rest := self._rest(key)) > 0:
            self.add_after(key, rest)
        elif key not in self._queued:
            self._queued.add(key)
            self._ready.put_nowait(key)

    def add_after(self, key: K, seconds: float) -> None:
        """Add the key later. Of several delays the earliest wins."""
        if seconds <= 0:
            self.add(key)
            return
        loop = asyncio.get_running_loop()
        when = loop.time() + seconds
        timer = self._timers.get(key)
        if timer is not None:
            if timer.when() <= when:
                return
            timer.cancel()
        self._timers[key] = loop.call_at(when, self._due, key)

    async def get(self) -> K:
        key = await self._ready.get()
        self._queued.discard(key)
        self._processing.add(key)
        return key

    def done(self, key: K) -> None:
        """Say that the key taken with `get` is no longer being processed."""
        self._processing.discard(key)
        if key in self._again:
            self._again.discard(key)
            self.add(key)

    def retry(self, key: K, *, at_least: float = 0.0) -> float:
        """Add the key after its back-off, and not before what the server asked for, even if it is added meanwhile."""
        backoff = self._backoffs.get(key)
        if backoff is None:
            backoff = self._backoffs[key] = Backoff(rng=self._rng)
        delay = max(at_least, backoff.next())
        if at_least > 0:
            self._held[key] = asyncio.get_running_loop().time() + at_least
        self.add_after(key, delay)
        return delay

    def forget(self, key: K) -> None:
        """Reset the key's back-off: it succeeded, or it is gone."""
        self._backoffs.pop(key, None)
        self._held.pop(key, None)

    def close(self) -> None:
        """Drop the delayed keys, so that no timer outlives the queue."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _rest(self, key: K) -> float:
        return self._held[key] - asyncio.get_running_loop().time() if key in self._held else 0.0

    def _due(self, key: K) -> None:
        del self._timers[key]
        self.add(key)
