"""Thousands of pods that are none of the operator's business cost it nothing: it watches only what has our label."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path

import aiohttp
import pytest

from tests.operator.fixtures import StartOperator
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import IMAGE, Desk, Json, a_job, a_role

STRANGERS = 5000
AT_ONCE = 32
MIB = 1024


def a_stranger(name: str) -> Json:
    """Nobody places it, so that it costs the test cluster little; its size is that of an ordinary pod."""
    environment = [{"name": f"VARIABLE_{index}", "value": "x" * 40} for index in range(20)]
    container = {"name": "main", "image": IMAGE, "env": environment}
    return {"metadata": {"name": name}, "spec": {"schedulerName": "nobody", "containers": [container]}}


async def for_each(desk: Desk, method: str, suffixes: list[str], bodies: list[Json]) -> None:
    """Many calls about pods, many at a time. (A collection is deleted one by one, which takes half a minute.)"""
    plane = desk.control_plane
    context = ssl.create_default_context(cafile=str(plane.layout.authority))
    left = iter(zip(suffixes, bodies, strict=True))
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=AT_ONCE, ssl=context),
        headers={"Authorization": f"Bearer {plane.admin_token}"},
    ) as session:

        async def call_until_done() -> None:
            for suffix, body in left:
                url = f"{plane.url}/api/v1/namespaces/{desk.namespace}/pods{suffix}"
                async with session.request(method, url, json=body) as answer:
                    assert answer.status < 300, await answer.text()

        await asyncio.gather(*(call_until_done() for _ in range(AT_ONCE)))
    await asyncio.sleep(0.1)  # TLS connections end a few turns of the loop later


@pytest.fixture
def crowd(desk: Desk) -> Iterator[Callable[[], None]]:
    """Lets the strangers come; they leave with the test."""
    names = [f"stranger-{number}" for number in range(STRANGERS)]
    came: list[str] = []

    def come() -> None:
        came.extend(f"/{name}" for name in names)
        asyncio.run(for_each(desk, "POST", [""] * len(names), [a_stranger(name) for name in names]))

    yield come
    asyncio.run(for_each(desk, "DELETE", came, [{"gracePeriodSeconds": 0}] * len(came)))


def memory(operator: OperatorProcess) -> float:
    """Resident, in MiB."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{operator.pid}/status").read_text())
    assert found is not None
    return int(found[1]) / MIB


def finish(desk: Desk, name: str) -> None:
    desk.submit(a_job(name, worker=a_role(2, ends="succeeded")))
    desk.in_phase(name, "Completed", timeout=60)


def test_memory_does_not_grow_with_the_pods_of_strangers(
    desk: Desk, crowd: Callable[[], None], start_operator: StartOperator
) -> None:
    watching = f"--namespace={desk.namespace}"
    before = start_operator(watching)
    finish(desk, "before")
    alone = memory(before)
    crowd()
    finish(desk, "beside")
    grown = memory(before)
    before.kill()
    among = start_operator(watching)
    finish(desk, "among")
    started = memory(among)
    print(f"\nMiB without strangers {alone:.1f}, after {STRANGERS} came {grown:.1f}, started among them {started:.1f}")
    # All pods of the namespace, typed as ours, would be 15 MiB and more.
    assert grown - alone < 5
    assert started - alone < 5
