"""The client against a real etcd, and against what is none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from paddlejob.etcd import EtcdClient, EtcdError
from tests.cluster.processes import free_ports
from tests.etcd.server import EtcdServer


async def test_a_key_is_read_and_a_key_that_is_not_there_is_none(etcd: EtcdServer) -> None:
    etcd.put("/paddle/a-job", "completed")
    etcd.put("/paddle/empty", "")
    async with EtcdClient() as client:
        assert await client.get(etcd.address, "/paddle/a-job") == "completed"
        assert await client.get(etcd.address, "/paddle/empty") == ""
        assert await client.get(etcd.address, "/paddle/a-jo") is None


async def test_only_the_keys_and_prefixes_that_are_named_are_deleted(etcd: EtcdServer) -> None:
    for key in ("/paddle/job1", "/paddle/job1/beat/x", "/paddle/job10", "/job1/info/a", "/job10/info/a", "/job2"):
        etcd.put(key, "some")
    async with EtcdClient() as client:
        await client.delete(etcd.address, keys=("/paddle/job1",), prefixes=("/paddle/job1/", "/job1/"))
        await client.delete(etcd.address, keys=("/nothing",), prefixes=("/nothing/",))
    assert set(etcd.keys()) == {"/paddle/job10", "/job10/info/a", "/job2"}


@asynccontextmanager
async def answering(raw: bytes | None) -> AsyncIterator[str]:
    """Something that listens and answers so to everybody; None: never."""

    over: list[asyncio.Event] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        over.append(done := asyncio.Event())
        await reader.readuntil(b"\r\n\r\n")
        if raw is not None:
            writer.write(raw)
            await writer.drain()
        else:
            await reader.read()
        writer.close()
        await writer.wait_closed()
        done.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        await asyncio.gather(*(one.wait() for one in over))


def http(status: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


NO_ETCD: dict[str, tuple[bytes | None, str]] = {
    "never answers": (None, "did not answer within 0.3 s"),
    "refuses": (http("401 Unauthorized", b'{"error":"no user"}'), 'answered 401 to a range: {"error":"no user"}'),
    "talks of something else": (http("200 OK", b"[]"), "is not an etcd"),
    "is not even HTTP": (b"SSH-2.0-x\r\n", "cannot be reached"),
    "answers nonsense": (http("200 OK", b"<html>"), "cannot be reached"),
}


@pytest.mark.parametrize(("raw", "message"), NO_ETCD.values(), ids=NO_ETCD)
async def test_what_is_no_etcd_is_said_with_its_address(raw: bytes | None, message: str) -> None:
    async with answering(raw) as address, EtcdClient(timeout=0.3) as client:
        with pytest.raises(EtcdError) as caught:
            await client.get(address, "/paddle/a-job")
    assert message in str(caught.value)
    assert address in str(caught.value)


async def test_nobody_listening_is_said_with_the_address() -> None:
    (port,) = free_ports(1)
    async with EtcdClient() as client:
        with pytest.raises(EtcdError, match=f"127.0.0.1:{port} cannot be reached"):
            await client.get(f"127.0.0.1:{port}", "/paddle/a-job")
