"""Elections in virtual time, against a Lease kept in memory with the API server's rules for conflicts."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from aiohttp import web

from paddlejob.kube.client import Client
from paddlejob.kube.errors import ApiNotFound, LeaseLost
from paddlejob.kube.lease import Election, LeaseDurations
from paddlejob.kube.lease_record import LEASES, Lease, LeaseMeta, LeaseSpec
from tests.kube.fake_server import FakeServer, a_status, until
from tests.kube.leases import Leases, Stage, a_candidate, ended, loop_time

virtual_time = pytest.mark.looptime(resolution=1e-9)


@virtual_time
async def test_the_first_candidate_leads_at_once_and_keeps_the_lease() -> None:
    leases, stage = Leases(), Stage()
    election = a_candidate(leases, "a")
    with pytest.raises(LeaseLost):
        election.check()
    task = asyncio.create_task(election.run(stage.act("a")))
    await asyncio.sleep(100)
    assert stage.leading == {"a"}
    assert election.holding
    election.check()
    assert leases.calls[:2] == ["get", "create"]
    assert set(leases.calls[2:]) == {"update"}
    assert leases.lease[0].spec.lease_transitions == 1
    assert leases.lease[0].spec.lease_duration_seconds == 15
    await ended(task)


@virtual_time
async def test_another_takes_over_a_dead_leaders_lease_after_it_expired_here() -> None:
    # The dead leader's clock was a year ahead: its renewTime says nothing to us.
    spec = LeaseSpec("dead", 15, "2099-01-01T00:00:00.000000Z", "2099-01-01T00:00:00.000000Z", 4)
    meta = LeaseMeta(name="lock", namespace="system", resource_version="7", labels={"app": "kept"})
    leases, stage = Leases([Lease(meta, spec)]), Stage()
    start = loop_time()
    task = asyncio.create_task(a_candidate(leases, "b").run(stage.act("b")))
    await asyncio.sleep(30)
    ((at, who),) = stage.led
    assert who == "b"
    assert 15 <= at - start <= 20
    assert leases.lease[0].spec.lease_transitions == 5
    assert leases.lease[0].metadata.labels == {"app": "kept"}
    await ended(task)


@virtual_time
async def test_a_lease_with_our_name_that_we_did_not_take_is_another_process() -> None:
    spec = LeaseSpec("a", 15, "2020-01-01T00:00:00.000000Z", "2020-01-01T00:00:00.000000Z", 1)
    leases, stage = Leases([Lease(LeaseMeta(name="lock", resource_version="7"), spec)]), Stage()
    start = loop_time()
    task = asyncio.create_task(a_candidate(leases, "a").run(stage.act("a")))
    await asyncio.sleep(30)
    assert stage.led[0][0] - start >= 15
    await ended(task)


@virtual_time
async def test_a_frozen_leader_must_not_write_when_it_wakes() -> None:
    leases, stage = Leases(), Stage()
    frozen = 0.0
    election = a_candidate(leases, "a", clock=lambda: loop_time() + frozen)
    task = asyncio.create_task(election.run(stage.act("a")))
    await asyncio.sleep(5)
    election.check()
    frozen = 11.0  # SIGSTOP: the monotonic clock went on, nothing of ours ran
    with pytest.raises(LeaseLost, match="system/lock"):
        election.check()
    assert not election.holding
    with pytest.raises(LeaseLost):
        await task
    assert stage.leading == set()


@virtual_time
@pytest.mark.parametrize("how", ["cancelled", "finished", "failed"])
async def test_the_lease_is_released_on_exit_and_another_takes_over_at_once(how: str) -> None:
    leases, stage = Leases(), Stage()
    finish = asyncio.Event()

    async def lead() -> None:
        await finish.wait()
        if how == "failed":
            raise ValueError("the work failed")

    first = asyncio.create_task(a_candidate(leases, "a").run(lead))
    await asyncio.sleep(1)
    second = asyncio.create_task(a_candidate(leases.connection(), "b").run(stage.act("b")))
    await asyncio.sleep(20)
    assert not stage.led
    if how == "cancelled":
        first.cancel()
    finish.set()
    (outcome,) = await asyncio.gather(first, return_exceptions=True)
    assert type(outcome) is {"cancelled": asyncio.CancelledError, "finished": type(None), "failed": ValueError}[how]
    assert leases.lease[0].spec.holder_identity == ""
    released = loop_time()
    await asyncio.sleep(5)
    assert stage.led[0][0] - released <= 2.1
    await ended(second)


@virtual_time
async def test_the_work_is_joined_even_if_the_election_is_cancelled_twice() -> None:
    leases, stage = Leases(), Stage()
    task = asyncio.create_task(a_candidate(leases, "a").run(stage.act("a", ending=3)))
    await asyncio.sleep(1)
    task.cancel()
    await asyncio.sleep(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert stage.leading == set()


@virtual_time
@pytest.mark.parametrize("thief", ["other", ""], ids=["taken", "emptied"])
async def test_a_lease_that_another_has_taken_is_lost_at_once(thief: str) -> None:
    leases, stage = Leases(), Stage()
    election = a_candidate(leases, "a")
    task = asyncio.create_task(election.run(stage.act("a")))
    await asyncio.sleep(5)
    lease = leases.lease[0]
    meta = msgspec.structs.replace(lease.metadata, resource_version="99")
    leases.lease[0] = msgspec.structs.replace(
        lease, metadata=meta, spec=msgspec.structs.replace(lease.spec, holder_identity=thief)
    )
    start = loop_time()
    with pytest.raises(LeaseLost, match=f"{thief or 'nobody'} holds it now"):
        await task
    assert loop_time() - start <= 2.1
    assert leases.lease[0].spec.holder_identity == thief, "what is not ours is not released"


@virtual_time
async def test_a_deleted_lease_is_lost_at_once() -> None:
    leases, stage = Leases(), Stage()
    task = asyncio.create_task(a_candidate(leases, "a").run(stage.act("a")))
    await asyncio.sleep(5)
    leases.lease.clear()
    with pytest.raises(LeaseLost, match="deleted"):
        await task


@virtual_time
async def test_a_renewal_whose_answer_was_lost_is_recognised_as_ours() -> None:
    leases, stage = Leases(), Stage()
    task = asyncio.create_task(a_candidate(leases, "a").run(stage.act("a")))
    await asyncio.sleep(5)
    leases.fault = "lost answer"
    await asyncio.sleep(3)
    leases.fault = ""
    await asyncio.sleep(60)
    assert stage.leading == {"a"}
    await ended(task)


@virtual_time
async def test_errors_on_the_way_are_told_and_release_gives_up_in_time() -> None:
    leases, stage = Leases(fault="down"), Stage()
    told: list[Exception] = []
    election = Election(leases, namespace="s", name="l", identity="a", clock=loop_time, on_error=told.append)
    task = asyncio.create_task(election.run(stage.act("a")))
    await asyncio.sleep(5)
    assert told
    assert repr(election.trouble) == repr(told[-1])
    leases.fault = ""
    await asyncio.sleep(5)
    assert stage.leading == {"a"}
    assert election.trouble is None
    leases.fault = "hang"
    start = loop_time()
    await ended(task)
    assert loop_time() - start <= 2.1


def test_durations_that_let_two_lead_are_refused() -> None:
    with pytest.raises(ValueError, match="lease > renew > retry"):
        LeaseDurations(lease=10, renew=10, retry=2)


async def test_an_election_over_http_uses_get_create_and_update_of_leases_only(
    server: FakeServer, client: Client
) -> None:
    leases = Leases()
    verbs: list[str] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        verbs.append(f"{request.method} {request.path}")
        try:
            if request.method == "GET":
                lease = await leases.get(LEASES, "system", "lock")
            elif request.method == "POST":
                lease = await leases.create(LEASES, "system", msgspec.json.decode(await request.read(), type=Lease))
            else:
                body = msgspec.json.decode(await request.read(), type=Lease)
                lease = await leases.replace(LEASES, ("system", "lock"), body)
        except ApiNotFound:
            return a_status(404, "NotFound")
        return web.Response(body=msgspec.json.encode(lease), content_type="application/json")

    async def lead() -> None:
        await until(lambda: verbs.count(f"PUT {path}/lock") >= 2)
        election.check()

    server.fail("any", handle, times=1000)
    path = "/apis/coordination.k8s.io/v1/namespaces/system/leases"
    durations = LeaseDurations(lease=20, renew=15, retry=0.05)
    election = Election(client, namespace="system", name="lock", identity="me", durations=durations)
    await election.run(lead)
    assert set(verbs) == {f"GET {path}/lock", f"POST {path}", f"PUT {path}/lock"}
