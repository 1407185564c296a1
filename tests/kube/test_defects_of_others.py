"""Each test is named after a client that was tried, and after the defect for which it was not taken."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress

import pytest

from paddlejob.kube.client import Client
from paddlejob.kube.errors import LeaseLost
from tests.kube.fake_server import (
    FakeServer,
    error_event,
    event,
    refuses,
    says,
    says_and_cuts,
    until,
)
from tests.kube.leases import Fault, Leases, Stage, a_candidate, ended, loop_time
from tests.kube.reflecting import reflecting


@pytest.mark.parametrize("streams", [True, False], ids=["streaming", "paged"])
async def test_kr8s_410_reconnects_for_ever_with_the_same_version(
    server: FakeServer, client: Client, streams: bool
) -> None:
    server.streams_lists = streams
    server.put("a")
    server.put("gone")
    async with reflecting(client) as running:
        await until(lambda: server.watching == 1)
        known = len(server.watches())
        gone = str(server.version)
        server.fail("follow", refuses(410, "Expired", "too old resource version"))
        server.close_watches()
        await until(lambda: len(server.watches()) > known)
        server.remove("gone")
        server.put("b")
        server.forget_history()
        await until(lambda: running.names() == {"a", "b"})
        server.put("c")
        await until(lambda: running.names() == {"a", "b", "c"})
    later = server.watches()[known + 1 :]
    assert later
    assert gone not in [watch.query.get("resourceVersion") for watch in later]


async def test_lightkube_version_is_never_reset_after_410_as_an_event(server: FakeServer, client: Client) -> None:
    server.put("a")
    async with reflecting(client) as running:
        await until(lambda: server.watching == 1)
        server.fail("follow", says(error_event(410, "Expired")))
        server.close_watches()
        await until(lambda: len([watch for watch in server.watches() if watch.is_stream]) == 2)
        server.put("b")
        await until(lambda: running.names() == {"a", "b"})


async def test_official_watch_retries_once_and_raises(server: FakeServer, client: Client) -> None:
    server.put("a")
    async with reflecting(client) as running:
        await until(lambda: server.watching == 1)
        server.fail("watch", refuses(410, "Expired"), times=2)
        server.fail("watch", says(error_event(410, "Gone")))
        server.fail("watch", refuses(500, "InternalError"))
        server.close_watches()
        await until(lambda: len(server.watches()) >= 6)
        server.put("b")
        await until(lambda: running.names() == {"a", "b"})
        assert len(running.errors) == 4


async def test_kopf_streaming_list_cut_midway_loses_objects(server: FakeServer, client: Client) -> None:
    for name in "abc":
        server.put(name)
    async with reflecting(client) as running:
        await until(running.reflector.synced.is_set)
        only_a = event("ADDED", server.objects["a"])
        server.fail("follow", refuses(410, "Expired"))
        server.fail("stream", says(only_a))
        server.fail("stream", says_and_cuts(only_a))
        server.close_watches()
        await until(lambda: server.watching == 1 and len(running.errors) == 3)
        assert running.names() == {"a", "b", "c"}
        assert [change for change in running.changes if change.after is None] == []


@pytest.mark.looptime(resolution=1e-9)
@pytest.mark.parametrize("fault", ["down", "hang", "lost answer"])
async def test_official_leaders_work_is_left_running_after_a_lost_renewal(fault: Fault) -> None:
    leases, stage = Leases(), Stage()
    election = a_candidate(leases, "a")
    task = asyncio.create_task(election.run(stage.act("a", ending=3.0)))
    await asyncio.sleep(20)
    cut = loop_time()
    leases.fault = fault
    with pytest.raises(LeaseLost, match="could not be renewed within 10 s"):
        await task
    assert stage.leading == set(), "the work was joined before anybody was told"
    assert not election.holding
    assert loop_time() - cut <= 10 + 3 + 0.1


@pytest.mark.looptime(resolution=1e-9)
@pytest.mark.parametrize("seed", range(6))
async def test_kopf_peering_is_not_a_lock_two_candidates_never_lead_together(seed: int) -> None:
    rng = random.Random(seed)
    root, stage = Leases(), Stage()
    connections = {who: root.connection() for who in "abc"}

    async def candidate(who: str) -> None:
        await asyncio.sleep(round(rng.random() * 3, 3))
        while True:
            with suppress(LeaseLost):
                await a_candidate(connections[who], who).run(stage.act(who, ending=round(rng.random() * 4.5, 3)))

    tasks = [asyncio.create_task(candidate(who)) for who in connections]
    faults: tuple[Fault, ...] = ("", "down", "hang", "lost answer")
    for _ in range(30):
        await asyncio.sleep(round(rng.random() * 20, 3))
        connections[rng.choice("abc")].fault = rng.choice(faults)
    for connection in connections.values():
        connection.fault = ""
    await asyncio.sleep(60)
    assert stage.together == 1
    assert len(stage.leading) == 1, "in the end somebody leads"
    assert len({who for _, who in stage.led}) > 1, "the lease went from hand to hand"
    for task in tasks:
        await ended(task)
