"""All jobs of all places, kept up to date, and told to every page that is open.

Changes are collected for a moment and encoded once for all pages. A page that does not keep up is told everything anew
instead of being queued for without end.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import msgspec

from paddlejob.errors import PaddleJobError
from paddlejob.kube.tasks import TaskGroup, cancelled_and_joined
from paddlejob.places.place import Place
from paddlejob.ui.rows import At, Row, name_of, row

_LOG = logging.getLogger(__name__)

# Seconds between two messages, and before a place that refused us is asked again.
TICK = 0.2
RETRY = 5.0
# Seconds after which a place is asked whether it is still there; and times after which new namespaces are looked for.
PULSE = 10.0
PULSES = 30
# Messages that a page may be behind.
MOST_BEHIND = 32


class PlaceState(msgspec.Struct, frozen=True, kw_only=True):
    """What the page says of a place: whether its jobs are known, and what is wrong with it."""

    name: str
    known: bool = False
    trouble: str = ""


class News(msgspec.Struct, frozen=True, kw_only=True):
    """`whole`: these are all the jobs; otherwise those that changed, and those that are gone."""

    whole: bool
    jobs: tuple[Row, ...]
    gone: tuple[At, ...] = ()
    places: tuple[PlaceState, ...]


class Board:
    def __init__(self, places: Sequence[Place], namespace: str | None) -> None:
        self._places = places
        self._namespace = namespace
        self._rows: dict[At, Row] = {}
        self._states = {name_of(one): PlaceState(name=name_of(one)) for one in places}
        self._changed: set[At] = set()
        self._news = asyncio.Event()
        self._pages: set[asyncio.Queue[bytes]] = set()

    async def run(self) -> None:
        async with TaskGroup() as tasks:
            tasks.create_task(self._tell())
            for place in self._places:
                tasks.create_task(self._keep(place))

    async def page(self) -> AsyncGenerator[bytes, None]:
        """Everything, then every change."""
        queue: asyncio.Queue[bytes] = asyncio.Queue(MOST_BEHIND)
        self._pages.add(queue)
        try:
            yield self._encoded(whole=True)
            while True:
                yield await queue.get()
        finally:
            self._pages.discard(queue)

    async def _keep(self, place: Place) -> None:
        """The jobs of one place; whatever it refuses is said and asked for again."""
        while True:
            try:
                chosen = (self._namespace,) if self._namespace else await place.namespaces()
                self._forget_others(place, chosen)
                await asyncio.gather(*(self._first(place, one) for one in chosen))
                self._state(name_of(place), known=True)
                await self._watch_all(place, chosen)
            except PaddleJobError as error:
                self._state(name_of(place), trouble=str(error))
            except Exception as error:
                # A defect of ours, or an answer that nobody could expect: the other places are kept up to date.
                _LOG.exception("the jobs of %s", name_of(place))
                self._state(name_of(place), trouble=f"{type(error).__name__}: {error}")
            else:
                continue
            await asyncio.sleep(RETRY)

    def _forget_others(self, place: Place, chosen: Sequence[str | None]) -> None:
        """Jobs of namespaces that are gone, or that the person may no longer see."""
        if None not in chosen:
            for at in [at for at in self._rows if at.place == name_of(place) and at.namespace not in chosen]:
                self._set(at, None)

    async def _first(self, place: Place, namespace: str | None) -> None:
        """What is there now: a watch does not say what has gone since another ended, nor what is wrong."""
        name = name_of(place)
        found = {one.at: one for one in (row(name, each) for each in await place.list(namespace))}
        known = [at for at in self._rows if at.place == name and namespace in (None, at.namespace)]
        for at in (*known, *found):
            self._set(at, found.get(at))

    async def _watch_all(self, place: Place, namespaces: Sequence[str | None]) -> None:
        """Until one of them fails, or it is time to see which namespaces there are by now."""
        watching = [asyncio.ensure_future(self._watch(place, one)) for one in namespaces]
        watching.append(asyncio.ensure_future(self._pulse(place, for_ever=None in namespaces)))
        try:
            done, _ = await asyncio.wait(watching, return_when=asyncio.FIRST_COMPLETED)
            for one in done:
                one.result()
        finally:
            await cancelled_and_joined(*watching)

    async def _pulse(self, place: Place, *, for_ever: bool) -> None:
        """A place that is gone is told: rows that nobody keeps up to date look like those of a quiet place."""
        beats = 0
        while for_ever or beats < PULSES:
            beats += 1
            await asyncio.sleep(PULSE)
            await place.answers()

    async def _watch(self, place: Place, namespace: str | None) -> None:
        name = name_of(place)
        async with aclosing(place.watch(namespace)) as changes:
            async for key, now in changes:
                self._set(At(name, *key), row(name, now) if now else None)

    def _set(self, at: At, now: Row | None) -> None:
        if self._rows.get(at) == now:
            return
        if now is None:
            del self._rows[at]
        else:
            self._rows[at] = now
        self._changed.add(at)
        self._news.set()

    def _state(self, name: str, *, known: bool | None = None, trouble: str = "") -> None:
        before = self._states[name]
        now = PlaceState(name=name, known=before.known if known is None else known, trouble=trouble)
        if now != before:
            self._states[name] = now
            self._news.set()

    async def _tell(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            message = self._encoded(whole=False)
            self._changed.clear()
            for queue in self._pages:
                if queue.full():
                    while not queue.empty():
                        queue.get_nowait()
                    queue.put_nowait(self._encoded(whole=True))
                else:
                    queue.put_nowait(message)
            await asyncio.sleep(TICK)

    def _encoded(self, *, whole: bool) -> bytes:
        chosen = self._rows if whole else self._changed
        news = News(
            whole=whole,
            jobs=tuple(self._rows[at] for at in chosen if at in self._rows),
            gone=tuple(at for at in chosen if at not in self._rows),
            places=tuple(self._states.values()),
        )
        return msgspec.json.encode(news)
