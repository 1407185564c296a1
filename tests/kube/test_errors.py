"""Every failure has its type and says what was tried, on what, and what was answered."""

from __future__ import annotations

import msgspec
import pytest
from aiohttp import web

from paddlejob.kube import errors
from paddlejob.kube.client import Client
from paddlejob.kube.config import ClusterConfig
from tests.kube.fake_server import (
    FakeServer,
    Fault,
    a_status,
    refuses,
    says_and_cuts,
    says_and_hangs,
)
from tests.kube.things import THINGS, a_thing

KEY = ("default", "a")


def answers(body: object, status: int = 200) -> Fault:
    async def fault(_: web.Request) -> web.StreamResponse:
        data = body if isinstance(body, bytes) else msgspec.json.encode(body)
        return web.Response(status=status, body=data, content_type="application/json")

    return fault


REFUSALS: list[tuple[int, str, type[errors.ApiError], bool]] = [
    (400, "BadRequest", errors.ApiBadRequest, False),
    (401, "Unauthorized", errors.ApiUnauthorized, False),
    (403, "Forbidden", errors.ApiForbidden, False),
    (404, "NotFound", errors.ApiNotFound, False),
    (405, "MethodNotAllowed", errors.ApiError, False),
    (409, "Conflict", errors.ApiConflict, False),
    (409, "AlreadyExists", errors.ApiAlreadyExists, False),
    (410, "Gone", errors.ApiGone, False),
    (400, "Expired", errors.ApiGone, False),
    (422, "Invalid", errors.ApiInvalid, False),
    (429, "TooManyRequests", errors.ApiTooManyRequests, True),
    (500, "InternalError", errors.ApiServerError, True),
    (503, "", errors.ApiServerError, True),
]


@pytest.mark.parametrize(("status", "reason", "kind", "transient"), REFUSALS, ids=str)
async def test_a_refusal_has_its_type_and_says_what_was_tried(
    server: FakeServer, client: Client, status: int, reason: str, kind: type[errors.ApiError], transient: bool
) -> None:
    server.fail("any", refuses(status, reason, "because"))
    with pytest.raises(errors.ApiError) as caught:
        await client.create(THINGS, "default", a_thing("a"))
    assert type(caught.value) is kind
    assert str(caught.value) == f"create things default/a: {f'{status} {reason}'.strip()}: because"
    assert caught.value.status == status
    assert errors.is_transient(caught.value) is transient


async def test_a_refusal_keeps_the_details_and_the_time_to_wait(server: FakeServer, client: Client) -> None:
    details = {"name": "a", "kind": "things", "causes": [{"field": "spec.x", "message": "no"}], "retryAfterSeconds": 3}
    server.fail("any", answers({"code": 422, "reason": "Invalid", "details": details}, 422))
    server.fail("any", refuses(429, "TooManyRequests", Retry_After="7"))
    server.fail("any", refuses(429, "TooManyRequests", Retry_After="Wed, 21 Oct 2026 07:28:00 GMT"))
    with pytest.raises(errors.ApiInvalid) as invalid:
        await client.patch(THINGS, KEY, {}, subresource="status")
    assert invalid.value.details.causes[0].field == "spec.x"
    assert invalid.value.retry_after == 3
    assert str(invalid.value) == "patch things/status default/a: 422 Invalid"
    for expected in (7, None):
        with pytest.raises(errors.ApiTooManyRequests) as busy:
            await client.get(THINGS, "default", "a")
        assert busy.value.retry_after == expected


async def test_a_proxys_own_words_are_kept(server: FakeServer, client: Client) -> None:
    server.fail("any", answers(b"<h1>Bad gateway</h1>\xff", 502))
    with pytest.raises(errors.ApiServerError, match=r"get things default/a: 502: <h1>Bad gateway"):
        await client.get(THINGS, "default", "a")


async def test_an_answer_that_is_not_the_object_says_so(server: FakeServer, client: Client) -> None:
    server.fail("any", answers({"metadata": {}, "value": "x"}))
    with pytest.raises(errors.Undecodable, match=r"get things default/a: cannot read the Thing: Expected `int`"):
        await client.get(THINGS, "default", "a")


@pytest.mark.parametrize("body", [b"not json", b'{"metadata":{"generateName":"g-"}}'])
async def test_a_failed_create_names_the_object_as_well_as_it_can(
    server: FakeServer, client: Client, body: bytes
) -> None:
    server.fail("any", refuses(403, "Forbidden"))
    with pytest.raises(errors.ApiForbidden, match=r"create things default/(\?|g-\*): 403"):
        await client.create(THINGS, "default", body)


async def test_no_server_is_unreachable_and_says_which_and_what_to_do() -> None:
    async with Client(ClusterConfig("http://127.0.0.1:1")) as client:
        with pytest.raises(
            errors.Unreachable, match=r"get things default/a: .*127.0.0.1:1.*check the server"
        ) as caught:
            await client.get(THINGS, "default", "a")
    assert errors.is_transient(caught.value)


async def test_a_torn_connection_is_unreachable(server: FakeServer, client: Client) -> None:
    server.fail("any", says_and_cuts(b"half"))
    with pytest.raises(errors.Unreachable, match="get things"):
        await client.get(THINGS, "default", "a")


async def test_a_slow_answer_is_given_up(server: FakeServer, client: Client) -> None:
    server.fail("any", says_and_hangs(server, b"{"))
    with pytest.raises(errors.Unreachable, match="timed out; check"):
        await client.request("GET", "/slow", timeout=0.2)


def test_statuses_are_made_the_same_way_for_events() -> None:
    body = a_status(410, "Expired", "old").body
    assert isinstance(body, bytes)
    error = errors.refusal("watch things", body)
    assert isinstance(error, errors.ApiGone)
    assert error.status == 410
