"""An API server for things that live in one namespace, small enough to misbehave in every way on demand.

It lists in pages, streams lists, watches and keeps a history like the real one. `fail` puts one fault in front of the
next request that matches; other tests use a real API server.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import msgspec
from aiohttp import web

from paddlejob.kube.auth import Auth, FileAuth
from paddlejob.kube.config import ClusterConfig
from tests.kube.things import Thing, a_thing

Fault = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True)
class Recorded:
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    at: float

    @property
    def is_watch(self) -> bool:
        return "watch" in self.query

    @property
    def is_list(self) -> bool:
        return self.method == "GET" and not self.is_watch

    @property
    def is_stream(self) -> bool:
        return self.query.get("sendInitialEvents") == "true"


@dataclass
class FakeServer:
    url: str = ""
    version: int = 100
    objects: dict[str, Thing] = field(default_factory=dict)
    requests: list[Recorded] = field(default_factory=list)
    history: list[tuple[int, bytes]] = field(default_factory=list)
    # Versions up to this one are forgotten: going on from them is 410.
    compacted: int = 0
    watching: int = 0
    streams_lists: bool = True
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _closing: asyncio.Event = field(default_factory=asyncio.Event)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _faults: list[tuple[str, Fault]] = field(default_factory=list)

    def config(self, auth: Auth | None = None) -> ClusterConfig:
        return ClusterConfig(self.url, auth=auth or FileAuth())

    # What tests do to the world

    def put(self, name: str, value: int = 0) -> Thing:
        known = name in self.objects
        self.version += 1
        thing = self.objects[name] = a_thing(name, self.version, value=value)
        self._tell("MODIFIED" if known else "ADDED", thing)
        return thing

    def remove(self, name: str) -> None:
        self.version += 1
        thing = self.objects.pop(name)
        meta = msgspec.structs.replace(thing.metadata, resource_version=str(self.version))
        self._tell("DELETED", msgspec.structs.replace(thing, metadata=meta))

    def forget_history(self) -> None:
        """What a real server does after five minutes."""
        self.version += 1
        self.compacted = self.version
        self.history.clear()

    def close_watches(self) -> None:
        """End all watches cleanly, as a server does after timeoutSeconds."""
        self._closing.set()
        self._closing = asyncio.Event()

    def send_raw(self, line: bytes) -> None:
        self.version += 1
        self.history.append((self.version, line + b"\n"))
        self._wake()

    def fail(self, what: str, fault: Fault, times: int = 1) -> None:
        """The next requests of this sort (watch, stream, follow, list, page, any) meet the fault instead."""
        self._faults += [(what, fault)] * times

    def watches(self) -> list[Recorded]:
        return [request for request in self.requests if request.is_watch]

    def lists(self) -> list[Recorded]:
        return [request for request in self.requests if request.is_list]

    # What it answers

    async def handle(self, request: web.Request) -> web.StreamResponse:
        recorded = Recorded(
            request.method,
            request.path,
            dict(request.query),
            dict(request.headers),
            await request.read(),
            time.monotonic(),
        )
        self.requests.append(recorded)
        for number, (what, fault) in enumerate(self._faults):
            if _matches(what, recorded):
                del self._faults[number]
                return await fault(request)
        if recorded.is_watch:
            return await self._watch(request, recorded)
        return self._list(recorded)

    def _list(self, recorded: Recorded) -> web.Response:
        limit = int(recorded.query.get("limit", 0)) or len(self.objects) or 1
        start = int(recorded.query.get("continue") or 0)
        things = list(self.objects.values())
        end = start + limit
        meta = {"resourceVersion": str(self.version), "continue": str(end) if end < len(things) else ""}
        body = msgspec.json.encode({"metadata": meta, "items": things[start:end]})
        return web.Response(body=body, content_type="application/json")

    async def _watch(self, request: web.Request, recorded: Recorded) -> web.StreamResponse:
        if recorded.is_stream and not self.streams_lists:
            return a_status(422, "Invalid", "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch")
        since = self.version if recorded.is_stream else int(recorded.query["resourceVersion"])
        if since < self.compacted:
            return a_status(410, "Expired", f"too old resource version: {since}")
        initial = [event("ADDED", thing) for thing in self.objects.values()] if recorded.is_stream else []
        if recorded.is_stream:
            initial.append(bookmark(self.version, end=True))
        response = await opened(request)
        closing = self._closing
        self.watching += 1
        try:
            for line in initial:
                await response.write(line)
            await self._follow(response, since, closing)
        finally:
            self.watching -= 1
        return response

    async def _follow(self, response: web.StreamResponse, since: int, closing: asyncio.Event) -> None:
        while not closing.is_set() and not self.stopping.is_set():
            changed = self._changed
            for version, line in list(self.history):
                if version > since:
                    await response.write(line)
                    since = version
            waits = [asyncio.ensure_future(e.wait()) for e in (changed, closing, self.stopping)]
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()

    def _tell(self, type_: str, thing: Thing) -> None:
        self.history.append((self.version, event(type_, thing)))
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _matches(what: str, recorded: Recorded) -> bool:
    return {
        "any": True,
        "watch": recorded.is_watch,
        "stream": recorded.is_stream,
        "follow": recorded.is_watch and not recorded.is_stream,
        "list": recorded.is_list,
        "page": "continue" in recorded.query,
    }[what]


def event(type_: str, thing: object) -> bytes:
    return msgspec.json.encode({"type": type_, "object": thing}) + b"\n"


def bookmark(version: int | str, *, end: bool = False) -> bytes:
    meta: dict[str, object] = {"resourceVersion": str(version)}
    if end:
        meta["annotations"] = {"k8s.io/initial-events-end": "true"}
    return event("BOOKMARK", {"kind": "Thing", "apiVersion": "v1", "metadata": meta})


def error_event(code: int, reason: str) -> bytes:
    status = {"kind": "Status", "code": code, "reason": reason, "message": "said in an event"}
    return event("ERROR", status)


def a_status(code: int, reason: str, message: str = "", **headers: str) -> web.Response:
    body = msgspec.json.encode({"kind": "Status", "code": code, "reason": reason, "message": message})
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return web.Response(status=code, body=body, content_type="application/json", headers=named)


async def opened(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    response.enable_chunked_encoding()
    await response.prepare(request)
    return response


# Faults


def refuses(code: int, reason: str, message: str = "", **headers: str) -> Fault:
    async def fault(_: web.Request) -> web.StreamResponse:
        return a_status(code, reason, message, **headers)

    return fault


def says(*lines: bytes) -> Fault:
    """Sends these lines and closes cleanly."""

    async def fault(request: web.Request) -> web.StreamResponse:
        response = await opened(request)
        for line in lines:
            await response.write(line)
        await response.write_eof()
        return response

    return fault


def says_and_cuts(*lines: bytes) -> Fault:
    """Sends these lines and tears the connection down."""

    async def fault(request: web.Request) -> web.StreamResponse:
        response = await opened(request)
        for line in lines:
            await response.write(line)
        assert request.transport is not None
        request.transport.close()
        return response

    return fault


def says_and_hangs(server: FakeServer, *lines: bytes) -> Fault:
    """Sends these lines and then nothing, for as long as the server runs."""

    async def fault(request: web.Request) -> web.StreamResponse:
        response = await opened(request)
        for line in lines:
            await response.write(line)
        await server.stopping.wait()
        return response

    return fault


@asynccontextmanager
async def a_server() -> AsyncIterator[FakeServer]:
    server = FakeServer()
    app = web.Application(client_max_size=16 * 2**20)
    app.router.add_route("*", "/{path:.*}", server.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.5, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        server.url = f"http://{host}:{port}"
        yield server
    finally:
        server.stopping.set()
        await runner.cleanup()


async def until(condition: Callable[[], bool], what: str = "the condition", seconds: float = 20.0) -> None:
    """Wait until it holds; the deadline is for a machine that is very busy."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come true within {seconds:g} s")
        await asyncio.sleep(0.005)
