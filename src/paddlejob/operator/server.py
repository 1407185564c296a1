"""The HTTP ports of the operator: /healthz and /readyz on one, /metrics on the other.

Healthy: the loop turns. Ready: the caches are in step with the API server, and nothing keeps us from the lease.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from paddlejob.operator.metrics import Metrics

DISABLED = "0"
NOT_YET = "not yet"


class BadAddress(ValueError):
    """An address that nothing can listen on."""


@asynccontextmanager
async def serving(
    *, health: str, metrics_address: str, metrics: Metrics, healthy: Callable[[], bool], not_ready: Callable[[], str]
) -> AsyncIterator[None]:
    """`not_ready` says why it is not; nothing when it is."""

    def answer(amiss: Callable[[], str]) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def handler(_: web.Request) -> web.Response:
            why = amiss()
            return web.Response(text=f"{why}\n", status=503) if why else web.Response(text="ok\n")

        return handler

    async def scrape(_: web.Request) -> web.Response:
        return web.Response(body=metrics.text(), headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})

    probes = web.Application()
    probes.router.add_get("/healthz", answer(lambda: "" if healthy() else NOT_YET))
    probes.router.add_get("/readyz", answer(not_ready))
    numbers = web.Application()
    numbers.router.add_get("/metrics", scrape)
    runners = [
        web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        for app, address in ((probes, health), (numbers, metrics_address))
        if address != DISABLED
    ]
    addresses = [address for address in (health, metrics_address) if address != DISABLED]
    try:
        for runner, address in zip(runners, addresses, strict=True):
            await runner.setup()
            await _listen(runner, address)
        yield
    finally:
        for runner in runners:
            await runner.cleanup()


async def _listen(runner: web.AppRunner, address: str) -> None:
    host, port = parse_address(address)
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as error:
        raise BadAddress(f"cannot listen on '{address}': {error.strerror}; choose another address") from error


def parse_address(address: str) -> tuple[str | None, int]:
    """`:8080` is every interface; `127.0.0.1:8080` and `[::1]:8080` are one."""
    if address == DISABLED:
        return None, 0
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or not 0 < int(port) < 65536:
        raise BadAddress(f"'{address}' is not an address to listen on: write HOST:PORT or :PORT, or 0 to switch it off")
    return host.strip("[]") or None, int(port)
