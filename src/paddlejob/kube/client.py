"""The verbs of the Kubernetes API, typed: JSON goes straight into the caller's structs.

Owns verbs, paths and encodings. Refuses to retry and to cache: an error says what happened, the caller knows
what it means.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from copy import copy
from dataclasses import replace
from types import TracebackType
from typing import Literal

import msgspec

from paddlejob.kube.config import ClusterConfig
from paddlejob.kube.errors import Unreachable
from paddlejob.kube.events import Page, WatchEvent, decode, decode_event, decode_page
from paddlejob.kube.fence import Gate
from paddlejob.kube.objects import Key, Resource, T
from paddlejob.kube.transport import Ask, Call, Transport

__all__ = ["Call", "Client", "Page", "WatchEvent"]

TIMEOUT_SECONDS = 30.0
PATCH_TYPES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "apply": "application/apply-patch+yaml",
}
_ENCODER = msgspec.json.Encoder()


class Client:
    def __init__(
        self,
        config: ClusterConfig,
        *,
        user_agent: str = "paddle-operator",
        on_call: Callable[[Call], None] | None = None,
        concurrency: int | None = None,
    ) -> None:
        self.config = config
        self._transport = Transport(config, user_agent=user_agent, on_call=on_call, concurrency=concurrency)
        self._gate: Gate | None = None

    def behind(self, gate: Gate) -> Client:
        """The same client, but nothing is written unless `gate` lets it pass when it goes out."""
        fenced = copy(self)
        fenced._gate = gate
        return fenced

    async def __aenter__(self) -> Client:
        await self._transport.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._transport.close()

    async def get(self, resource: Resource[T], namespace: str, name: str) -> T:
        return await self._typed(resource, _ask("GET", "get", resource, (namespace, name)))

    async def create(self, resource: Resource[T], namespace: str, body: object) -> T:
        data = _encoded(body)
        ask = Ask(
            "POST",
            resource.path(namespace),
            "create",
            resource.plural,
            f"create {resource.plural} {namespace}/{_name_in(data)}",
            body=data,
        )
        return await self._typed(resource, ask)

    async def patch(  # noqa: PLR0913 - the API's own parameters, all but three with defaults
        self,
        resource: Resource[T],
        key: Key,
        body: object,
        *,
        subresource: str | None = None,
        kind: Literal["merge", "json", "apply"] = "merge",
        field_manager: str | None = None,
        force: bool = False,
    ) -> T:
        params: dict[str, str] = {}
        if field_manager is not None:
            params["fieldManager"] = field_manager
        if force:
            params["force"] = "true"
        ask = Ask(
            "PATCH",
            resource.path(*key, subresource),
            "patch",
            resource.plural,
            _tried("patch", resource, key, subresource),
            subresource=subresource,
            params=params,
            body=_encoded(body),
            content_type=PATCH_TYPES[kind],
        )
        return await self._typed(resource, ask)

    async def replace(self, resource: Resource[T], key: Key, body: object) -> T:
        return await self._typed(resource, _ask("PUT", "update", resource, key, body=_encoded(body)))

    async def delete(
        self,
        resource: Resource[T],
        key: Key,
        *,
        uid: str | None = None,
        version: str | None = None,
        grace_seconds: int | None = None,
        propagation: str | None = None,
    ) -> None:
        """Delete the object; with `uid` only if it is still that very one, with `version` only if it is unchanged.

        Otherwise Conflict.
        """
        options: dict[str, object] = {"apiVersion": "v1", "kind": "DeleteOptions"}
        wanted = {"uid": uid, "resourceVersion": version}
        if conditions := {name: value for name, value in wanted.items() if value is not None}:
            options["preconditions"] = conditions
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        if propagation is not None:
            options["propagationPolicy"] = propagation
        ask = _ask("DELETE", "delete", resource, key, body=_encoded(options))
        await self._send(ask)

    async def list_page(
        self,
        resource: Resource[T],
        namespace: str | None,
        *,
        selector: str = "",
        fields: str = "",
        limit: int = 500,
        continue_token: str = "",
    ) -> Page[T]:
        params: dict[str, str] = {}
        if limit:
            params["limit"] = str(limit)
        if selector:
            params["labelSelector"] = selector
        if fields:
            params["fieldSelector"] = fields
        if continue_token:
            params["continue"] = continue_token
        ask = Ask(
            "GET",
            resource.path(namespace),
            "list",
            resource.plural,
            _tried("list", resource, (namespace or "", "")),
            params=params,
        )
        return decode_page(resource, await self._transport.send(ask, TIMEOUT_SECONDS), ask.tried)

    def watch(
        self, resource: Resource[T], namespace: str | None, *, params: Mapping[str, str], silence: float
    ) -> AbstractAsyncContextManager[AsyncIterator[WatchEvent[T]]]:
        """`async with client.watch(...) as events: async for event in events`: ends when the server ends it.

        An ERROR event, garbage, a cut connection and `silence` seconds without a byte end it with a KubeError.
        """
        ask = Ask(
            "GET",
            resource.path(namespace),
            "watch",
            resource.plural,
            _tried("watch", resource, (namespace or "", "")),
            params={**params, "watch": "1"},
        )
        return self._watch(resource, ask, silence)

    @asynccontextmanager
    async def _watch(
        self, resource: Resource[T], ask: Ask, silence: float
    ) -> AsyncIterator[AsyncIterator[WatchEvent[T]]]:
        async with self._transport.stream(ask, silence) as lines:
            events = (decode_event(resource, line, ask.tried) async for line in lines)
            try:
                yield events
            finally:
                await events.aclose()

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: object = None,
        content_type: str = "application/json",
        timeout: float = TIMEOUT_SECONDS,
    ) -> bytes:
        """For everything that has no type here: discovery, logs, health."""
        data = None if body is None else _encoded(body)
        ask = Ask(
            method,
            path,
            method.lower(),
            "",
            f"{method} {path}",
            params=params or {},
            body=data,
            content_type=content_type,
        )
        return await self._transport.send(ask, timeout)

    def chunks(
        self, path: str, *, params: Mapping[str, str], silence: float
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """A long answer in pieces as they come, such as a log that is followed."""
        return self._transport.chunks(Ask("GET", path, "get", "", f"GET {path}", params=params), silence)

    async def _typed(self, resource: Resource[T], ask: Ask) -> T:
        return decode(resource, await self._send(ask), ask.tried)

    async def _send(self, ask: Ask) -> bytes:
        if self._gate is None:
            return await self._transport.send(ask, TIMEOUT_SECONDS)
        try:
            return await self._transport.send(replace(ask, gate=self._gate), TIMEOUT_SECONDS)
        except Unreachable:
            self._gate()  # perhaps that is why
            raise


def _ask(method: str, verb: str, resource: Resource[T], key: Key, *, body: bytes | None = None) -> Ask:
    return Ask(method, resource.path(*key), verb, resource.plural, _tried(verb, resource, key), body=body)


def _tried(verb: str, resource: Resource[T], key: Key, subresource: str | None = None) -> str:
    what = f"{resource.plural}/{subresource}" if subresource else resource.plural
    where = "/".join(part for part in key if part)
    return f"{verb} {what} {where}".rstrip()


def _encoded(body: object) -> bytes:
    return body if isinstance(body, bytes) else _ENCODER.encode(body)


class _NamedMeta(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    generate_name: str = ""


class _Named(msgspec.Struct, frozen=True):
    metadata: _NamedMeta = _NamedMeta()


_NAMED = msgspec.json.Decoder(_Named)


def _name_in(data: bytes) -> str:
    """The name in a body about to be created, for the words of an error only."""
    try:
        meta = _NAMED.decode(data).metadata
    except msgspec.DecodeError:
        return "?"
    return meta.name or f"{meta.generate_name}*"
