"""One HTTP exchange with the API server: connection, TLS, proxy, credentials, time-outs, and what failed said in words.

Owns the session. Refuses to retry, except once with fresh credentials after a 401: when to try again is the caller's.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from paddlejob.kube.auth import Credentials
from paddlejob.kube.config import ClusterConfig
from paddlejob.kube.errors import Unreachable, refusal
from paddlejob.kube.tls import ssl_context

# Longer than any round trip of a living network, shorter than anyone's patience.
CONNECT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Call:
    """One finished call, for metrics. Status 0: no answer came."""

    verb: str
    resource_plural: str
    subresource: str | None
    status: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, with the words in which it is counted and in which its failure is told."""

    method: str
    path: str
    verb: str
    plural: str
    tried: str
    subresource: str | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    content_type: str = "application/json"


@dataclass(slots=True)
class _Outcome:
    status: int = 0


class Transport:
    def __init__(
        self,
        config: ClusterConfig,
        *,
        user_agent: str,
        on_call: Callable[[Call], None] | None = None,
        concurrency: int | None = None,
    ) -> None:
        self._config = config
        self._user_agent = user_agent
        self._on_call = on_call
        self._limit = asyncio.Semaphore(concurrency) if concurrency else None
        self._session: aiohttp.ClientSession | None = None
        self._tls: tuple[tuple[bytes, bytes] | None, ssl.SSLContext | bool] | None = None

    async def open(self) -> None:
        # Watches stay open for minutes, so a limit on connections would starve calls: calls have their own limit.
        connector = aiohttp.TCPConnector(limit=0, ttl_dns_cache=30)
        self._session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def send(self, ask: Ask, timeout: float) -> bytes:
        """Ask and read the whole answer."""
        if self._limit is None:
            return await self._send(ask, timeout)
        async with self._limit:
            return await self._send(ask, timeout)

    async def _send(self, ask: Ask, timeout: float) -> bytes:
        limits = aiohttp.ClientTimeout(total=timeout)
        with self._reported(ask) as outcome, self.translated(ask):
            async with self._exchange(ask, limits, outcome) as response:
                return await response.read()

    @asynccontextmanager
    async def stream(self, ask: Ask, silence: float) -> AsyncIterator[aiohttp.StreamReader]:
        """Ask and read the answer as it comes, for as long as something comes every `silence` seconds."""
        limits = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=silence)
        opened = False
        outcome = _Outcome()
        started = time.monotonic()
        try:
            # Only the opening is translated here: what fails later fails in the reader's hands.
            async with self._opened(ask, limits, outcome) as response:
                opened = True
                self._report(ask, outcome, started)
                yield response.content
        finally:
            if not opened:
                self._report(ask, outcome, started)

    @asynccontextmanager
    async def _opened(
        self, ask: Ask, limits: aiohttp.ClientTimeout, outcome: _Outcome
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        exchange = self._exchange(ask, limits, outcome)
        with self.translated(ask):
            response = await exchange.__aenter__()
        try:
            yield response
        finally:
            # A watch is never read to its end: the connection cannot be used again.
            response.close()

    @asynccontextmanager
    async def _exchange(
        self, ask: Ask, limits: aiohttp.ClientTimeout, outcome: _Outcome
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        credentials = await self._config.auth.credentials()
        response = await self._request(ask, limits, credentials)
        if response.status == 401 and await self._config.auth.refresh(credentials):
            response.close()
            response = await self._request(ask, limits, await self._config.auth.credentials())
        outcome.status = response.status
        async with response:
            if response.status >= 400:
                retry_after = response.headers.get("Retry-After")
                body = await response.read()
                raise refusal(ask.tried, body, status=response.status, retry_after=retry_after)
            yield response
