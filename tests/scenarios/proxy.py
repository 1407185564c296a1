"""A reverse proxy in front of the API server that spoils things on demand: plain HTTP before, HTTPS behind.

It runs in a thread with a loop of its own, so that tests which are not async control it. Whatever must happen
at once is done inside that loop, through `_in_loop`.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import aiohttp
from aiohttp import web
from yarl import URL

from tests.cluster.control_plane import ControlPlane
from tests.scenarios.exchange import Action, Answer, Delay, Exchange, Fault, Stall, Test, anything
from tests.scenarios.open_watch import OpenWatch, Order, drop, is_gone

T = TypeVar("T")

LARGEST_BODY = 8 * 2**20
# What belongs to one connection and is not passed on.
HOP = frozenset({"connection", "host", "transfer-encoding", "content-length"})


@dataclass(slots=True)
class _Hook:
    left: int
    callback: Callable[[], None]
    heard: bool
    hang_up: bool
    test: Test


@dataclass(slots=True)
class _State:
    """What is set up inside the loop."""

    session: aiohttp.ClientSession
    runner: web.AppRunner
    flowing: asyncio.Event = field(default_factory=asyncio.Event)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    watches: set[OpenWatch] = field(default_factory=set)
    asking: set[asyncio.Future[tuple[aiohttp.ClientResponse, bytes]]] = field(default_factory=set)


class FaultProxy:
    """Use as a context; `url` is the server for a kubeconfig."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self._upstream = control_plane.url
        self._authority = str(control_plane.layout.authority)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fault-proxy", daemon=True)
        self._log: list[Exchange] = []
        self._faults: list[Fault] = []
        self._hook: _Hook | None = None
        self._state: _State
        self.url = ""

    def __enter__(self) -> FaultProxy:
        self._thread.start()
        self._in_loop(self._open())
        return self

    def __exit__(self, *_: object) -> None:
        self._in_loop(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    @property
    def log(self) -> list[Exchange]:
        """Every request so far in the order of arrival, those that were refused or held here too."""
        return list(self._log)

    @property
    def open_watches(self) -> int:
        return len(self._state.watches)

    def clear(self) -> None:
        self._log.clear()

    @contextmanager
    def faulty(self, action: Action, test: Test = anything, times: int | None = None) -> Iterator[Fault]:
        """While the block lasts, and at most so many times, what passes the test meets the fault."""
        fault = Fault(action, test, times)
        self._faults.append(fault)
        try:
            yield fault
        finally:
            self._faults.remove(fault)

    def after_write(
        self,
        number: int,
        callback: Callable[[], None],
        *,
        heard: bool = False,
        hang_up: bool = False,
        test: Test = anything,
    ) -> None:
        """Call back the moment the API server has answered the number-th write from now on that passes the test.

        Until then writes go on one by one. `heard`: the caller gets the answer first. `hang_up`: whatever else it sent
        is dropped, for callbacks that kill it.
        """
        self._hook = _Hook(number, callback, heard, hang_up, test)

    def no_more_hooks(self) -> None:
        self._hook = None

    def order_watches(self, order: Order, plural: str = "") -> None:
        """Do this to every watch that is open now, or to those of one kind."""
        self._in_loop(self._order(order, plural))

    def partition(self) -> None:
        """From now on nothing passes in either direction, and nobody is told: connections stay open and silent."""
        self._state.flowing.clear()

    def heal(self) -> None:
        """What still waits goes on as if it had been slow."""
        self._in_loop(self._let_flow())

    def _in_loop(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _open(self) -> None:
        context = ssl.create_default_context(cafile=self._authority)
        connector = aiohttp.TCPConnector(limit=0, ssl=context)
        session = aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None))
        app = web.Application(client_max_size=LARGEST_BODY)
        app.router.add_route("*", "/{path:.*}", self._handle)
        # A handler ends when its client has gone: so a request that was held here dies with whoever sent it.
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        self._state = _State(session, runner)
        self._state.flowing.set()
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"

    async def _close(self) -> None:
        self._hang_up()
        await self._state.runner.cleanup()
        await self._state.session.close()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
        # TLS connections end a few turns of the loop later, and nothing says when.
        await asyncio.sleep(0.1)

    async def _order(self, order: Order, plural: str) -> None:
        for watch in self._state.watches:
            if watch.path.endswith(plural):
                watch.order(order)

    async def _let_flow(self) -> None:
        self._state.flowing.set()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        exchange = await self._noted(request)
        await self._state.flowing.wait()
        late = 0.0
        for fault in [one for one in self._faults if one.takes(exchange)]:
            match fault.action:
                case Answer() as answer:
                    return _refusal(exchange, answer)
                case Delay(seconds):
                    late += seconds
                case Stall():
                    await asyncio.Event().wait()
        try:
            if exchange.watch:
                return await self._watch(request, exchange, late)
            if exchange.is_write and self._hook is not None:
                return await self._write_in_turn(request, exchange)
            return await self._call(request, exchange, late)
        except (aiohttp.ClientError, OSError):
            return drop(request)

    async def _noted(self, request: web.Request) -> Exchange:
        watch = request.query.get("watch") in ("1", "true")
        client = "{}:{}".format(*(request.transport.get_extra_info("peername") if request.transport else ("", "")))
        now = time.monotonic()
        exchange = Exchange(now, request.method, request.path, watch, client, await request.read())
        self._log.append(exchange)
        return exchange

    async def _call(self, request: web.Request, exchange: Exchange, late: float = 0.0) -> web.Response:
        # Whoever asked may die meanwhile: what the API server did is noted all the same.
        asking = asyncio.ensure_future(self._answer(request, exchange))
        self._state.asking.add(asking)
        asking.add_done_callback(self._state.asking.discard)
        answer, body = await asyncio.shield(asking)
        await asyncio.sleep(late)
        await self._state.flowing.wait()
        return web.Response(status=answer.status, body=body, headers=_passed_on(answer.headers))

    async def _answer(self, request: web.Request, exchange: Exchange) -> tuple[aiohttp.ClientResponse, bytes]:
        async with self._ask(request, exchange) as answer:
            body = await answer.read()
        exchange.answered_at = time.monotonic()
        return answer, body

    async def _write_in_turn(self, request: web.Request, exchange: Exchange) -> web.StreamResponse:
        async with self._state.turn:
            if is_gone(request):
                return drop(request)
            response = await self._call(request, exchange)
            hook = self._hook
            if hook is None or not hook.test(exchange):
                return response
            hook.left -= 1
            if hook.left:
                return response
            if hook.heard:
                await response.prepare(request)
                await response.write_eof()
            self._hook = None  # not earlier: nothing may pass by while the answer is on its way
            hook.callback()
            if hook.hang_up:
                self._hang_up()
            await self._state.flowing.wait()
            return response

    async def _watch(self, request: web.Request, exchange: Exchange, late: float) -> web.StreamResponse:
        async with self._ask(request, exchange) as answer:
            await asyncio.sleep(late)
            await self._state.flowing.wait()
            if answer.status != 200:
                return web.Response(status=answer.status, body=await answer.read(), headers=_passed_on(answer.headers))
            response = web.StreamResponse(headers=_passed_on(answer.headers))
            response.enable_chunked_encoding()
            await response.prepare(request)
            watch = OpenWatch(request, response, self._state.flowing)
            self._state.watches.add(watch)
            try:
                await watch.run(answer.content)
            finally:
                self._state.watches.discard(watch)
            return response

    @asynccontextmanager
    async def _ask(self, request: web.Request, exchange: Exchange) -> AsyncIterator[aiohttp.ClientResponse]:
        exchange.sent_at = time.monotonic()
        async with self._state.session.request(
            request.method,
            URL(self._upstream + request.raw_path, encoded=True),
            headers=_passed_on(request.headers),
            data=exchange.body or None,
            allow_redirects=False,
        ) as answer:
            exchange.status = answer.status
            yield answer

    def _hang_up(self) -> None:
        server = self._state.runner.server
        for connection in server.connections if server else ():
            if connection.transport is not None:
                connection.transport.abort()


def _refusal(exchange: Exchange, answer: Answer) -> web.Response:
    exchange.status, exchange.answered_at = answer.status, time.monotonic()
    headers = {"Content-Type": "application/json"}
    if answer.retry_after is not None:
        headers["Retry-After"] = str(answer.retry_after)
    return web.Response(status=answer.status, body=answer.body(), headers=headers)


def _passed_on(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in HOP}
