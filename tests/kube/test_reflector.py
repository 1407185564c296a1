"""The reflector against a server that misbehaves."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from paddlejob.kube.client import Client
from paddlejob.kube.config import ClusterConfig
from paddlejob.kube.reflector import Reflector
from paddlejob.kube.store import Store
from tests.kube.fake_server import (
    FakeServer,
    Fault,
    bookmark,
    event,
    refuses,
    says,
    says_and_cuts,
    says_and_hangs,
    until,
)
from tests.kube.reflecting import reflecting
from tests.kube.things import THINGS, Thing


async def test_a_clean_close_reconnects_at_once_from_the_last_version(server: FakeServer, client: Client) -> None:
    server.put("a")
    async with reflecting(client) as running:
        await until(lambda: server.watching == 1)
        last = server.put("b").metadata.resource_version
        await until(lambda: running.names() == {"a", "b"})
        server.close_watches()
        await until(lambda: len(server.watches()) == 2)
        assert running.errors == []
    assert server.watches()[1].query["resourceVersion"] == last
    assert len(server.requests) == 2


async def test_bookmarks_advance_the_version(server: FakeServer, client: Client) -> None:
    server.fail("stream", says(bookmark(101, end=True), bookmark(4321)))
    server.fail("follow", says_and_hangs(server))
    async with reflecting(client):
        await until(lambda: len(server.watches()) == 2)
    assert server.watches()[1].query["resourceVersion"] == "4321"


async def test_a_watch_that_closes_at_once_without_an_event_backs_off(server: FakeServer, client: Client) -> None:
    server.fail("follow", says(), times=4)
    async with reflecting(client) as running:
        await until(lambda: server.watching == 1)
        server.close_watches()
        await until(lambda: len(running.errors) == 4 and server.watching == 1)
    times = [watch.at for watch in server.watches()[1:]]
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    # Half of 0.2, 0.4, 0.8 and 1.6 seconds at least: jitter takes away no more.
    assert all(gap >= least for gap, least in zip(gaps, (0.1, 0.2, 0.4, 0.8), strict=True)), gaps


async def test_429_waits_as_long_as_retry_after_says(server: FakeServer, client: Client) -> None:
    server.fail("stream", refuses(429, "TooManyRequests", Retry_After="1"))
    async with reflecting(client) as running:
        await until(running.reflector.synced.is_set)
    first, second = server.watches()
    assert second.at - first.at >= 1.0


FAULTS: dict[str, Fault] = {
    "401": refuses(401, "Unauthorized"),
    "403": refuses(403, "Forbidden", "no RBAC"),
    "404": refuses(404, "NotFound", "no such kind yet"),
    "500": refuses(500, "InternalError"),
    "503 in a proxy's own words": refuses(503, ""),
    "garbage": says(b"<html>nonsense\n"),
    "an event of unknown type": says(b'{"type":"WHAT","object":{}}\n'),
    "a bookmark without sense": says(b'{"type":"BOOKMARK","object":[]}\n'),
    "half a line and a clean close": says(b'{"type":"ADDED","obj'),
    "half a line and a torn connection": says_and_cuts(b'{"type":"ADDED","obj'),
    "a connection torn at once": says_and_cuts(),
    "version too large": refuses(504, "Timeout", "Too large resource version"),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
@pytest.mark.parametrize("when", ["stream", "follow"])
async def test_no_fault_ends_the_reflector(server: FakeServer, client: Client, when: str, fault: Fault) -> None:
    server.put("a")
    server.fail(when, fault)
    async with reflecting(client) as running:
        await until(running.reflector.synced.is_set)
        server.close_watches()
        await until(lambda: len(running.errors) == 1)
        server.put("b")
        await until(lambda: running.names() == {"a", "b"})


async def test_a_server_that_is_down_is_waited_for() -> None:
    async with Client(ClusterConfig("http://127.0.0.1:1")) as client, reflecting(client) as running:
        await until(lambda: len(running.errors) >= 2)
        assert "127.0.0.1" in str(running.errors[0])


async def test_silence_is_taken_for_a_dead_connection_and_asked_again(server: FakeServer, client: Client) -> None:
    server.put("a")
    server.fail("follow", says_and_hangs(server))
    async with reflecting(client, silence=0.3) as running:
        await until(lambda: server.watching == 1)
        await until(lambda: len(server.watches()) >= 3)
        server.put("b")
        await until(lambda: running.names() == {"a", "b"})
        assert running.errors == [], "silence is no error: the cluster may just be quiet"


async def test_an_object_that_cannot_be_read_stops_no_watch(server: FakeServer, client: Client) -> None:
    server.put("a")
    async with reflecting(client) as running:
        await until(lambda: server.watching == 1)
        bad = {"metadata": {"name": "a", "namespace": "default", "resourceVersion": "102"}, "value": "no number"}
        server.send_raw(event("MODIFIED", bad).strip())
        await until(lambda: running.names() == set())
        server.send_raw(event("ADDED", {"metadata": 7}).strip())
        server.put("b")
        await until(lambda: running.names() == {"b"})
        assert running.skipped == ["Thing/default/a", "Thing//"]
        assert running.errors == []


async def test_a_server_restored_from_backup_is_listed_anew(server: FakeServer, client: Client) -> None:
    too_large = {"code": 504, "reason": "Timeout", "details": {"causes": [{"reason": "ResourceVersionTooLarge"}]}}
    server.put("a")
    async with reflecting(client) as running:
        await until(lambda: server.watching == 1)
        server.fail("follow", says(event("ERROR", too_large)))
        server.version = 10
        server.history.clear()
        server.close_watches()
        await until(lambda: len([watch for watch in server.watches() if watch.is_stream]) == 2)
        server.put("b")
        await until(lambda: running.names() == {"a", "b"})


async def test_faults_without_listeners_harm_nobody(server: FakeServer, client: Client) -> None:
    server.put("a")
    server.fail("stream", refuses(500, "InternalError"))
    store: Store[Thing] = Store()
    task: asyncio.Task[None] = asyncio.create_task(Reflector(client, THINGS, store, namespace="default").run())
    await until(lambda: server.watching == 1 and len(store) == 1)
    server.send_raw(event("ADDED", {"metadata": 7}).strip())
    server.put("b")
    await until(lambda: len(store) == 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
