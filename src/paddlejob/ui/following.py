"""One job, told to a page whenever it, its pods or its events change, until it is gone."""

from __future__ import annotations

import asyncio
from asyncio import FIRST_COMPLETED
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress

import msgspec

from paddlejob.api.meta import Key
from paddlejob.core.children import Pod
from paddlejob.errors import Forbidden, NotFound
from paddlejob.kube.tasks import cancelled_and_joined
from paddlejob.places.place import Event, Found, Place, life
from paddlejob.ui.board import PULSE
from paddlejob.ui.details import JobDetails, details
from paddlejob.ui.rows import name_of

# Seconds between two messages at least; and until events are read again, which come later than what they tell.
TICK = 0.25
LATER = 1.5
# Others than the operator tell of a job, too, whatever its status.
RARELY = 15.0


class JobWatch:
    """What is known of the job; `news` is set when there is more."""

    def __init__(self, place: Place, found: Found) -> None:
        self._place = place
        self._found = found
        self._pods: dict[str, Pod] = {}
        # Pods that the watch has told of: a list that was asked for before may know less of them.
        self._heard_of: set[str] = set()
        self._events: tuple[Event, ...] = ()
        self._refused: dict[str, str] = {}
        self._gone = False
        self._news = asyncio.Event()

    async def run(self) -> AsyncGenerator[JobDetails, None]:
        kept = (self._watch_job(), self._watch_pods(), self._read_events(), self._pulse())
        watching = [asyncio.ensure_future(one) for one in kept]
        try:
            with self._allowed("pods"):
                for one in await self._place.pods(self._found.job):
                    if one.metadata.uid not in self._heard_of:
                        self._pods[one.metadata.uid] = one
            with self._allowed("events"):
                self._events = await self._place.events(self._found.job)
            while not self._gone:
                self._news.clear()
                yield self._details()
                await asyncio.sleep(TICK)
                await self._changes(watching)
        finally:
            await cancelled_and_joined(*watching)

    def _details(self) -> JobDetails:
        found = details(name_of(self._place), self._found, tuple(self._pods.values()), self._events)
        return msgspec.structs.replace(found, refused=dict(self._refused))

    @contextmanager
    def _allowed(self, what: str, *, twice: bool = False) -> Iterator[None]:
        """Who may see a job need not be allowed to see its pods or its events: then that is said in their place.

        `twice`: it is asked for elsewhere, too, in words that are plainer.
        """
        try:
            yield
        except Forbidden as error:
            if not (twice and what in self._refused):
                self._refused[what] = str(error)
            self._news.set()

    async def _changes(self, watching: Sequence[asyncio.Task[None]]) -> None:
        """Until there is news, or one who brings it fails. What counts down is told every second."""
        counts = self._found.job.status.next_attempt_time is not None or self._found.job.status.phase is None
        waiting = asyncio.ensure_future(self._news.wait())
        going_on = {one for one in watching if not one.done()}
        try:
            await asyncio.wait({waiting, *going_on}, timeout=1.0 if counts else None, return_when=FIRST_COMPLETED)
        finally:
            await cancelled_and_joined(waiting)
        for one in watching:
            if one.done():
                one.result()

    async def _pulse(self) -> None:
        while True:
            await asyncio.sleep(PULSE)
            await self._place.answers()

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
        with self._allowed("pods", twice=True):
            async with aclosing(self._place.watch_pods(self._found.job)) as changes:
                async for uid, pod in changes:
                    self._heard_of.add(uid)
                    if pod is None:
                        self._pods.pop(uid, None)
                    else:
                        self._pods[uid] = pod
                    self._news.set()

    async def _read_events(self) -> None:
        """After every change of the job, a little later, since the event of a change follows it, and now and then."""
        seen, quiet = None, 0.0
        while "events" not in self._refused:
            now = self._found.job.status
            if now != seen or quiet >= RARELY:
                seen, quiet = now, 0.0
                await asyncio.sleep(TICK)
                await self._events_now()
                await asyncio.sleep(LATER)
                await self._events_now()
            else:
                await asyncio.sleep(TICK)
                quiet += TICK

    async def _events_now(self) -> None:
        found = self._events
        with self._allowed("events"), suppress(NotFound):  # it was deleted just now: the watch says so
            found = await self._place.events(self._found.job)
        if found != self._events:
            self._events = found
            self._news.set()


async def followed(place: Place, key: Key) -> AsyncGenerator[tuple[str, bytes], None]:
    """Kind and JSON of each message: `job` for every change, `gone` at the end."""
    async with aclosing(JobWatch(place, await place.get(key)).run()) as looks:
        async for one in looks:
            yield "job", msgspec.json.encode(one)
    yield "gone", b"{}"
