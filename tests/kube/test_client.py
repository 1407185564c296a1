"""The verbs as they go over the wire, and every failure said in words."""

from __future__ import annotations

import asyncio
import gzip

import msgspec
import pytest
from aiohttp import web

from paddlejob.kube import errors
from paddlejob.kube.auth import Credentials
from paddlejob.kube.client import Call, Client
from paddlejob.kube.config import ClusterConfig
from tests.kube.fake_server import (
    FakeServer,
    Fault,
    refuses,
    says_and_hangs,
    until,
)
from tests.kube.things import THINGS, WIDGETS, a_thing

KEY = ("default", "a")


def answers(body: object, status: int = 200) -> Fault:
    async def fault(_: web.Request) -> web.StreamResponse:
        data = body if isinstance(body, bytes) else msgspec.json.encode(body)
        return web.Response(status=status, body=data, content_type="application/json")

    return fault


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (THINGS.path(), "/api/v1/things"),
        (THINGS.path("ns"), "/api/v1/namespaces/ns/things"),
        (THINGS.path("ns", "a"), "/api/v1/namespaces/ns/things/a"),
        (WIDGETS.path("ns", "a", "status"), "/apis/example.com/v1beta1/namespaces/ns/widgets/a/status"),
        (WIDGETS.path(None, "a/b?c"), "/apis/example.com/v1beta1/widgets/a%2Fb%3Fc"),
    ],
)
def test_the_path_of_a_resource(path: str, expected: str) -> None:
    assert path == expected


async def test_each_verb_sends_what_the_api_wants(server: FakeServer, client: Client) -> None:
    thing = a_thing("a", 7, value=3)
    server.fail("any", answers(thing), times=7)
    assert await client.get(THINGS, "default", "a") == thing
    assert await client.create(THINGS, "default", thing) == thing
    assert await client.create(THINGS, "default", b'{"as":"is"}') == thing
    assert await client.patch(THINGS, KEY, {"x": 1}, subresource="status") == thing
    await client.patch(THINGS, KEY, [{"op": "remove"}], kind="json")
    await client.patch(THINGS, KEY, {"x": 1}, kind="apply", field_manager="me", force=True)
    assert await client.replace(THINGS, KEY, thing) == thing
    sent = [(request.method, request.path.removeprefix("/api/v1/namespaces/default/")) for request in server.requests]
    assert sent == [
        ("GET", "things/a"),
        ("POST", "things"),
        ("POST", "things"),
        ("PATCH", "things/a/status"),
        ("PATCH", "things/a"),
        ("PATCH", "things/a"),
        ("PUT", "things/a"),
    ]
    assert server.requests[2].body == b'{"as":"is"}'
    types = [request.headers.get("Content-Type") for request in server.requests[3:6]]
    assert types == ["application/merge-patch+json", "application/json-patch+json", "application/apply-patch+yaml"]
    assert server.requests[5].query == {"fieldManager": "me", "force": "true"}
    assert server.requests[0].headers["User-Agent"] == "paddle-operator"


async def test_a_delete_can_insist_on_the_very_object(server: FakeServer, client: Client) -> None:
    server.fail("any", answers({}), times=2)
    await client.delete(THINGS, KEY)
    await client.delete(THINGS, KEY, uid="u", grace_seconds=0, propagation="Background")
    plain, full = (msgspec.json.decode(request.body) for request in server.requests)
    assert plain == {"apiVersion": "v1", "kind": "DeleteOptions"}
    assert full == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": "u"},
        "gracePeriodSeconds": 0,
        "propagationPolicy": "Background",
    }


async def test_a_list_comes_in_pages(server: FakeServer, client: Client) -> None:
    for name in "abc":
        server.put(name)
    first = await client.list_page(THINGS, "default", selector="app=x", limit=2)
    assert [thing.metadata.name for thing in first.items] == ["a", "b"]
    second = await client.list_page(THINGS, None, limit=2, continue_token=first.continue_token)
    assert [thing.metadata.name for thing in second.items] == ["c"]
    assert (second.continue_token, second.resource_version) == ("", str(server.version))
    assert server.requests[0].query == {"limit": "2", "labelSelector": "app=x"}


async def test_a_list_of_nothing_and_a_list_that_is_none(server: FakeServer, client: Client) -> None:
    server.fail("list", answers({"metadata": {"resourceVersion": "5"}, "items": None}))
    server.fail("list", answers(b"<html>"))
    assert (await client.list_page(THINGS, None)).items == ()
    with pytest.raises(errors.Undecodable, match="list things: the answer is not a list"):
        await client.list_page(THINGS, None)


async def test_anything_else_goes_through_request(server: FakeServer, client: Client) -> None:
    server.fail("any", answers(b"ok"), times=2)
    assert await client.request("GET", "/healthz") == b"ok"
    await client.request("POST", "/x", params={"a": "b c"}, body={"k": 1}, content_type="application/yaml")
    assert server.requests[1].query == {"a": "b c"}
    assert server.requests[1].headers["Content-Type"] == "application/yaml"
    assert server.requests[1].body == b'{"k":1}'


async def test_a_client_that_is_not_open_says_so(server: FakeServer) -> None:
    client = Client(server.config())
    with pytest.raises(RuntimeError, match="async with"):
        await client.get(THINGS, "default", "a")


async def test_every_call_is_reported(server: FakeServer) -> None:
    calls: list[Call] = []
    server.fail("any", answers(a_thing("a")))
    server.fail("any", refuses(409, "Conflict"))
    async with Client(server.config(), on_call=calls.append, concurrency=1) as client:
        await client.get(THINGS, "default", "a")
        with pytest.raises(errors.ApiConflict):
            await client.patch(THINGS, KEY, {}, subresource="status")
        async with client.watch(THINGS, None, params={"sendInitialEvents": "true"}, silence=30) as events:
            await anext(events)
            assert len(calls) == 3, "a watch is reported when it is open"
    async with Client(ClusterConfig("http://127.0.0.1:1"), on_call=calls.append) as client:
        with pytest.raises(errors.Unreachable):
            await client.delete(THINGS, KEY)
    assert [(call.verb, call.resource_plural, call.subresource, call.status) for call in calls] == [
        ("get", "things", None, 200),
        ("patch", "things", "status", 409),
        ("watch", "things", None, 200),
        ("delete", "things", None, 0),
    ]
    assert all(call.seconds >= 0 for call in calls)


async def test_no_more_calls_than_the_limit_are_in_flight(server: FakeServer) -> None:
    inside = most = 0

    async def slow(_: web.Request) -> web.StreamResponse:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.01)
        inside -= 1
        return web.Response(body=b"ok")

    server.fail("any", slow, times=20)
    async with Client(server.config(), concurrency=3) as client:
        await asyncio.gather(*(client.request("GET", "/x") for _ in range(20)))
    assert most == 3


async def test_a_cancelled_call_leaves_nothing_behind(server: FakeServer) -> None:
    server.fail("any", says_and_hangs(server))
    server.fail("any", answers(b"ok"))
    async with Client(server.config(), concurrency=1) as client:
        task = asyncio.create_task(client.request("GET", "/hangs"))
        await until(lambda: len(server.requests) == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await client.request("GET", "/next", timeout=10) == b"ok"


class Rotating:
    """Credentials that change when they are refused."""

    def __init__(self, changes: bool = True) -> None:
        self.number = 1
        self.changes = changes

    async def credentials(self) -> Credentials:
        return Credentials(f"Bearer token-{self.number}")

    async def refresh(self, refused: Credentials) -> bool:
        assert refused.authorization == f"Bearer token-{self.number}"
        self.number += 1
        return self.changes


async def test_after_401_the_call_is_tried_once_more_with_new_credentials(server: FakeServer) -> None:
    server.fail("any", refuses(401, "Unauthorized"))
    server.fail("any", answers(b"ok"))
    async with Client(server.config(Rotating())) as client:
        assert await client.request("GET", "/x") == b"ok"
    assert [request.headers["Authorization"] for request in server.requests] == ["Bearer token-1", "Bearer token-2"]


@pytest.mark.parametrize(("changes", "asked"), [(True, 2), (False, 1)], ids=["refused again", "nothing new to offer"])
async def test_a_second_401_is_raised(server: FakeServer, changes: bool, asked: int) -> None:
    server.fail("any", refuses(401, "Unauthorized"), times=2)
    async with Client(server.config(Rotating(changes))) as client:
        with pytest.raises(errors.ApiUnauthorized):
            await client.request("GET", "/x")
    assert len(server.requests) == asked


class Broken(Rotating):
    async def refresh(self, refused: Credentials) -> bool:
        raise errors.ConfigError(f"the plugin is gone ({refused})")


async def test_credentials_that_cannot_be_refreshed_say_why_and_not_what(server: FakeServer) -> None:
    server.fail("any", refuses(401, "Unauthorized"))
    async with Client(server.config(Broken())) as client:
        with pytest.raises(errors.ConfigError, match="the plugin is gone") as caught:
            await client.request("GET", "/x")
    assert "token-1" not in str(caught.value)


async def test_answers_are_asked_for_unpacked(server: FakeServer, client: Client) -> None:
    async def packed(request: web.Request) -> web.StreamResponse:
        assert request.headers["Accept-Encoding"] == "identity"
        return web.Response(body=gzip.compress(b"ok"), headers={"Content-Encoding": "gzip"})

    server.fail("any", packed)
    assert await client.request("GET", "/x") == b"ok", "a proxy that packs anyway is understood"


async def test_a_redirect_is_not_followed(server: FakeServer, client: Client) -> None:
    async def redirect(_: web.Request) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": "http://127.0.0.1:1/steal"})

    server.fail("any", redirect)
    with pytest.raises(errors.ApiError, match="GET /x: 302"):
        await client.request("GET", "/x")


class Stopped(errors.KubeError):
    """What a gate says that is closed."""


class Closing:
    """A gate that lets so many questions pass and is closed then, as after a process was stopped for long."""

    def __init__(self, passes: int) -> None:
        self.left = passes

    def __call__(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Stopped("another leads")


async def test_what_a_gate_stops_when_it_goes_out_does_not_reach_the_server(server: FakeServer, client: Client) -> None:
    """As in campaign 311: a leader was stopped after it had asked, and wrote when another led."""
    fenced = client.behind(Closing(passes=0))
    writes = (
        lambda: fenced.create(THINGS, "default", a_thing("a", 7)),
        lambda: fenced.patch(THINGS, KEY, {"x": 1}),
        lambda: fenced.replace(THINGS, KEY, a_thing("a", 7)),
        lambda: fenced.delete(THINGS, KEY),
    )
    for write in writes:
        with pytest.raises(Stopped):
            await write()
    assert server.requests == []


async def test_reads_pass_a_closed_gate_and_so_do_writes_of_others(server: FakeServer, client: Client) -> None:
    thing = a_thing("a", 7, value=3)
    server.fail("any", answers(thing), times=3)
    fenced = client.behind(Closing(passes=1))
    assert await fenced.patch(THINGS, KEY, {"x": 1}) == thing
    assert await fenced.get(THINGS, "default", "a") == thing
    assert await client.patch(THINGS, KEY, {"x": 1}) == thing
