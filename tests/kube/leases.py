"""A Lease kept in memory with the API server's rules for conflicts, and a stage on which at most one may lead."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from paddlejob.kube.errors import ApiAlreadyExists, ApiConflict, ApiNotFound, ApiServerError, ApiStatus
from paddlejob.kube.lease import Election
from paddlejob.kube.lease_record import Lease
from paddlejob.kube.objects import Key, Resource, T

Fault = Literal["", "down", "hang", "lost answer"]


@dataclass
class Leases:
    """One Lease; `fault` is what happens to every call of this candidate's connection."""

    lease: list[Lease] = field(default_factory=list)
    fault: Fault = ""
    calls: list[str] = field(default_factory=list)

    def connection(self) -> Leases:
        return Leases(self.lease)

    async def get(self, resource: Resource[T], namespace: str, name: str) -> T:  # noqa: ARG002 - the protocol's
        await self._come("get")
        if not self.lease:
            raise ApiNotFound("get", ApiStatus(404))
        return self._read(resource)

    async def create(self, resource: Resource[T], namespace: str, body: object) -> T:  # noqa: ARG002 - the protocol's
        await self._come("create")
        if self.lease:
            raise ApiAlreadyExists("create", ApiStatus(409, "AlreadyExists"))
        return await self._store(resource, body, 1)

    async def replace(self, resource: Resource[T], key: Key, body: object) -> T:  # noqa: ARG002 - the protocol's
        await self._come("update")
        if not self.lease:
            raise ApiNotFound("update", ApiStatus(404))
        current = int(self.lease[0].metadata.resource_version)
        assert isinstance(body, Lease)
        if body.metadata.resource_version != str(current):
            raise ApiConflict("update", ApiStatus(409, "Conflict"))
        return await self._store(resource, body, current + 1)

    async def _come(self, verb: str) -> None:
        self.calls.append(verb)
        await asyncio.sleep(0.01)
        if self.fault == "down":
            raise ApiServerError(verb, ApiStatus(500))
        if self.fault == "hang":
            await asyncio.sleep(3600)

    async def _store(self, resource: Resource[T], body: object, version: int) -> T:
        assert isinstance(body, Lease)
        meta = msgspec.structs.replace(body.metadata, resource_version=str(version))
        self.lease[:] = [msgspec.structs.replace(body, metadata=meta)]
        if self.fault == "lost answer":
            await asyncio.sleep(3600)
        return self._read(resource)

    def _read(self, resource: Resource[T]) -> T:
        return msgspec.json.decode(msgspec.json.encode(self.lease[0]), type=resource.type)


def loop_time() -> float:
    return asyncio.get_running_loop().time()


@dataclass
class Stage:
    """Who leads, and whether ever two did."""

    leading: set[str] = field(default_factory=set)
    led: list[tuple[float, str]] = field(default_factory=list)
    together: int = 0

    def act(self, who: str, ending: float = 0.0) -> Callable[[], Awaitable[None]]:
        async def lead() -> None:
            self.leading.add(who)
            self.led.append((loop_time(), who))
            self.together = max(self.together, len(self.leading))
            try:
                await asyncio.sleep(10**6)
            finally:
                try:
                    await asyncio.sleep(ending)
                finally:
                    self.leading.discard(who)

        return lead


def a_candidate(leases: Leases, who: str, clock: Callable[[], float] = loop_time) -> Election:
    return Election(leases, namespace="system", name="lock", identity=who, clock=clock)


async def ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
