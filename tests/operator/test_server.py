"""The operator's own ports: what its probes and its metrics answer, and which addresses it can listen on."""

from __future__ import annotations

import socket
from contextlib import AbstractAsyncContextManager

import aiohttp
import pytest

from paddlejob.operator.metrics import Metrics
from paddlejob.operator.server import BadAddress, parse_address, serving
from tests.cluster.processes import free_ports

ADDRESSES: dict[str, tuple[str | None, int]] = {
    ":8080": (None, 8080),
    "127.0.0.1:8080": ("127.0.0.1", 8080),
    "[::1]:8081": ("::1", 8081),
    "metrics.example:1": ("metrics.example", 1),
    "0": (None, 0),
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_to_listen_on(address: str) -> None:
    assert parse_address(address) == ADDRESSES[address]


@pytest.mark.parametrize("address", ["", "8080", "localhost", ":", ":http", ":0", ":65536", ":-1"])
def test_no_address_to_listen_on(address: str) -> None:
    with pytest.raises(BadAddress, match="write HOST:PORT or :PORT, or 0 to switch it off"):
        parse_address(address)


def an_operator(health: str, metrics: str, said: dict[str, bool]) -> AbstractAsyncContextManager[None]:
    """Its ports, and nothing behind them: it says of itself what a test wants."""
    return serving(
        health=health,
        metrics_address=metrics,
        metrics=Metrics(lambda: (), lambda: 7),
        healthy=lambda: said["healthy"],
        not_ready=lambda: "" if said["ready"] else "the lease is forbidden",
    )


async def answer(port: int, path: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}{path}") as response:
        return response.status, await response.text()


async def test_the_probes_say_how_it_is_at_this_moment() -> None:
    port, _ = free_ports(2)
    said = {"healthy": True, "ready": False}
    async with an_operator(f"127.0.0.1:{port}", "0", said):
        assert await answer(port, "/healthz") == (200, "ok\n")
        assert await answer(port, "/readyz") == (503, "the lease is forbidden\n")
        said.update(healthy=False, ready=True)
        assert await answer(port, "/healthz") == (503, "not yet\n")
        assert await answer(port, "/readyz") == (200, "ok\n")
        assert (await answer(port, "/metrics"))[0] == 404


async def test_metrics_are_on_a_port_of_their_own() -> None:
    _, port = free_ports(2)
    async with an_operator("0", f"127.0.0.1:{port}", {}):
        code, text = await answer(port, "/metrics")
        assert code == 200
        assert "paddlejob_queue_depth 7.0" in text
        assert (await answer(port, "/healthz"))[0] == 404


async def test_nothing_listens_when_both_are_switched_off_or_when_it_is_over() -> None:
    async with an_operator("0", "0", {}):
        pass
    port, _ = free_ports(2)
    async with an_operator(f"127.0.0.1:{port}", "0", {}):
        pass
    with pytest.raises(aiohttp.ClientConnectionError):
        await answer(port, "/healthz")


async def test_a_port_that_is_taken_is_named_and_the_other_one_is_given_back() -> None:
    free, _ = free_ports(2)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(BadAddress, match=f"cannot listen on '{address}': .*; choose another address"):
            async with an_operator(f"127.0.0.1:{free}", address, {}):
                pass
    with pytest.raises(aiohttp.ClientConnectionError):
        await answer(free, "/healthz")
