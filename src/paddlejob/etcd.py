"""A client for the few words that elastic jobs leave in etcd: read one key, delete some. Over etcd's HTTP JSON gateway.

Knows no PaddleJob. Whoever answers may be a stranger that a job named: no name is looked up, no redirect followed,
little is read, nothing of it is repeated to anybody, and no call takes long. An etcd that does not answer is itself the
answer.
"""

from __future__ import annotations

import asyncio
import base64
import os
import re
from collections.abc import Awaitable, Iterable
from ipaddress import IPv4Address
from typing import TYPE_CHECKING, TypeVar

import msgspec

if TYPE_CHECKING:
    import aiohttp

T = TypeVar("T")
TIMEOUT = 5.0
# One removal may be many calls. It takes at most as long as so many that do not answer.
LONGEST_REMOVAL = 4
# An answer is a few hundred bytes.
MOST_BYTES = 64 * 1024


class EtcdError(Exception):
    """What was asked of which etcd, and why it failed. In our words alone."""


class _KeyValue(msgspec.Struct, frozen=True):
    value: str = ""


class _Range(msgspec.Struct, frozen=True):
    kvs: tuple[_KeyValue, ...] = ()


class EtcdClient:
    """`server` is ADDRESS:PORT in every call: jobs may use different ones."""

    def __init__(self, timeout: float = TIMEOUT) -> None:
        self._timeout = timeout

    async def get(self, server: str, key: str) -> str | None:
        """The value of a key; None when there is none."""
        found = (await _within(self._timeout, server, _post(server, "range", {"key": _coded(key)}))).kvs
        try:
            return base64.b64decode(found[0].value, validate=True).decode(errors="replace") if found else None
        except ValueError as error:
            raise _stranger(server) from error

    async def delete(self, server: str, keys: Iterable[str] = (), prefixes: Iterable[str] = ()) -> None:
        async def each() -> None:
            for key in keys:
                await _post(server, "deleterange", {"key": _coded(key)})
            for prefix in prefixes:
                await _post(server, "deleterange", {"key": _coded(prefix), "range_end": _coded(_after(prefix))})

        await _within(LONGEST_REMOVAL * self._timeout, server, each())


async def _within(seconds: float, server: str, call: Awaitable[T]) -> T:
    try:
        return await asyncio.wait_for(call, seconds)
    except asyncio.TimeoutError as error:
        raise EtcdError(f"etcd at {server} did not answer within {seconds:g} s") from error


async def _post(server: str, what: str, body: dict[str, str]) -> _Range:
    import aiohttp  # noqa: PLC0415 - most jobs are not elastic, and a local run without it starts sooner

    address, port = _endpoint(server)
    url = f"http://{address}:{port}/v3/kv/{what}"
    try:
        async with (
            aiohttp.ClientSession(trust_env=False, auto_decompress=False) as session,
            session.post(url, json=body, allow_redirects=False) as response,
        ):
            if response.status != 200:
                raise EtcdError(f"etcd at {server} answered {response.status} to a {what}")
            return msgspec.json.decode(await _text(server, response.content), type=_Range)
    except aiohttp.ClientConnectorError as error:
        why = os.strerror(error.errno) if error.errno else "no connection"
        raise EtcdError(f"etcd at {server} cannot be reached: {why}") from error
    except (aiohttp.ClientError, OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _stranger(server) from error


async def _text(server: str, content: aiohttp.StreamReader) -> bytes:
    text = b""
    async for more in content.iter_any():
        text += more
        if len(text) > MOST_BYTES:
            raise _stranger(server)
    return text


def _stranger(server: str) -> EtcdError:
    return EtcdError(f"the server at {server} does not answer as an etcd does")


def _endpoint(server: str) -> tuple[IPv4Address, int]:
    """Never a name, nor one of the many other spellings of an address that resolvers know."""
    host, _, port = server.partition(":")
    try:
        if not re.fullmatch("[0-9]{1,5}", port):
            raise ValueError(port)
        return IPv4Address(host), int(port)
    except ValueError as error:
        raise EtcdError(f"{server} is not ADDRESS:PORT") from error


def _coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _after(prefix: str) -> str:
    """The first key after all that begin with the prefix."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)
