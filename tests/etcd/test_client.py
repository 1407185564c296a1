"""The client against a real etcd, and against what is none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from paddlejob.etcd import EtcdClient, EtcdError
from tests.cluster.processes import free_ports
from tests.etcd.server import EtcdServer


async def test_a_key_is_read_and_a_key_that_is_not_there_is_none(etcd: EtcdServer) -> None:
    etcd.put("/paddle/a-job", "completed")
    etcd.put("/paddle/empty", "")
    client = EtcdClient()
    assert await client.get(etcd.address, "/paddle/a-job") == "completed"
    assert await client.get(etcd.address, "/paddle/empty") == ""
    assert await client.get(etcd.address, "/paddle/a-jo") is None


async def test_only_the_keys_and_prefixes_that_are_named_are_deleted(etcd: EtcdServer) -> None:
    for key in ("/paddle/job1", "/paddle/job1/beat/x", "/paddle/job10", "/job1/info/a", "/job10/info/a", "/job2"):
        etcd.put(key, "some")
    client = EtcdClient()
    await client.delete(etcd.address, keys=("/paddle/job1",), prefixes=("/paddle/job1/", "/job1/"))
    await client.delete(etcd.address, keys=("/nothing",), prefixes=("/nothing/",))
    assert set(etcd.keys()) == {"/paddle/job10", "/job10/info/a", "/job2"}


@asynccontextmanager
async def answering(raw: bytes | None, after: float = 0) -> AsyncIterator[str]:
    """Something that listens and answers so to everybody, after some seconds; None: never."""

    over: list[asyncio.Event] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        over.append(done := asyncio.Event())
        await reader.readuntil(b"\r\n\r\n")
        if raw is not None:
            await asyncio.sleep(after)
            with suppress(ConnectionError):  # whoever asked has heard enough
                writer.write(raw)
                await writer.drain()
        else:
            await reader.read()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        done.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        await asyncio.gather(*(one.wait() for one in over))


def http(status: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


SECRET = "the-secret-of-a-stranger"
WORDS = SECRET.encode()
DEEP = b"[" * 50_000
NO_ETCD: dict[str, tuple[bytes | None, str]] = {
    "never answers": (None, "did not answer within 0.3 s"),
    "refuses": (http("401 Unauthorized", b'{"error":"%s"}' % WORDS), "answered 401 to a range"),
    "redirects": (
        b"HTTP/1.1 307 %s\r\nLocation: http://127.0.0.1:1/%s\r\nContent-Length: 0\r\n\r\n" % (WORDS, WORDS),
        "answered 307 to a range",
    ),
    "talks of something else": (http("200 OK", b'["%s"]' % WORDS), "does not answer as an etcd does"),
    "is not even HTTP": (b"SSH-2.0-%s\r\n" % WORDS, "does not answer as an etcd does"),
    "answers nonsense": (http("200 OK", b"<html>" + WORDS), "does not answer as an etcd does"),
    "answers nothing": (b"", "does not answer as an etcd does"),
    "answers half": (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}" + WORDS, "does not answer as an etcd does"),
    "says nothing about its length": (b"HTTP/1.1 200 OK\r\n\r\n[]" + WORDS, "does not answer as an etcd does"),
    "lies about its length": (
        b"HTTP/1.1 200 OK\r\nContent-Length: -%s\r\n\r\n{" % WORDS,
        "does not answer as an etcd does",
    ),
    "answers without end": (http("200 OK", b'{"a":"' + WORDS * 20_000 + b'"}'), "does not answer as an etcd does"),
    "has headers without end": (b"HTTP/1.1 200 OK\r\n" + b"X: " + WORDS * 20_000, "does not answer as an etcd does"),
    "nests deeply": (http("200 OK", b'{"header":' + DEEP), "does not answer as an etcd does"),
    "has keys that are a number": (http("200 OK", b'{"kvs": 5}'), "does not answer as an etcd does"),
    "has a key that is a text": (http("200 OK", b'{"kvs": ["%s"]}' % WORDS), "does not answer as an etcd does"),
    "has a value that is a number": (http("200 OK", b'{"kvs": [{"value": 5}]}'), "does not answer as an etcd does"),
    "has a value that is not coded": (
        http("200 OK", b'{"kvs": [{"value": "%s!"}]}' % WORDS),
        "does not answer as an etcd does",
    ),
}


@pytest.mark.parametrize(("raw", "message"), NO_ETCD.values(), ids=NO_ETCD)
async def test_what_is_no_etcd_is_said_with_its_address_and_never_in_its_own_words(
    raw: bytes | None, message: str
) -> None:
    client = EtcdClient(timeout=0.3)
    async with answering(raw) as address:
        with pytest.raises(EtcdError) as caught:
            await client.get(address, "/paddle/a-job")
    assert message in str(caught.value)
    assert address in str(caught.value)
    assert SECRET not in str(caught.value)


async def test_only_addresses_are_called_and_no_name_is_ever_looked_up() -> None:
    client = EtcdClient()
    for server in ("localhost:2379", "2130706433:2379", "127.1:2379", "127.0.0.1:0x50", "127.0.0.1:2379/healthz"):
        with pytest.raises(EtcdError, match="is not ADDRESS:PORT"):
            await client.get(server, "/paddle/a-job")


async def test_many_slow_answers_take_no_longer_than_one_removal_may() -> None:
    client = EtcdClient(timeout=0.5)
    async with answering(http("200 OK", b"{}"), after=0.25) as address:
        begun = asyncio.get_running_loop().time()
        with pytest.raises(EtcdError, match=f"{address} did not answer within 2 s"):
            await client.delete(address, keys=[f"/paddle/{number}" for number in range(40)])
        assert asyncio.get_running_loop().time() - begun < 5


async def test_nobody_listening_is_said_with_the_address() -> None:
    (port,) = free_ports(1)
    client = EtcdClient()
    with pytest.raises(EtcdError, match=f"127.0.0.1:{port} cannot be reached"):
        await client.get(f"127.0.0.1:{port}", "/paddle/a-job")
