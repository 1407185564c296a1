"""TLS in both directions, with certificates as data, and through a proxy."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
import tempfile
import threading
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web
from yarl import URL

from paddlejob.kube.auth import Credentials
from paddlejob.kube.client import Client
from paddlejob.kube.config import ClusterConfig
from paddlejob.kube.errors import ConfigError, Unreachable
from paddlejob.kube.proxy import Proxy
from paddlejob.kube.tls import ssl_context
from tests.kube.certificates import certificates

CERTS = certificates()
CA = (CERTS / "ca.crt").read_bytes()
CLIENT = (CERTS / "client.crt").read_bytes() + (CERTS / "client.key").read_bytes()


class Fixed:
    def __init__(self, certificate: bytes | None = None) -> None:
        self.certificate = certificate

    async def credentials(self) -> Credentials:
        return Credentials(None, self.certificate)

    async def refresh(self, refused: Credentials) -> bool:
        return refused.certificate != self.certificate


async def whoami(request: web.Request) -> web.Response:
    assert request.transport is not None
    peer = request.transport.get_extra_info("peercert")
    return web.json_response({"subject": str(peer["subject"]) if peer else "nobody"})


@pytest.fixture
async def server() -> AsyncIterator[str]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(CERTS / "ca.crt"))
    context.load_cert_chain(CERTS / "server.crt", CERTS / "server.key")
    context.verify_mode = ssl.CERT_OPTIONAL
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    app = web.Application()
    app.router.add_get("/whoami", whoami)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    yield f"https://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def asked(config: ClusterConfig) -> str:
    async with Client(config) as client:
        return (await client.request("GET", "/whoami", timeout=20)).decode()


async def test_the_cluster_is_known_by_its_authority(server: str) -> None:
    assert "nobody" in await asked(ClusterConfig(server, ca=CA))


async def test_an_unknown_authority_is_refused_with_what_to_check(server: str) -> None:
    with pytest.raises(Unreachable, match="check certificate-authority and tls-server-name"):
        await asked(ClusterConfig(server))


async def test_insecure_is_what_it_says(server: str) -> None:
    assert "nobody" in await asked(ClusterConfig(server, insecure=True))


async def test_the_name_in_the_certificate_can_be_given(server: str) -> None:
    assert "nobody" in await asked(ClusterConfig(server, ca=CA, tls_server_name="api.test"))
    with pytest.raises(Unreachable):
        await asked(ClusterConfig(server, ca=CA, tls_server_name="other.test"))


async def test_a_client_certificate_given_as_data_works_and_leaves_no_file(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert "client" in await asked(ClusterConfig(server, ca=CA, auth=Fixed(CLIENT)))
    assert not any(tmp_path.iterdir())  # noqa: ASYNC240 - an empty folder blocks nobody


async def test_a_new_client_certificate_is_used_for_the_next_call(server: str) -> None:
    auth = Fixed()
    async with Client(ClusterConfig(server, ca=CA, auth=auth)) as client:
        assert b"nobody" in await client.request("GET", "/whoami")
        auth.certificate = CLIENT
        assert b"client" in await client.request("GET", "/whoami")
        assert b"client" in await client.request("GET", "/whoami")


@contextmanager
def a_watch_that_hears_nothing() -> Iterator[str]:
    """A server that begins an answer and then neither says nor hears anything more, not even a good-bye."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTS / "server.crt", CERTS / "server.key")
    over = threading.Event()

    def serve(listening: socket.socket) -> None:
        with context.wrap_socket(listening.accept()[0], server_side=True) as connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n")
            over.wait(60)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)
        thread = threading.Thread(target=serve, args=[listening])
        thread.start()
        try:
            yield f"https://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            over.set()
            thread.join()


def test_whoever_leaves_a_watch_leaves_no_connection_behind() -> None:
    async def look_once(server: str) -> None:
        async with Client(ClusterConfig(server, ca=CA)) as client, client.chunks("/", params={}, silence=60) as chunks:
            assert await anext(chunks) == b"{}\n"

    with a_watch_that_hears_nothing() as server, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asyncio.run(look_once(server))
        gc.collect()
    assert [str(one.message) for one in caught] == []


def test_broken_key_material_says_where_to_look_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(ConfigError, match="client-certificate and client-key"):
        ssl_context(certificate=b"nonsense")
    with pytest.raises(ConfigError, match="certificate-authority"):
        ssl_context(ca=b"nonsense")
    assert list(tmp_path.iterdir()) == []


class Tunnel:
    """An HTTP proxy that knows CONNECT and remembers what it was asked."""

    def __init__(self) -> None:
        self.heads: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        target = URL(f"//{head.split()[1]}")
        there, back = await asyncio.open_connection(target.host, target.port)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(self._pump(reader, back), self._pump(there, writer))

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()


async def test_through_a_proxy_the_tls_still_ends_at_the_server(server: str) -> None:
    tunnel = Tunnel()
    listening = await asyncio.start_server(tunnel.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    config = ClusterConfig(server, ca=CA, auth=Fixed(CLIENT), tls_server_name="api.test")
    config = replace(config, proxy=Proxy(URL(f"http://127.0.0.1:{port}"), "Basic bWU6cHc="))
    assert "client" in await asked(config)
    listening.close()
    await listening.wait_closed()
    assert tunnel.heads[0].startswith(f"CONNECT {server.removeprefix('https://')}")
    assert "Proxy-Authorization: Basic bWU6cHc=" in tunnel.heads[0]


async def test_through_a_proxy_without_tls_the_proxy_reads_the_request_itself() -> None:
    heads: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    proxy = Proxy(URL(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"), "Basic bWU6cHc=")
    assert await asked(ClusterConfig("http://api.test", proxy=proxy)) == "ok"
    listening.close()
    await listening.wait_closed()
    assert heads[0].startswith("GET http://api.test/whoami")
    assert "Proxy-Authorization: Basic bWU6cHc=" in heads[0]
