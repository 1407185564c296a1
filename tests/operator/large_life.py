"""The whole life of a large job in a fake cluster: created, running, taken over by another operator, ended, cleaned up.

The fake cluster answers at once and its pods do what they are told, so what takes time is the operator.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise

import msgspec

from tests.kube.fake_server import until
from tests.operator.fake_cluster import FakeCluster, Json, a_cluster
from tests.operator.watched import Seen, Turn
from tests.operator.worlds import put_job, status
from tests.scenarios.desk import a_role

LONG = 280.0
RUNNING = {"phase": "Running", "containerStatuses": [{"name": "paddle", "state": {"running": {}}}]}
SUCCEEDED = {
    "phase": "Succeeded",
    "containerStatuses": [{"name": "paddle", "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}],
}


class Stretch(msgspec.Struct, frozen=True):
    """A part of the job's life: how long it took, and the loop's turns during it."""

    name: str
    seconds: float
    turns: list[Turn]

    @property
    def longest_cpu(self) -> float:
        return max((turn.cpu for turn in self.turns), default=0.0)

    @property
    def longest_wall(self) -> float:
        return max((turn.wall for turn in self.turns), default=0.0)


class LargeLife(msgspec.Struct, frozen=True):
    stretches: list[Stretch]
    collection: float
    cpu: float
    peak_mib: float


async def live(pods: int, intranet: str) -> LargeLife:
    ends = [("start", time.monotonic())]

    def ended(stretch: str) -> None:
        ends.append((stretch, time.monotonic()))

    async with a_cluster() as cluster:
        async with _operator(cluster) as first:
            await _until_it_runs(cluster, pods, intranet, ended)
        async with _operator(cluster) as second:
            await _until_it_is_gone(cluster, ended)
    seen = [*first, *second]
    return LargeLife(
        stretches=_stretches(ends, [turn for one in seen for turn in one.turns]),
        collection=max(one.collection for one in seen),
        cpu=sum(one.cpu for one in seen),
        peak_mib=max(one.peak_mib for one in seen),
    )


@asynccontextmanager
async def _operator(cluster: FakeCluster) -> AsyncIterator[list[Seen]]:
    """What it saw is in the list when it has ended."""
    seen: list[Seen] = []
    watches = len(cluster.asked("WATCH", "pods"))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.operator.watched", cluster.url),
        env={**os.environ, "NO_PROXY": "*"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await until(lambda: len(cluster.asked("WATCH", "pods")) > watches, "the operator watches", seconds=LONG)
        yield seen
    finally:
        process.terminate()
        out, _ = await process.communicate()
        seen.append(msgspec.json.decode(out.splitlines()[-1], type=Seen))


async def _until_it_runs(cluster: FakeCluster, pods: int, intranet: str, ended: Callable[[str], None]) -> None:
    put_job(cluster, worker=a_role(pods), intranet=intranet, cleanPodPolicy="Always")
    await until(lambda: cluster.count("pods") == pods, "all pods", seconds=LONG)
    ended("created")
    await _push(
        cluster, lambda index: {"phase": "Pending", "podIP": f"10.{index >> 16}.{index >> 8 & 255}.{index & 255}"}
    )
    await until(lambda: bool(cluster.names("configmaps")), "the environment", seconds=LONG)
    await _push(cluster, lambda _: RUNNING)
    await until(lambda: status(cluster).get("phase") == "Running", "Running", seconds=LONG)
    ended("running")


async def _until_it_is_gone(cluster: FakeCluster, ended: Callable[[str], None]) -> None:
    """Another operator takes over, and finds all those pods."""
    await _push(cluster, lambda _: SUCCEEDED)
    await until(lambda: status(cluster).get("phase") == "Completed", "Completed", seconds=LONG)
    ended("completed")
    await until(lambda: not cluster.count("pods") and not cluster.count("services"), "all gone", seconds=LONG)
    ended("cleaned up")


async def _push(cluster: FakeCluster, state: Callable[[int], Json]) -> None:
    for index, name in enumerate(cluster.names("pods")):
        cluster.change("pods", name, {"spec": {"nodeName": "node"}, "status": state(index)})
        await asyncio.sleep(0)  # the operator is served meanwhile


def _stretches(ends: list[tuple[str, float]], turns: list[Turn]) -> list[Stretch]:
    found = []
    for (_, begin), (name, end) in pairwise(ends):
        found.append(Stretch(name, end - begin, [turn for turn in turns if begin < turn.at <= end]))
    return found
