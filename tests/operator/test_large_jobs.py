"""Jobs of thousands of pods: they hold nobody up, and cost the memory that a Deployment may have."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest
import yaml

from paddlejob.core.steps import STEP
from tests.cluster.processes import free_ports
from tests.kube.fake_server import until
from tests.operator.conftest import StartInside
from tests.operator.fake_cluster import FakeCluster
from tests.operator.fixtures import MANIFEST
from tests.operator.large_life import live
from tests.operator.worlds import put_job
from tests.scenarios.desk import a_role

LONGEST_TURN = 0.1


def allowed_mib() -> float:
    (deployment,) = (one for one in yaml.safe_load_all(Path(MANIFEST).read_text()) if one["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    limit: str = container["resources"]["limits"]["memory"]
    return float(limit.removesuffix("Mi"))


@pytest.mark.large
@pytest.mark.parametrize("intranet", ["PodIP", "Service"])
async def test_ten_thousand_pods_never_hold_the_loop_up(intranet: str) -> None:
    life = await live(10_000, intranet)
    found = {one.name: one.longest_cpu for one in life.stretches}
    assert len(found) == 4
    assert max(found.values()) < LONGEST_TURN, found
    assert life.collection < LONGEST_TURN
    assert life.peak_mib < allowed_mib() / 2


async def test_a_job_of_several_steps_is_looked_at_again_as_soon_as_one_is_done(
    cluster: FakeCluster, start: StartInside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddlejob.operator.cache.PAUSE_PER_POD", 1000.0)  # no event wakes it
    pods = 2 * STEP + 5
    put_job(cluster, worker=a_role(pods), intranet="PodIP")
    await start()
    await until(lambda: cluster.count("pods") == pods, "all pods", seconds=60)
    assert len(cluster.asked("POST", "pods")) == pods


async def health(port: int) -> int:
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/healthz") as response:
        return response.status


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddlejob.operator.loop.LONGEST_SILENCE", timedelta(seconds=1))


@pytest.mark.usefixtures("impatient")
async def test_a_look_that_takes_long_because_of_many_calls_is_healthy(
    cluster: FakeCluster, start: StartInside
) -> None:
    cluster.slow_down("POST", "pods", 0.2, times=12)
    put_job(cluster, worker=a_role(12), intranet="PodIP")
    (port,) = free_ports(1)
    await start(concurrency=1, health_address=f"127.0.0.1:{port}")
    await until(lambda: bool(cluster.asked("POST", "pods")), "the first call")
    found = []
    while cluster.count("pods") < 12:
        await asyncio.sleep(0.05)
        found.append(await health(port))
    assert {*found} == {200}


@pytest.mark.usefixtures("impatient")
async def test_a_look_in_which_nothing_is_heard_any_more_is_not(cluster: FakeCluster, start: StartInside) -> None:
    cluster.slow_down("POST", "pods", 15, times=2)
    put_job(cluster)
    (port,) = free_ports(1)
    await start(health_address=f"127.0.0.1:{port}")
    await until(lambda: bool(cluster.asked("POST", "pods")), "the first call")
    answers = []
    while 503 not in answers:
        answers.append(await health(port))
        await asyncio.sleep(0.05)
    assert answers[0] == 200
