"""Watching a kind that not every cluster has, from the moment at which the first job needs it.

A cluster that does not serve it is asked again when its definition comes; one that does not let us read it, or not
watch for the definition, after growing pauses. Jobs are told why meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import structlog

from paddlejob.api import reasons
from paddlejob.core import Unread
from paddlejob.core.gang import GROUPS
from paddlejob.core.kind import Kind
from paddlejob.kube.backoff import Backoff
from paddlejob.kube.errors import ApiForbidden, ApiNotFound
from paddlejob.kube.reflector import Reflector
from paddlejob.kube.tasks import TaskGroup, cancelled_and_joined

log = structlog.get_logger()

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 60.0
NOT_YET = Unread()

OnError = Callable[[Exception], None]
Reflect = Callable[[str, OnError], list[Reflector[Any]]]
IsDefined = Callable[[], Awaitable[bool]]


class OptionalWatch:
    def __init__(
        self,
        kind: Kind[Any],
        reflect: Reflect,
        is_defined: IsDefined,
        *,
        changed: Callable[[], None],
        on_error: OnError,
    ) -> None:
        """`reflect` makes the reflectors of one version; `changed` is told when the answer to `unread` is another."""
        self.unread: Unread | None = NOT_YET
        self._kind = kind
        self._reflect = reflect
        self._is_defined = is_defined
        self._changed = changed
        self._on_error = on_error
        self._wanted = asyncio.Event()
        self._stale = asyncio.Event()

    def want(self) -> None:
        self._wanted.set()

    def refresh(self) -> None:
        """Read all of it anew: until then nothing is known."""
        if self.unread is None:
            self.unread = NOT_YET
        self._stale.set()

    async def run(self) -> None:
        await self._wanted.wait()
        pauses = Backoff(first=FIRST_PAUSE, most=LONGEST_PAUSE)
        while True:
            why = await self._follow()
            if self.unread is None:
                pauses.reset()
            self._tell(why)
            if self._kind.is_custom and why.reason == reasons.SCHEDULER_MISSING:
                await self._is_defined()
            await asyncio.sleep(pauses.next())  # also after it came: it is not served at once everywhere

    async def _follow(self) -> Unread:
        """Until the cluster refuses it in every version that can be read."""
        for version in (self._kind.version, *self._kind.older):
            why = await self._follow_version(version)
            if why.reason != reasons.SCHEDULER_MISSING:
                break
        return why

    async def _follow_version(self, version: str) -> Unread:
        refused: asyncio.Future[Unread] = asyncio.get_running_loop().create_future()

        def on_error(error: Exception) -> None:
            why = self._refusal(error)
            if why is None:
                self._on_error(error)
            elif not refused.done():
                refused.set_result(why)

        reflectors = self._reflect(version, on_error)
        following = asyncio.ensure_future(self._run(reflectors))
        try:
            either: set[asyncio.Future[Any]] = {refused, following}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if following.done():
                following.result()  # a defect of ours: it is not swallowed
            return refused.result()
        finally:
            await cancelled_and_joined(following)

    async def _run(self, reflectors: list[Reflector[Any]]) -> None:
        async with TaskGroup() as tasks:
            tasks.create_task(self._announce(reflectors))
            for one in reflectors:
                tasks.create_task(one.run())

    async def _announce(self, reflectors: list[Reflector[Any]]) -> None:
        while True:
            self._stale = asyncio.Event()
            await asyncio.gather(*[one.refresh().wait() for one in reflectors])
            self._tell(None)
            await self._stale.wait()

    def _tell(self, unread: Unread | None) -> None:
        if unread == self.unread:
            return
        self.unread = unread
        if unread is None:
            log.info("watching", kind=self._kind.name)
        else:
            log.warning("cannot be watched", kind=self._kind.name, reason=unread.reason, error=unread.message)
        self._changed()

    def _refusal(self, error: Exception) -> Unread | None:
        resource = f"{self._kind.plural}.{self._kind.group}"
        match error:
            case ApiNotFound():
                text = f"this cluster has no {resource}: the job goes on when their scheduler is installed"
                return Unread(reasons.SCHEDULER_MISSING, text)
            case ApiForbidden():
                scheduler = next(name for name, group in GROUPS.items() if group is self._kind.type)
                text = f"the operator may not read {resource}: an administrator can grant it"
                return Unread(reasons.FORBIDDEN, f"{text} with deploy/v1/scheduling-{scheduler}.yaml")
            case _:
                return None
