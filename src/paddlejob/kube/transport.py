"""One HTTP exchange with the API server: connection, TLS, proxy, credentials, time-outs, and what failed said in words.

Owns the session. Refuses to retry, except once with fresh credentials after a 401: when to try again is the caller's.
"""

from __future__ import annotations

import asyncio
import io
import socket
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakSet

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from paddlejob.kube.auth import Credentials
from paddlejob.kube.config import ClusterConfig
from paddlejob.kube.errors import Silent, Unreachable, refusal
from paddlejob.kube.fence import FencedBody, Gate
from paddlejob.kube.lines import LineBuffer
from paddlejob.kube.tls import ssl_context

# Longer than any round trip of a living network, shorter than anyone's patience.
CONNECT_SECONDS = 10.0
CLOSE_SECONDS = 1.0
LARGE_BYTES = 512 * 1024


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
    gate: Gate | None = None
    """Asked when the body goes out."""


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
        self._sockets: WeakSet[socket.socket] = WeakSet()
        # Kept while the client certificate stays the same: connections are pooled by context.
        self._tls: tuple[bytes | None, ssl.SSLContext] | None = None

    async def open(self) -> None:
        # Watches stay open for minutes, so a limit on connections would starve calls: calls have their own limit.
        connector = aiohttp.TCPConnector(limit=0, ttl_dns_cache=30, socket_factory=self._socket)
        self._session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())

    def _socket(self, info: tuple[Any, ...]) -> socket.socket:
        made = socket.socket(*info[:3])
        self._sockets.add(made)
        return made

    async def close(self) -> None:
        """A connection that was left in the middle says goodbye by TLS, for which nobody waits: it is cut."""
        if self._session is not None:
            await self._session.close()
            self._session = None
        until = time.monotonic() + CLOSE_SECONDS
        while (left := [one for one in self._sockets if one.fileno() != -1]) and time.monotonic() < until:
            for one in left:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
            await asyncio.sleep(0)

    async def send(self, ask: Ask, timeout: float) -> bytes:
        """Ask and read the whole answer, within `timeout` seconds from when it is our turn."""
        if self._limit is None:
            return await self._send(ask, timeout)
        async with self._limit:
            return await self._send(ask, timeout)

    async def _send(self, ask: Ask, timeout: float) -> bytes:
        limits = aiohttp.ClientTimeout(total=timeout)
        with self._reported(ask) as outcome, self._translated(ask):
            async with await self._answer(ask, limits, outcome) as response:
                return await response.read()

    @asynccontextmanager
    async def stream(self, ask: Ask, silence: float) -> AsyncIterator[AsyncIterator[bytes]]:
        """Ask and hand over the answer's lines as they come, while something comes every `silence` seconds."""
        async with self.chunks(ask, silence) as chunks:
            lines = self._lines(ask, chunks)
            try:
                yield lines
            finally:
                await lines.aclose()

    @asynccontextmanager
    async def chunks(self, ask: Ask, silence: float) -> AsyncIterator[AsyncIterator[bytes]]:
        """The answer in pieces as they come, however they are cut: for what is not made of whole lines."""
        limits = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=silence)
        with self._reported(ask) as outcome, self._translated(ask):
            response = await self._answer(ask, limits, outcome)
        pieces = self._chunks(ask, response.content, silence)
        try:
            yield pieces
        finally:
            await pieces.aclose()
            # Nobody knows whether it was read to its end, so the connection cannot serve again. It is cut: a polite end
            # of TLS waits for the server's, and may still wait when the loop is closed.
            if response.connection is not None and response.connection.transport is not None:
                response.connection.transport.abort()
            response.close()

    async def _lines(self, ask: Ask, chunks: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
        buffer = LineBuffer()
        async for chunk in chunks:
            for line in buffer.feed(chunk):
                yield line
        if buffer.unfinished:
            raise Unreachable(f"{ask.tried}: {self._config.server} closed in the middle of a line")

    async def _chunks(self, ask: Ask, content: aiohttp.StreamReader, silence: float) -> AsyncGenerator[bytes, None]:
        while chunk := await self._chunk(ask, content, silence):
            yield chunk

    async def _chunk(self, ask: Ask, content: aiohttp.StreamReader, silence: float) -> bytes:
        with self._translated(ask):
            try:
                return await content.readany()
            except asyncio.TimeoutError as error:
                server = self._config.server
                raise Silent(f"{ask.tried}: {server} sent nothing for {silence:g} s") from error

    @contextmanager
    def _translated(self, ask: Ask) -> Iterator[None]:
        """Whatever the network and TLS raise becomes `Unreachable`."""
        try:
            yield
        except (aiohttp.ClientError, asyncio.TimeoutError, OSError) as error:
            server = self._config.server
            raise Unreachable(f"{ask.tried}: no answer from {server}: {_why(error)}") from error

    async def _answer(self, ask: Ask, limits: aiohttp.ClientTimeout, outcome: _Outcome) -> aiohttp.ClientResponse:
        """A response that is not a refusal, whose body is still to be read."""
        auth = self._config.auth
        credentials = await auth.credentials()
        response = await self._request(ask, limits, credentials)
        try:
            if response.status == 401 and await auth.refresh(credentials):
                response.close()
                response = await self._request(ask, limits, await auth.credentials())
            outcome.status = response.status
            if response.status < 300:
                return response
            retry_after = response.headers.get("Retry-After")
            body = await response.read()
        except BaseException:
            response.close()
            raise
        raise refusal(ask.tried, body, status=response.status, retry_after=retry_after)

    async def _request(
        self, ask: Ask, limits: aiohttp.ClientTimeout, credentials: Credentials
    ) -> aiohttp.ClientResponse:
        if self._session is None:
            raise RuntimeError("the client is closed: use it inside `async with`")
        config = self._config
        return await self._session.request(
            ask.method,
            URL(config.server + ask.path, encoded=True),
            params=ask.params,
            data=_data(ask),
            headers=self._headers(ask, credentials),
            timeout=limits,
            ssl=self._context(credentials) if config.server.startswith("https:") else True,
            server_hostname=config.tls_server_name,
            proxy=config.proxy.url if config.proxy else None,
            proxy_headers=self._proxy_headers(),
            # A redirect would carry our credentials to wherever it points.
            allow_redirects=False,
        )

    def _headers(self, ask: Ask, credentials: Credentials) -> CIMultiDict[str]:
        headers = CIMultiDict(self._config.headers)
        headers["User-Agent"] = self._user_agent
        headers["Accept"] = "application/json"
        # Next to the server, unpacking costs more than the bytes it saves, and a packed watch comes in bursts.
        headers["Accept-Encoding"] = "identity"
        if credentials.authorization is not None:
            headers["Authorization"] = credentials.authorization
        if not self._config.server.startswith("https:"):
            # There is no tunnel: the proxy reads the request itself.
            headers.update(self._proxy_headers() or {})
        if ask.body is not None:
            headers["Content-Type"] = ask.content_type
        return headers

    def _proxy_headers(self) -> dict[str, str] | None:
        proxy = self._config.proxy
        return {"Proxy-Authorization": proxy.authorization} if proxy and proxy.authorization else None

    def _context(self, credentials: Credentials) -> ssl.SSLContext:
        certificate = credentials.certificate
        if self._tls is None or self._tls[0] != certificate:
            config = self._config
            context = ssl_context(ca=config.ca, insecure=config.insecure, certificate=certificate)
            self._tls = (certificate, context)
        return self._tls[1]

    @contextmanager
    def _reported(self, ask: Ask) -> Iterator[_Outcome]:
        outcome = _Outcome()
        started = time.monotonic()
        try:
            yield outcome
        finally:
            if self._on_call is not None:
                seconds = time.monotonic() - started
                self._on_call(Call(ask.verb, ask.plural, ask.subresource, outcome.status, seconds))


def _data(ask: Ask) -> FencedBody | io.BytesIO | bytes | None:
    if ask.body is not None and len(ask.body) > LARGE_BYTES:
        return io.BytesIO(ask.body)  # in one piece it would hold up the loop: aiohttp warns of it
    return FencedBody(ask.body, ask.gate) if ask.body is not None and ask.gate is not None else ask.body


def _why(error: BaseException) -> str:
    """The failure in words, and what to do where the words of the network alone do not say it."""
    match error:
        case asyncio.TimeoutError():
            return "timed out; check that the server is up and that nothing on the way drops packets"
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
            return f"{error}; check certificate-authority and tls-server-name in the kubeconfig"
        case aiohttp.ClientConnectorError():
            return f"{error}; check the server's address, the network and the proxy settings"
        case _:
            return str(error) or type(error).__name__
