"""A client for the few words that elastic jobs leave in etcd: read one key, delete some. Over etcd's HTTP JSON gateway.

Knows no PaddleJob. Never waits long: an etcd that does not answer is itself the answer.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import aiohttp

TIMEOUT = 5.0


class EtcdError(Exception):
    """What was asked of which etcd, and why it failed."""


class EtcdClient:
    """`server` is ADDRESS:PORT in every call: jobs may use different ones."""

    def __init__(self, timeout: float = TIMEOUT) -> None:
        self._timeout = timeout
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> EtcdClient:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def get(self, server: str, key: str) -> str | None:
        """The value of a key; None when there is none."""
        answer = await self._post(server, "range", {"key": _coded(key)})
        found = answer.get("kvs") or []
        return base64.b64decode(found[0].get("value", "")).decode(errors="replace") if found else None

    async def delete(self, server: str, keys: Iterable[str] = (), prefixes: Iterable[str] = ()) -> None:
        for key in keys:
            await self._post(server, "deleterange", {"key": _coded(key)})
        for prefix in prefixes:
            await self._post(server, "deleterange", {"key": _coded(prefix), "range_end": _coded(_after(prefix))})

    async def _post(self, server: str, what: str, body: dict[str, str]) -> dict[str, Any]:
        import aiohttp  # noqa: PLC0415 - most jobs are not elastic, and a local run without it starts sooner

        if self._session is None:
            limit = aiohttp.ClientTimeout(total=self._timeout)
            self._session = aiohttp.ClientSession(timeout=limit, trust_env=False)
        try:
            async with self._session.post(f"http://{server}/v3/kv/{what}", json=body) as response:
                if response.status != 200:
                    text = (await response.text())[:200]
                    raise EtcdError(f"etcd at {server} answered {response.status} to a {what}: {text}")
                answer = await response.json(content_type=None)
        except asyncio.TimeoutError as error:
            raise EtcdError(f"etcd at {server} did not answer within {self._timeout:g} s") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise EtcdError(f"etcd at {server} cannot be reached: {error}") from error
        if not isinstance(answer, dict):
            raise EtcdError(f"the server at {server} is not an etcd: it answered {str(answer)[:100]}")
        return answer


def _coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _after(prefix: str) -> str:
    """The first key after all that begin with the prefix."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)
