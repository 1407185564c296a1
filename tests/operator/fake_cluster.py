"""An API server that keeps any kind of object in memory: enough for a whole operator, and it misbehaves on demand.

It creates, patches, deletes and watches as the real one does, checks UIDs and versions, and knows no kinds, no
defaults and no garbage collection. There is no kubelet: a test pushes pods along with `change`.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timezone
from typing import Any

import msgspec
from aiohttp import web

from paddlejob.api.names import LABEL_JOB
from paddlejob.kube.auth import FileAuth
from paddlejob.kube.config import ClusterConfig
from tests.kube.fake_server import Fault, a_status, bookmark, event, opened

Json = dict[str, Any]
NAMESPACE = "team"
_PATH = re.compile(
    r"/apis?(?:/[^/]+)?/v1\w*(?:/namespaces/(?P<namespace>[^/]+))?/(?P<plural>[a-z]+)(?:/(?P<name>[^/]+))?(?P<log>/log)?(?:/\w+)?"
)


class Call(msgspec.Struct, frozen=True):
    method: str
    plural: str
    name: str
    body: Json
    at: float


class _Happened(msgspec.Struct, frozen=True):
    plural: str
    before: Json | None
    after: Json | None
    line: bytes


class FakeCluster:
    def __init__(self) -> None:
        self.url = ""
        self.calls: list[Call] = []
        self.stopping = asyncio.Event()
        self._objects: dict[tuple[str, str], Json] = {}
        self._counts: Counter[str] = Counter()
        self._ended: Counter[str] = Counter()
        self._version = 100
        self._history: list[_Happened] = []
        self._changed = asyncio.Event()
        self._logs: dict[str, list[str]] = {}
        self._faults: list[tuple[str, str, Fault]] = []

    def config(self) -> ClusterConfig:
        return ClusterConfig(self.url, auth=FileAuth(), namespace=NAMESPACE)

    # What tests do to the world, and ask of it

    def put(self, plural: str, body: Json) -> Json:
        """An object that somebody else makes."""
        meta = {"namespace": NAMESPACE, "uid": f"uid-{self._version}", "generation": 1, **body["metadata"]}
        meta.setdefault("creationTimestamp", "2026-05-04T11:00:00Z")
        return self._write("ADDED", plural, {**body, "metadata": meta})

    def change(self, plural: str, name: str, patch: Json) -> Json:
        return self._write("MODIFIED", plural, _merged(self._objects[plural, name], patch))

    def remove(self, plural: str, name: str) -> None:
        self._write("DELETED", plural, self._objects[plural, name])

    def say(self, pod: str, *lines: str, at: datetime | None = None) -> None:
        """The program of this pod prints something, now or by the clock of its node."""
        for line in lines:
            self._version += 1
            now = (at or datetime.now(timezone.utc)).strftime("%Y-%m-%dT%H:%M:%S")
            self.print_raw(pod, f"{now}.{self._version:09d}Z {line}")  # later than the one before

    def print_raw(self, pod: str, line: str) -> None:
        """Without the time that a kubelet writes before each line."""
        self._logs.setdefault(pod, []).append(line)

    def get(self, plural: str, name: str) -> Json:
        return self._objects.get((plural, name), {})

    def count(self, plural: str) -> int:
        return self._counts[plural]

    def names(self, plural: str) -> list[str]:
        return sorted(name for kind, name in self._objects if kind == plural)

    def asked(self, method: str, plural: str) -> list[Call]:
        return [one for one in self.calls if (one.method, one.plural) == (method, plural)]

    def fail(self, method: str, plural: str, fault: Fault, times: int = 1) -> None:
        """The next requests of this sort meet the fault instead."""
        self._faults += [(method, plural, fault)] * times

    def end_watches(self, plural: str) -> None:
        self._ended[plural] += 1
        self.wake()

    def allow_all(self) -> None:
        """No request meets a fault any more."""
        self._faults.clear()

    def lose_answers(self, method: str, plural: str, times: int) -> None:
        """The next requests of this sort are carried out, and nobody hears of it."""

        async def cut(request: web.Request) -> web.StreamResponse:
            await self._answer(request, await self._call(request))
            assert request.transport is not None
            request.transport.close()
            return web.Response()

        self.fail(method, plural, cut, times)

    def slow_down(self, method: str, plural: str, seconds: float, times: int) -> None:
        """The next requests of this sort are answered so much later."""

        async def answer_late(request: web.Request) -> web.StreamResponse:
            await asyncio.sleep(seconds)
            return await self._answer(request, await self._call(request))

        self.fail(method, plural, answer_late, times)

    # What it answers

    async def handle(self, request: web.Request) -> web.StreamResponse:
        call = await self._call(request)
        self.calls.append(call)
        for number, (method, plural, fault) in enumerate(self._faults):
            if (method, plural) == (call.method, call.plural):
                del self._faults[number]
                return await fault(request)
        return await self._answer(request, call)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """As if there were no faults."""
        return await self._answer(request, await self._call(request))

    async def _call(self, request: web.Request) -> Call:
        found = _PATH.fullmatch(request.path)
        assert found, request.path
        text = await request.read()
        method = "WATCH" if "watch" in request.query else request.method
        at = asyncio.get_running_loop().time()
        return Call(
            method,
            found["plural"] + (found["log"] or ""),
            found["name"] or "",
            msgspec.json.decode(text) if text else {},
            at,
        )

    async def _answer(self, request: web.Request, call: Call) -> web.StreamResponse:
        if call.method == "WATCH":
            return await self._watch(request, call.plural)
        if call.plural == "pods/log":
            said = "".join(f"{line}\n" for line in self._logs.get(call.name, [])[-int(request.query["tailLines"]) :])
            return web.Response(body=said.encode(errors="surrogateescape")[: int(request.query["limitBytes"])])
        if call.method == "GET" and not call.name:
            items = [one for (plural, _), one in self._objects.items() if plural == call.plural]
            return _said(200, {"metadata": {"resourceVersion": str(self._version)}, "items": items})
        if call.method == "POST":
            if (call.plural, call.body["metadata"]["name"]) in self._objects:
                return a_status(409, "AlreadyExists", "it exists already")
            return _said(201, self.put(call.plural, call.body))
        known = self.get(call.plural, call.name)
        if not known:
            return a_status(404, "NotFound", f"{call.plural} {call.name} not found")
        return self._write_known(call, known)

    def _write_known(self, call: Call, known: Json) -> web.Response:
        asked = {**call.body.get("metadata", {}), **call.body.get("preconditions", {})}
        for field in ("uid", "resourceVersion"):
            if asked.get(field, known["metadata"][field]) != known["metadata"][field]:
                return a_status(409, "Conflict", f"the {field} is another one")
        match call.method:
            case "DELETE":
                # As an API server does: it is told that nothing keeps the object any more, and then that it is gone.
                gone = {"deletionTimestamp": "2026-05-04T12:00:00Z", "deletionGracePeriodSeconds": 0}
                self.change(call.plural, call.name, {"metadata": gone})
                self.remove(call.plural, call.name)
            case "PATCH":
                known = self.change(call.plural, call.name, call.body)
            case "PUT":
                known = self._write("MODIFIED", call.plural, _merged({"metadata": known["metadata"]}, call.body))
        return _said(200, known)

    async def _watch(self, request: web.Request, plural: str) -> web.StreamResponse:
        since, told = self._version, len(self._history)
        response = await opened(request)
        wanted = self._wanted(request)
        for (kind, _), one in list(self._objects.items()):
            if kind == plural and wanted(one):
                await response.write(event("ADDED", one))
        await response.write(bookmark(since, end=True))
        ended = self._ended[plural]
        while not self.stopping.is_set() and self._ended[plural] == ended:
            changed = self._changed
            while told < len(self._history):
                happened = self._history[told]
                told += 1
                if happened.plural == plural:
                    try:
                        await response.write(_as_seen(happened, wanted))
                    except ConnectionResetError:  # whoever watched has gone
                        return response
            await changed.wait()
        return response

    def _wanted(self, request: web.Request) -> Callable[[Json], bool]:
        by_label = "labelSelector" in request.query
        return lambda one: not by_label or LABEL_JOB in one["metadata"].get("labels", {})

    def _write(self, type_: str, plural: str, body: Json) -> Json:
        self._version += 1
        body = {**body, "metadata": {**body["metadata"], "resourceVersion": str(self._version)}}
        key = (plural, body["metadata"]["name"])
        before = self._objects.pop(key, None)
        if type_ != "DELETED":
            self._objects[key] = body
        after = self._objects.get(key)
        self._counts[plural] += (after is not None) - (before is not None)
        self._history.append(_Happened(plural, before, after, event(type_, body)))
        self.wake()
        return body

    def wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _as_seen(happened: _Happened, wanted: Callable[[Json], bool]) -> bytes:
    """What a watch tells: an object that is no longer wanted is gone for it, as it was but for its version."""
    before, after = happened.before, happened.after
    if after is not None and before is not None and wanted(before) != wanted(after):
        version = {"resourceVersion": after["metadata"]["resourceVersion"]}
        left = {**before, "metadata": {**before["metadata"], **version}}
        return event("ADDED", after) if wanted(after) else event("DELETED", left)
    return happened.line if wanted(after or before or {}) else b""


def _merged(before: Json, patch: Json) -> Json:
    made = {**before}
    for name, value in patch.items():
        if value is None:
            made.pop(name, None)
        else:
            made[name] = _merged(made.get(name) or {}, value) if isinstance(value, dict) else value
    return made


def _said(code: int, body: object) -> web.Response:
    return web.Response(status=code, body=msgspec.json.encode(body), content_type="application/json")


@asynccontextmanager
async def a_cluster() -> AsyncIterator[FakeCluster]:
    cluster = FakeCluster()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", cluster.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.5, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        cluster.url = f"http://{host}:{port}"
        yield cluster
    finally:
        cluster.stopping.set()
        cluster.wake()
        await runner.cleanup()
