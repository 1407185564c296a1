"""A list on request: what was written before is in the store when it is done, however far a watch is behind."""

from __future__ import annotations

import asyncio

import pytest

from paddlejob.kube.client import Client
from tests.kube.fake_server import FakeServer, bookmark, event, refuses, says_and_hangs, until
from tests.kube.reflecting import reflecting
from tests.kube.things import a_thing


@pytest.mark.parametrize("streams", [True, False], ids=["streamed", "in pages"])
async def test_a_watch_that_is_behind_is_left_for_a_new_list(server: FakeServer, client: Client, streams: bool) -> None:
    server.streams_lists = streams
    server.put("old")
    silent = "stream" if streams else "follow"
    first = [event("ADDED", server.objects["old"]), bookmark(server.version, end=True)] if streams else []
    server.fail(silent, says_and_hangs(server, *first))
    async with reflecting(client) as running:
        await until(running.reflector.synced.is_set)
        await until(lambda: len(server.requests) == (1 if streams else 3))  # refused, list, watch
        server.put("new")
        fresh = running.reflector.refresh()
        assert not fresh.is_set()
        assert running.names() == {"old"}  # nothing is forgotten meanwhile
        await asyncio.wait_for(fresh.wait(), 20)
        assert running.names() == {"old", "new"}
        server.put("newest")
        await until(lambda: "newest" in running.names())
    assert running.errors == []


async def test_a_list_that_was_begun_before_does_not_count(server: FakeServer, client: Client) -> None:
    server.fail("stream", says_and_hangs(server, event("ADDED", a_thing("old", 90))))
    async with reflecting(client) as running:
        await until(lambda: len(server.requests) == 1)
        server.put("new")
        await asyncio.wait_for(running.reflector.refresh().wait(), 20)
        assert running.names() == {"new"}
    assert len(server.requests) == 2


async def test_before_the_first_list_nothing_is_listed_twice(server: FakeServer, client: Client) -> None:
    server.put("a")
    async with reflecting(client) as running:
        await asyncio.wait_for(running.reflector.refresh().wait(), 20)
        assert running.names() == {"a"}
    assert len(server.requests) == 1


async def test_a_reflector_that_waits_after_a_failure_does_not_let_it_wait(server: FakeServer, client: Client) -> None:
    server.fail("any", refuses(503, "ServiceUnavailable", Retry_After="600"))
    async with reflecting(client) as running:
        await until(lambda: len(running.errors) == 1)
        await asyncio.wait_for(running.reflector.refresh().wait(), 20)
    assert len(server.requests) == 2


async def test_cancelled_while_it_lists_anew_it_ends(client: Client) -> None:
    async with reflecting(client) as running:
        await until(running.reflector.synced.is_set)
        running.reflector.refresh()
    assert running.task.cancelled()
