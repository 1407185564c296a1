"""How a reflector gets its first complete picture, streamed or in pages."""

from __future__ import annotations

import msgspec
import pytest

from paddlejob.kube.client import Client
from tests.kube.fake_server import (
    FakeServer,
    Fault,
    bookmark,
    event,
    refuses,
    says,
    says_and_hangs,
    until,
)
from tests.kube.reflecting import reflecting
from tests.kube.things import a_thing


async def test_the_first_sync_is_one_stream_that_goes_on_as_the_watch(server: FakeServer, client: Client) -> None:
    server.put("a")
    async with reflecting(client, selector="app=x") as running:
        await until(running.reflector.synced.is_set)
        assert running.names() == {"a"}
        server.put("b")
        server.put("a", value=5)
        await until(lambda: running.value("a") == 5)
        server.remove("b")
        await until(lambda: running.names() == {"a"})
    (request,) = server.requests
    assert request.query["allowWatchBookmarks"] == "true"
    assert request.query["resourceVersionMatch"] == "NotOlderThan"
    assert request.query["labelSelector"] == "app=x"
    assert 300 <= int(request.query["timeoutSeconds"]) <= 600
    assert request.headers["Accept-Encoding"] == "identity"


async def test_not_synced_before_the_end_of_the_streamed_list(server: FakeServer, client: Client) -> None:
    server.put("a")
    server.fail("stream", says_and_hangs(server, event("ADDED", server.objects["a"]), bookmark(101)))
    async with reflecting(client, silence=0.3) as running:
        await until(lambda: len(running.errors) == 1)
        assert not running.changes or running.reflector.synced.is_set()
        await until(running.reflector.synced.is_set)
        assert running.names() == {"a"}


async def test_a_streamed_list_takes_changes_and_deletes_before_its_end(server: FakeServer, client: Client) -> None:
    lines = [
        event("ADDED", a_thing("a", 1)),
        event("ADDED", a_thing("b", 2)),
        event("ADDED", a_thing("c", 3)),
        event("MODIFIED", a_thing("a", 4, value=4)),
        event("DELETED", a_thing("b", 5)),
        event("MODIFIED", {"metadata": {"name": "c", "namespace": "default"}, "value": "no number"}),
        bookmark(101, end=True),
    ]
    server.fail("stream", says_and_hangs(server, *lines))
    async with reflecting(client) as running:
        await until(running.reflector.synced.is_set)
        assert running.names() == {"a"}
        assert running.value("a") == 4
        assert running.skipped == ["Thing/default/c"]


async def test_streams_that_are_always_cut_give_way_to_a_paged_list(server: FakeServer, client: Client) -> None:
    server.put("a")
    server.fail("stream", says(event("ADDED", server.objects["a"])), times=3)
    async with reflecting(client) as running:
        await until(running.reflector.synced.is_set)
        assert running.names() == {"a"}
    assert len(server.lists()) == 1


REFUSALS: dict[str, Fault] = {
    "422 of a server with the feature off": refuses(422, "Invalid", "sendInitialEvents is forbidden for watch"),
    "400 of an old server": refuses(400, "BadRequest", "resourceVersionMatch is forbidden for watch"),
    "403 that names the field": refuses(403, "Forbidden", "sendInitialEvents: Forbidden: storage feature disabled"),
}


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS.keys())
async def test_a_server_that_refuses_streaming_lists_is_listed_in_pages(
    server: FakeServer, client: Client, refusal: Fault
) -> None:
    for number in range(1201):
        server.put(f"t{number}")
    server.fail("stream", refusal)
    async with reflecting(client) as running:
        await until(lambda: server.watching == 1)
        assert len(running.store) == 1201
        assert running.errors == []
        server.put("more")
        await until(lambda: len(running.store) == 1202)
        server.fail("follow", refuses(410, "Expired"))
        server.close_watches()
        await until(lambda: len(server.lists()) == 6)
    assert [request.query.get("limit") for request in server.lists()] == ["500"] * 6
    assert len([watch for watch in server.watches() if watch.is_stream]) == 1, "the refusal is remembered"


async def test_a_paged_list_whose_token_expires_starts_over(server: FakeServer, client: Client) -> None:
    server.streams_lists = False
    for number in range(501):
        server.put(f"t{number}")
    server.fail("page", refuses(410, "Expired", "the provided continue parameter is too old"))
    async with reflecting(client) as running:
        await until(running.reflector.synced.is_set)
        assert len(running.store) == 501
        assert running.errors == []
    assert [request.query.get("limit") for request in server.lists()] == ["500", "500", None]


async def test_lines_of_2_mib_come_through(server: FakeServer, client: Client) -> None:
    big = a_thing("big", 101)
    meta = msgspec.structs.replace(big.metadata, annotations={"much": "x" * 2 * 2**20})
    server.objects["big"] = msgspec.structs.replace(big, metadata=meta)
    async with reflecting(client) as running:
        await until(running.reflector.synced.is_set)
        thing = running.store.get(("default", "big"))
        assert thing is not None
        assert len(thing.metadata.annotations["much"]) == 2 * 2**20


async def test_an_object_that_cannot_be_read_stops_no_list(server: FakeServer, client: Client) -> None:
    server.streams_lists = False
    server.put("a")
    server.objects["bad"] = {"metadata": {"name": "bad", "namespace": "default"}, "value": []}  # type: ignore[assignment]  # that is the point
    async with reflecting(client) as running:
        await until(running.reflector.synced.is_set)
        assert running.names() == {"a"}
        assert running.skipped == ["Thing/default/bad"]
