"""Keeps a store equal to what the API server has: one list, then a watch, for ever.

Owns the version to go on from and when to start over. It ends only by being cancelled: whatever the server or the
network do, it tells `on_error`, waits and goes on. Every list is a consistent read: it holds all that was written
before it was begun.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Generic, NoReturn

import aiohttp
import msgspec

from paddlejob.kube.backoff import Backoff
from paddlejob.kube.client import Client
from paddlejob.kube.errors import (
    ApiBadRequest,
    ApiError,
    ApiGone,
    ApiInvalid,
    ApiNotFound,
    KubeError,
    Silent,
    Undecodable,
)
from paddlejob.kube.events import Bookmark, Removed, Seen, Skipped, WatchEvent
from paddlejob.kube.objects import Key, Resource, T, key_of
from paddlejob.kube.store import Store
from paddlejob.kube.tasks import cancelled_and_joined

PAGE = 500
# Servers send a bookmark about once a minute: a connection silent for longer may be dead, and asking again is cheap.
SILENCE_SECONDS = 75.0
# A watch that ends sooner than this without a word is no ordinary end: reconnecting at once would be a storm.
HOT_SECONDS = 1.0
# So often a streamed list may be cut before its end until paged lists are tried instead.
STREAM_ATTEMPTS = 3

_SURVIVED = (KubeError, OSError, asyncio.TimeoutError, aiohttp.ClientError, msgspec.MsgspecError)


class _Cut(KubeError):
    """A streamed list ended before its end was announced, or a watch ended at once without a word."""


class Reflector(Generic[T]):
    def __init__(  # noqa: PLR0913 - what to keep where; the rest are keywords with defaults
        self,
        client: Client,
        resource: Resource[T],
        store: Store[T],
        *,
        namespace: str | None = None,
        selector: str = "",
        fields: str = "",
        on_undecodable: Callable[[Skipped], None] | None = None,
        on_error: Callable[[Exception], None] | None = None,
        rng: random.Random | None = None,
        silence: float = SILENCE_SECONDS,
    ) -> None:
        self.synced = asyncio.Event()
        self._fresh = asyncio.Event()
        self._advancing: asyncio.Future[None] | None = None
        self._client = client
        self._resource = resource
        self._store = store
        self._namespace = namespace
        self._selector = selector
        self._fields = fields
        self._on_undecodable = on_undecodable
        self._on_error = on_error
        self._rng = rng or random.Random()
        self._silence = silence
        self._backoff = Backoff(first=0.2, most=30.0, rng=self._rng)
        # None: nothing to go on from, a list is needed.
        self._version: str | None = None
        self._can_stream = True
        self._cuts = 0

    async def run(self) -> NoReturn:
        while True:
            advancing = self._advancing = asyncio.ensure_future(self._survive())
            try:
                await asyncio.wait({advancing})
            finally:
                await cancelled_and_joined(advancing)
            if not advancing.cancelled():  # as `refresh` does
                advancing.result()

    def refresh(self) -> asyncio.Event:
        """List anew, whatever is under way; the event says when a list that was begun after this call is in the store.

        A watch may be behind by any time. Before the first list there is nothing to repeat.
        """
        self._fresh = asyncio.Event()
        self._version = None
        self._backoff.reset()
        if self._advancing is not None:
            self._advancing.cancel()
        return self._fresh

    async def _survive(self) -> None:
        try:
            await self._advance()
        except _SURVIVED as error:
            if delay := self._after(error):
                await asyncio.sleep(delay)

    async def _advance(self) -> None:
        if self._version is not None:
            await self._follow()
        elif self._can_stream and self._cuts < STREAM_ATTEMPTS:
            await self._stream()
        else:
            await self._list()

    def _after(self, error: Exception) -> float:
        """What a failure means for where to go on from, and how long to wait before."""
        if isinstance(error, Silent) and self._version is not None:
            return 0.0
        if isinstance(error, ApiError) and self._version is None and self._can_stream and _refuses_stream(error):
            self._can_stream = False
            return 0.0
        if _voids_version(error):
            self._version = None
        if self._on_error is not None:
            self._on_error(error)
        asked = error.retry_after if isinstance(error, ApiError) else None
        return max(asked or 0.0, self._backoff.next())

    async def _list(self) -> None:
        try:
            objects, version = await self._pages(PAGE)
        except ApiGone:
            # The pages took longer than the server keeps the past. All at once cannot expire.
            objects, version = await self._pages(0)
        await self._swap(objects, version)

    async def _pages(self, limit: int) -> tuple[dict[Key, T], str]:
        objects: dict[Key, T] = {}
        token = ""
        while True:
            page = await self._client.list_page(
                self._resource,
                self._namespace,
                selector=self._selector,
                fields=self._fields,
                limit=limit,
                continue_token=token,
            )
            objects.update((key_of(obj), obj) for obj in page.items)
            for skipped in page.skipped:
                self._tell_skipped(skipped)
            token = page.continue_token
            if not token:
                return objects, page.resource_version

    async def _stream(self) -> None:
        """The list as the beginning of a watch that then goes on. Nothing counts before the list's end is announced."""
        params = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        async with self._watch(params) as events:
            self._cuts += 1  # until the end is seen
            objects, version = await self._initial(events)
            await self._swap(objects, version)
            async for event in events:
                self._take(event)

    async def _initial(self, events: AsyncIterator[WatchEvent[T]]) -> tuple[dict[Key, T], str]:
        objects: dict[Key, T] = {}
        async for event in events:
            match event:
                case Bookmark(version, True):
                    return objects, version
                case Seen(obj):
                    objects[key_of(obj)] = obj
                case Removed(obj):
                    objects.pop(key_of(obj), None)
                case Skipped():
                    objects.pop(event.key, None)
                    self._tell_skipped(event)
                case Bookmark():
                    pass
        raise _Cut(f"list {self._resource.plural}: the stream ended before the list was complete")

    async def _follow(self) -> None:
        loop = asyncio.get_running_loop()
        opened = loop.time()
        heard = False
        async with self._watch({"resourceVersion": self._version or ""}) as events:
            async for event in events:
                heard = True
                self._take(event)
        if not heard and loop.time() - opened < HOT_SECONDS:
            raise _Cut(f"watch {self._resource.plural}: closed at once without an event")
        self._backoff.reset()

    def _watch(self, params: dict[str, str]) -> AbstractAsyncContextManager[AsyncIterator[WatchEvent[T]]]:
        # Random, so that the watches of many clients do not all end together.
        params |= {"allowWatchBookmarks": "true", "timeoutSeconds": str(self._rng.randint(300, 600))}
        if self._selector:
            params["labelSelector"] = self._selector
        if self._fields:
            params["fieldSelector"] = self._fields
        return self._client.watch(self._resource, self._namespace, params=params, silence=self._silence)

    def _take(self, event: WatchEvent[T]) -> None:
        if isinstance(event, Skipped):
            self._tell_skipped(event)
        # Before the store tells anyone: if a subscriber fails, the event is not asked for again.
        self._version = _version_in(event) or self._version
        self._backoff.reset()
        self._store.apply_event(event, self._namespace)

    async def _swap(self, objects: dict[Key, T], version: str) -> None:
        for _ in self._store.replacing(objects.values(), self._namespace, version):
            await asyncio.sleep(0)
        self._version = version
        self._cuts = 0
        self.synced.set()
        self._fresh.set()

    def _tell_skipped(self, skipped: Skipped) -> None:
        if self._on_undecodable is not None:
            self._on_undecodable(skipped)


def _version_in(event: WatchEvent[T]) -> str:
    match event:
        case Seen(obj) | Removed(obj):
            return obj.metadata.resource_version
        case Bookmark() | Skipped():
            return event.version


def _refuses_stream(error: ApiError) -> bool:
    """Old servers refuse the parameters, newer ones with the feature off refuse them in words."""
    return isinstance(error, ApiBadRequest | ApiInvalid) or "sendInitialEvents" in error.message


def _voids_version(error: Exception) -> bool:
    """Whether going on from the version we have cannot succeed: too old, unknown, or followed by what we cannot read.

    A server restored from a backup says that our version is too large; without a new list that would last for ever.
    """
    if isinstance(error, ApiGone | ApiBadRequest | ApiInvalid | ApiNotFound | Undecodable):
        return True
    if not isinstance(error, ApiError):
        return False
    return any(cause.reason == "ResourceVersionTooLarge" for cause in error.details.causes)
