"""Leader election with a Lease (coordination.k8s.io/v1): at most one process acts at a time.

Owns the lease and the life of the work done under it: the work is cancelled and joined before anybody else can lead.
Trusts no clock but this process's own monotonic one. `check` is the gate before every write.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Protocol

from msgspec.structs import replace

from paddlejob.kube.errors import ApiAlreadyExists, ApiConflict, ApiNotFound, KubeError, LeaseLost
from paddlejob.kube.lease_record import LEASES, Lease, LeaseMeta, LeaseSpec
from paddlejob.kube.objects import Key, Resource, T
from paddlejob.kube.tasks import TimedOut, cancelled_and_joined, timeout


class Api(Protocol):
    """The three verbs an election uses; `Client` has them."""

    async def get(self, resource: Resource[T], namespace: str, name: str) -> T: ...

    async def create(self, resource: Resource[T], namespace: str, body: object) -> T: ...

    async def replace(self, resource: Resource[T], key: Key, body: object) -> T: ...


@dataclass(frozen=True, slots=True)
class LeaseDurations:
    """Others take over after `lease` seconds without news; we stop `renew` seconds after the last write that held."""

    lease: float = 15.0
    renew: float = 10.0
    retry: float = 2.0

    def __post_init__(self) -> None:
        if not self.lease > self.renew > self.retry > 0:
            raise ValueError(f"{self}: must be lease > renew > retry > 0, or two could lead together")


class Election:
    def __init__(  # noqa: PLR0913 - who and where are needed, the others have defaults
        self,
        client: Api,
        *,
        namespace: str,
        name: str,
        identity: str,
        clock: Callable[[], float] = time.monotonic,
        durations: LeaseDurations | None = None,
        on_error: Callable[[Exception], None] | None = None,
        on_wait: Callable[[], None] = lambda: None,
    ) -> None:
        self._client = client
        self._key: Key = (namespace, name)
        self._identity = identity
        self._clock = clock
        self._durations = durations or LeaseDurations()
        self._on_error = on_error
        self._on_wait = on_wait
        self.trouble: Exception | None = None
        """Why the last attempt to get or keep the lease came to nothing; None after one that was answered."""
        # When this process would stop being sure, by its own clock. None: it does not lead.
        self._sure_until: float | None = None
        # The lease as last seen, and since when it has looked like that here.
        self._seen: Lease | None = None
        self._seen_at = 0.0
        # The acquireTime that our attempts write: it tells our record from one of a process with the same identity.
        self._claim: str | None = None

    @property
    def holding(self) -> bool:
        return self._sure_until is not None and self._clock() < self._sure_until

    def check(self) -> None:
        """Raise unless this process surely holds the lease right now: a process that was frozen must not write."""
        if not self.holding:
            raise self._lost("it was not renewed in time")

    async def run(self, lead: Callable[[], Awaitable[None]]) -> None:
        """Wait for the lease and run `lead` while it is held; LeaseLost once it is lost and `lead` has ended."""
        self._claim = self._sure_until = None
        try:
            await self._acquire()
            await self._lead(lead)
        except LeaseLost:
            self._claim = None  # nothing of ours is left to release
            raise
        finally:
            self._sure_until = None
            await self._release()

    async def _acquire(self) -> None:
        while True:
            if await self._try_to_acquire():
                return
            self._on_wait()
            await asyncio.sleep(self._durations.retry)

    async def _try_to_acquire(self) -> bool:
        try:
            async with timeout(self._durations.renew):
                taken = await self._take_if_free()
        except (ApiConflict, ApiAlreadyExists):
            taken = False  # somebody was faster
        except (KubeError, *TimedOut) as error:
            self._tell(error)
            return False
        self.trouble = None
        return taken

    async def _take_if_free(self) -> bool:
        try:
            lease = await self._client.get(LEASES, *self._key)
        except ApiNotFound:
            await self._create()
            return True
        self._observe(lease)
        if not self._is_ours(lease) and not self._is_free(lease):
            return False
        await self._write(lease)
        return True

    async def _lead(self, lead: Callable[[], Awaitable[None]]) -> None:
        leading = asyncio.ensure_future(lead())
        renewing = asyncio.create_task(self._renew())
        try:
            await asyncio.wait({leading, renewing}, return_when=asyncio.FIRST_COMPLETED)
            by_itself = leading.done()
        finally:
            try:
                # Renewal goes on meanwhile: the work may need a moment to end, and it is still ours.
                await cancelled_and_joined(leading)
            finally:
                await cancelled_and_joined(renewing)
        await (leading if by_itself else renewing)

    async def _renew(self) -> None:
        """Returns never: raises LeaseLost when the lease is not surely ours any more."""
        durations = self._durations
        # What is left in the last millisecond is no time for another attempt.
        while (left := self._left()) > 0.001:
            await asyncio.sleep(min(durations.retry, left))
            try:
                # Half the time, so that one attempt that hangs leaves time for another on a new connection.
                async with timeout(min(durations.renew / 2, max(self._left(), 0.0))):
                    await self._renew_once()
                self.trouble = None
            except LeaseLost:
                self._sure_until = None
                raise
            except (KubeError, *TimedOut) as error:
                self._tell(error)
        self._sure_until = None
        raise self._lost(f"it could not be renewed within {durations.renew:g} s")

    async def _renew_once(self) -> None:
        try:
            try:
                await self._write(self._seen)
            except ApiConflict:
                # Perhaps our own write whose answer was lost, perhaps another leader.
                lease = await self._client.get(LEASES, *self._key)
                if not self._is_ours(lease):
                    raise self._lost(f"{lease.spec.holder_identity or 'nobody'} holds it now") from None
                await self._write(lease)
        except ApiNotFound:
            raise self._lost("it was deleted") from None

    async def _create(self) -> None:
        namespace, name = self._key
        lease = Lease(LeaseMeta(name=name, namespace=namespace))
        started = self._clock()
        self._hold(await self._client.create(LEASES, namespace, self._renewed(lease)), started)

    async def _write(self, lease: Lease | None) -> None:
        assert lease is not None
        # Others count from when they see this write, which is after now: so we stop first.
        started = self._clock()
        self._hold(await self._client.replace(LEASES, self._key, self._renewed(lease)), started)

    def _hold(self, lease: Lease, started: float) -> None:
        self._observe(lease)
        self._sure_until = started + self._durations.renew

    def _renewed(self, lease: Lease) -> Lease:
        now = _micro_time()
        self._claim = self._claim or now
        changes = 0 if self._is_ours(lease) else 1
        spec = LeaseSpec(
            holder_identity=self._identity,
            lease_duration_seconds=math.ceil(self._durations.lease),
            acquire_time=self._claim,
            renew_time=now,
            lease_transitions=(lease.spec.lease_transitions or 0) + changes,
        )
        return replace(lease, spec=spec)

    async def _release(self) -> None:
        """Leave the lease free, so that another takes over at once instead of waiting for it to expire."""
        if self._claim is None:
            return
        try:
            async with timeout(self._durations.retry):
                lease = await self._client.get(LEASES, *self._key)
                if self._is_ours(lease):
                    spec = replace(lease.spec, holder_identity="", lease_duration_seconds=1, renew_time=_micro_time())
                    await self._client.replace(LEASES, self._key, replace(lease, spec=spec))
        except (KubeError, *TimedOut) as error:
            self._tell(error)

    def _observe(self, lease: Lease) -> None:
        if self._seen is None or self._seen.spec != lease.spec:
            self._seen_at = self._clock()
        self._seen = lease

    def _is_ours(self, lease: Lease) -> bool:
        spec = lease.spec
        return self._claim is not None and (spec.holder_identity, spec.acquire_time) == (
            self._identity,
            self._claim,
        )

    def _is_free(self, lease: Lease) -> bool:
        """Nobody holds it, or it has not changed here for as long as its holder promised to change it."""
        spec = lease.spec
        promised = spec.lease_duration_seconds or self._durations.lease
        return not spec.holder_identity or self._clock() - self._seen_at >= promised

    def _left(self) -> float:
        return 0.0 if self._sure_until is None else self._sure_until - self._clock()

    def _lost(self, why: str) -> LeaseLost:
        return LeaseLost(f"{self._identity} does not hold the lease {'/'.join(self._key)}: {why}")

    def _tell(self, error: Exception) -> None:
        self.trouble = error
        if self._on_error is not None:
            self._on_error(error)


def _micro_time() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
