"""A long answer in pieces, such as a log, and lists and watches of chosen fields."""

from __future__ import annotations

import asyncio

import pytest

from paddlejob.kube import errors
from paddlejob.kube.client import Client
from paddlejob.kube.reflector import Reflector
from paddlejob.kube.store import Store
from paddlejob.kube.tasks import cancelled_and_joined
from tests.kube.fake_server import FakeServer, refuses, says, says_and_cuts, says_and_hangs
from tests.kube.things import THINGS, Thing


async def pieces(client: Client, silence: float = 30.0) -> bytes:
    async with client.chunks("/log", params={"follow": "true"}, silence=silence) as chunks:
        return b"".join([chunk async for chunk in chunks])


async def test_nothing_is_lost_empty_lines_and_a_last_one_without_end_included(
    server: FakeServer, client: Client
) -> None:
    server.fail("any", says(b"a\n\n", b"b\nhalf"))
    assert await pieces(client) == b"a\n\nb\nhalf"
    assert server.requests[0].query["follow"] == "true"


async def test_a_cut_is_told(server: FakeServer, client: Client) -> None:
    server.fail("any", says_and_cuts(b"a\n"))
    with pytest.raises(errors.Unreachable):
        await pieces(client)


async def test_silence_is_told(server: FakeServer, client: Client) -> None:
    server.fail("any", says_and_hangs(server, b"a\n"))
    with pytest.raises(errors.Silent):
        await pieces(client, silence=0.1)


async def test_a_refusal_is_told_before_the_first_piece(server: FakeServer, client: Client) -> None:
    server.fail("any", refuses(403, "Forbidden"))
    with pytest.raises(errors.ApiForbidden):
        await pieces(client)


@pytest.mark.parametrize("streams", [True, False])
async def test_fields_choose_in_lists_and_watches(server: FakeServer, client: Client, streams: bool) -> None:
    server.streams_lists = streams
    store: Store[Thing] = Store()
    reflector = Reflector(client, THINGS, store, namespace="default", fields="metadata.name=a")
    running = asyncio.ensure_future(reflector.run())
    try:
        await asyncio.wait_for(reflector.synced.wait(), 10)
    finally:
        await cancelled_and_joined(running)
    assert {request.query.get("fieldSelector") for request in server.requests} == {"metadata.name=a"}
