"""One job, told to a page whenever it, its pods or its events change, until it is gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec

from paddlejob.api.meta import Key
from paddlejob.core.children import Pod
from paddlejob.errors import NotFound
from paddlejob.kube.tasks import cancelled_and_joined
from paddlejob.places.place import Event, Found, Place, life
from paddlejob.ui.details import JobDetails, details
from paddlejob.ui.rows import name_of

# Seconds between two messages at least; and until events are read again, which come later than what they tell.
TICK = 0.25
LATER = 1.5


class JobWatch:
    """What is known of the job; `news` is set when there is more."""

    def __init__(self, place: Place, found: Found) -> None:
        self._place = place
        self._found = found
        self._pods: dict[str, Pod] = {}
        # Pods that the watch has told of: a list that was asked for before may know less of them.
        self._heard_of: set[str] = set()
        self._events: tuple[Event, ...] = ()
        self._gone = False
        self._news = asyncio.Event()

    async def run(self) -> AsyncGenerator[JobDetails, None]:
        watching = [asyncio.ensure_future(one) for one in (self._watch_job(), self._watch_pods(), self._read_events())]
        try:
            for one in await self._place.pods(self._found.job):
                if one.metadata.uid not in self._heard_of:
                    self._pods[one.metadata.uid] = one
            self._events = await self._place.events(self._found.job)
            while not self._gone:
                self._news.clear()
                yield details(name_of(self._place), self._found, tuple(self._pods.values()), self._events)
                await asyncio.sleep(TICK)
                await self._changes()
                for one in watching:
                    if one.done():
                        one.result()
        finally:
            await cancelled_and_joined(*watching)

    async def _changes(self) -> None:
        """What counts down is told every second."""
        counts = self._found.job.status.next_attempt_time is not None or self._found.job.status.phase is None
        if not counts:
            await self._news.wait()
            return
        waiting = asyncio.ensure_future(self._news.wait())
        await asyncio.wait({waiting}, timeout=1.0)
        await cancelled_and_joined(waiting)

    async def _watch_job(self) -> None:
        try:
            async with aclosing(life(self._place, self._found.job)) as changes:
                async for now in changes:
                    self._found = now
                    self._news.set()
            self._gone = True
        finally:
            self._news.set()

    async def _watch_pods(self) -> None:
        async with aclosing(self._place.watch_pods(self._found.job)) as changes:
            async for uid, pod in changes:
                self._heard_of.add(uid)
                if pod is None:
                    self._pods.pop(uid, None)
                else:
                    self._pods[uid] = pod
                self._news.set()

    async def _read_events(self) -> None:
        """After every change of the job, and a little later: the event of a change follows it."""
        seen: object = None
        while True:
            now = self._found.job.status
            if now != seen:
                seen = now
                await asyncio.sleep(TICK)
                await self._events_now()
                await asyncio.sleep(LATER)
                await self._events_now()
            else:
                await asyncio.sleep(TICK)

    async def _events_now(self) -> None:
        try:
            found = await self._place.events(self._found.job)
        except NotFound:
            return  # it was deleted just now: the watch says so
        if found != self._events:
            self._events = found
            self._news.set()


async def followed(place: Place, key: Key) -> AsyncGenerator[tuple[str, bytes], None]:
    """Kind and JSON of each message: `job` for every change, `gone` at the end."""
    async with aclosing(JobWatch(place, await place.get(key)).run()) as looks:
        async for one in looks:
            yield "job", msgspec.json.encode(one)
    yield "gone", b"{}"
