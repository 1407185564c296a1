"""Thousands of pods that are none of the operator's business cost it nothing: it watches only what has our label."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import aiohttp
import pytest

from tests.cluster.waiting import wait_until
from tests.operator.fixtures import StartOperator
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import IMAGE, Desk, Json, a_job, a_role

STRANGERS = 5000
AT_ONCE = 32
# The API server deletes a collection one by one: it is told part by part, all at once.
PARTS = 8
MIB = 1024


def a_stranger(number: int) -> Json:
    """Nobody places it, so that it costs the test cluster little; its size is that of an ordinary pod."""
    environment = [{"name": f"VARIABLE_{index}", "value": "x" * 40} for index in range(20)]
    return {
        "metadata": {"generateName": "stranger-", "labels": {"of": "strangers", "part": str(number % PARTS)}},
        "spec": {
            "schedulerName": "nobody",
            "containers": [{"name": "main", "image": IMAGE, "env": environment}],
        },
    }


async def fill(desk: Desk, count: int) -> None:
    plane = desk.control_plane
    context = ssl.create_default_context(cafile=str(plane.layout.authority))
    left = iter(range(count))
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=AT_ONCE, ssl=context),
        headers={"Authorization": f"Bearer {plane.admin_token}"},
    ) as session:

        async def post_until_done() -> None:
            for number in left:
                url = f"{plane.url}/api/v1/namespaces/{desk.namespace}/pods"
                async with session.post(url, json=a_stranger(number)) as answer:
                    assert answer.status == 201, await answer.text()

        await asyncio.gather(*(post_until_done() for _ in range(AT_ONCE)))
    await asyncio.sleep(0.1)  # TLS connections end a few turns of the loop later


@pytest.fixture
def crowded(desk: Desk) -> Iterator[Desk]:
    yield desk

    def remove(part: int) -> None:
        path = f"/api/v1/namespaces/{desk.namespace}/pods?labelSelector=of%3Dstrangers,part%3D{part}"
        desk.api.call("DELETE", path, {"gracePeriodSeconds": 0})

    with ThreadPoolExecutor(PARTS) as threads:
        list(threads.map(remove, range(PARTS)))
    wait_until(lambda: not any(name.startswith("stranger-") for name in desk.pods()), timeout=60)


def memory(operator: OperatorProcess) -> float:
    """Resident, in MiB."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{operator.pid}/status").read_text())
    assert found is not None
    return int(found[1]) / MIB


def finish(desk: Desk, name: str) -> None:
    desk.submit(a_job(name, worker=a_role(2, ends="succeeded")))
    desk.in_phase(name, "Completed", timeout=60)


def test_memory_does_not_grow_with_the_pods_of_strangers(crowded: Desk, start_operator: StartOperator) -> None:
    watching = f"--namespace={crowded.namespace}"
    before = start_operator(watching)
    finish(crowded, "before")
    alone = memory(before)
    asyncio.run(fill(crowded, STRANGERS))
    finish(crowded, "beside")
    grown = memory(before)
    before.kill()
    among = start_operator(watching)
    finish(crowded, "among")
    started = memory(among)
    print(f"\nMiB without strangers {alone:.1f}, after {STRANGERS} came {grown:.1f}, started among them {started:.1f}")
    # All pods of the namespace, typed as ours, would be 15 MiB and more.
    assert grown - alone < 5
    assert started - alone < 5
