"""A watch on its way through the proxy: lines are passed on as they come, until somebody orders otherwise."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import aiohttp
from aiohttp import web

from tests.scenarios.exchange import error_status

# How it ends, or does not: in order, in the middle of a line, told that its version is too old, never.
Order = Literal["close", "break", "expire", "silence"]


class OpenWatch:
    def __init__(self, request: web.Request, response: web.StreamResponse, flowing: asyncio.Event) -> None:
        self.path = request.path
        self._request = request
        self._response = response
        self._flowing = flowing
        self._order: asyncio.Future[Order] = asyncio.get_running_loop().create_future()

    def order(self, order: Order) -> None:
        if not self._order.done():
            self._order.set_result(order)

    async def run(self, content: aiohttp.StreamReader) -> None:
        await self._obey(await self._pump(content))

    async def _pump(self, content: aiohttp.StreamReader) -> Order:
        """Only whole lines are passed on, so that a line of ours may follow at any time."""
        rest = b""
        while True:
            reading = asyncio.ensure_future(content.readany())
            both: set[asyncio.Future[Any]] = {reading, self._order}
            try:
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            finally:
                reading.cancel()
            if self._order.done():
                return self._order.result()
            chunk = reading.result()
            await self._flowing.wait()
            if not chunk:
                return "close"
            lines, end, rest = (rest + chunk).rpartition(b"\n")
            if end:
                await self._response.write(lines + end)

    async def _obey(self, order: Order) -> None:
        response = self._response
        match order:
            case "close":
                await response.write_eof()
            case "expire":
                await response.write(b'{"type":"ERROR","object":' + error_status(410, "Expired") + b"}\n")
                await response.write_eof()
            case "break":
                await response.write(b'{"type":"MODIFIED","object":{"apiVersion":"v1","metadata":{"name":"ha')
                drop(self._request)
            case "silence":
                await asyncio.Event().wait()


def is_gone(request: web.Request) -> bool:
    return request.transport is None or request.transport.is_closing()


def drop(request: web.Request) -> web.Response:
    """End the connection without a word; what is returned reaches nobody."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=502)
