"""A watch over the wire: what it says, and the ways in which it ends."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from paddlejob.kube import errors
from paddlejob.kube.client import Client
from paddlejob.kube.events import Bookmark, Removed, Seen, WatchEvent
from paddlejob.kube.lines import LineBuffer
from tests.kube.fake_server import (
    FakeServer,
    Fault,
    bookmark,
    error_event,
    event,
    refuses,
    says,
    says_and_cuts,
    says_and_hangs,
)
from tests.kube.things import THINGS, Thing, a_thing


async def watched(client: Client, silence: float = 30.0) -> list[WatchEvent[Thing]]:
    async with client.watch(THINGS, "default", params={"resourceVersion": "1"}, silence=silence) as events:
        return [event async for event in events]


async def test_a_watch_ends_when_the_server_ends_it(server: FakeServer, client: Client) -> None:
    thing = a_thing("a", 5)
    lines = [
        event("ADDED", thing),
        b"\n",
        event("MODIFIED", thing),
        event("DELETED", thing),
        bookmark(9),
        bookmark(10, end=True),
    ]
    server.fail("watch", says(*lines))
    assert await watched(client) == [
        Seen(thing),
        Seen(thing),
        Removed(thing),
        Bookmark("9", False),
        Bookmark("10", True),
    ]
    assert server.requests[0].query == {"resourceVersion": "1", "watch": "1"}


async def test_a_line_may_come_in_small_pieces(server: FakeServer, client: Client) -> None:
    thing = a_thing("a", 5)
    line = event("ADDED", thing)
    server.fail("watch", says(*(line[number : number + 1] for number in range(len(line)))))
    assert await watched(client) == [Seen(thing)]


WATCH_FAULTS: dict[str, tuple[Callable[[FakeServer], Fault], type[errors.KubeError]]] = {
    "410 as an event": (lambda _: says(error_event(410, "Expired")), errors.ApiGone),
    "500 as an event": (lambda _: says(error_event(500, "InternalError")), errors.ApiServerError),
    "an error that is no status": (lambda _: says(b'{"type":"ERROR","object":7}\n'), errors.ApiServerError),
    "garbage": (lambda _: says(b"garbage\n"), errors.Undecodable),
    "half a line": (lambda _: says(b'{"type":'), errors.Unreachable),
    "a torn connection": (lambda _: says_and_cuts(bookmark(5)), errors.Unreachable),
    "silence": (says_and_hangs, errors.Silent),
    "a refusal": (lambda _: refuses(403, "Forbidden"), errors.ApiForbidden),
}


@pytest.mark.parametrize(("fault", "kind"), WATCH_FAULTS.values(), ids=WATCH_FAULTS.keys())
async def test_a_watch_that_fails_says_how(
    server: FakeServer, client: Client, fault: Callable[[FakeServer], Fault], kind: type[errors.KubeError]
) -> None:
    server.fail("watch", fault(server))
    with pytest.raises(kind, match="watch things default"):
        await watched(client, silence=0.3)


def test_a_line_without_end_does_not_fill_the_memory() -> None:
    buffer = LineBuffer(longest=100)
    assert buffer.feed(b"x" * 60) == []
    assert buffer.unfinished
    assert buffer.feed(b"x\ny") == [b"x" * 61]
    with pytest.raises(errors.Undecodable, match="longer than 100"):
        buffer.feed(b"y" * 100)
