"""The operator as a whole: when it acts, what it says of itself, and that it leaves in order."""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import datetime, timezone
from pathlib import Path

import aiohttp
import pytest
import yaml

from tests.cluster.processes import free_ports
from tests.kube.fake_server import refuses, until
from tests.operator.conftest import StartInside
from tests.operator.fake_cluster import NAMESPACE, FakeCluster
from tests.operator.worlds import put_job, status
from tests.scenarios.desk import a_role

LEASE = "paddle-operator"


async def text(port: int, path: str) -> str:
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}{path}") as response:
        return await response.text()


async def test_it_is_ready_when_it_has_read_everything(cluster: FakeCluster, start: StartInside) -> None:
    cluster.fail("WATCH", "services", refuses(503, "ServiceUnavailable", "not now"))
    put_job(cluster)
    health, metrics = free_ports(2)
    await start(health_address=f"127.0.0.1:{health}", metrics_address=f"127.0.0.1:{metrics}")
    await until(lambda: len(cluster.names("pods")) == 2, "the pods, though a watch was refused at first")
    assert await text(health, "/readyz") == await text(health, "/healthz") == "ok\n"
    await until(lambda: bool(status(cluster).get("phase")), "the status")
    said = await text(metrics, "/metrics")
    assert 'paddlejob_jobs{phase="Pending"} 1.0' in said
    assert 'paddlejob_api_calls_total{code="201",resource="pods",verb="create"} 2.0' in said
    assert "paddlejob_leader 1.0" in said


async def test_a_job_that_nobody_can_read_is_counted_and_the_others_go_on(
    cluster: FakeCluster, start: StartInside
) -> None:
    put_job(cluster, "odd", worker=7)
    put_job(cluster, "good")
    _, metrics = free_ports(2)
    await start(metrics_address=f"127.0.0.1:{metrics}")
    await until(lambda: "good-worker-1" in cluster.names("pods"), "the pods")
    assert "paddlejob_unreadable_objects_total 1.0" in await text(metrics, "/metrics")


async def test_only_its_own_namespaces_are_watched(cluster: FakeCluster, start: StartInside) -> None:
    await start(namespaces=("one", "two"))
    await until(lambda: len(cluster.asked("WATCH", "paddlejobs")) == 2, "two watches of jobs")
    await until(lambda: len(cluster.asked("WATCH", "pods")) == 2, "two watches of pods")


async def test_the_lease_is_taken_and_given_back(cluster: FakeCluster, start: StartInside) -> None:
    put_job(cluster)
    running = await start(leader_elect=True)
    await until(lambda: len(cluster.names("pods")) == 2, "the pods")
    assert cluster.get("leases", LEASE)["spec"]["holderIdentity"]
    assert len(cluster.asked("WATCH", "pods")) == 1  # not before the lease and again after it
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert not cluster.get("leases", LEASE)["spec"].get("holderIdentity")


async def test_whoever_does_not_have_the_lease_looks_on(cluster: FakeCluster, start: StartInside) -> None:
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    held = {"holderIdentity": "another", "leaseDurationSeconds": 15, "renewTime": now, "acquireTime": now}
    lease = cluster.put("leases", {"metadata": {"name": LEASE}, "spec": held})
    put_job(cluster)
    health, metrics = free_ports(2)
    await start(leader_elect=True, health_address=f"127.0.0.1:{health}", metrics_address=f"127.0.0.1:{metrics}")
    await until(lambda: bool(cluster.asked("GET", "leases")), "it has asked for the lease")
    await until(lambda: bool(cluster.asked("WATCH", "configmaps")), "its caches fill meanwhile")
    assert "paddlejob_leader 0.0" in await text(metrics, "/metrics")
    assert {one.method for one in cluster.calls} <= {"GET", "WATCH"}
    cluster.change("leases", LEASE, {"spec": {**lease["spec"], "holderIdentity": None}})
    await until(lambda: len(cluster.names("pods")) == 2, "it acts as soon as the lease is free")
    assert len(cluster.asked("WATCH", "pods")) == 2  # what was read before may be out of date


FORBIDDEN = refuses(403, "Forbidden", 'leases "paddle-operator" is forbidden: User cannot do that')


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_lease_that_it_may_not_touch_is_told_and_it_is_not_ready(
    cluster: FakeCluster, start: StartInside, capsys: pytest.CaptureFixture[str], method: str
) -> None:
    put_job(cluster)
    cluster.fail(method, "leases", FORBIDDEN, times=100)
    (port,) = free_ports(1)
    await start(leader_elect=True, health_address=f"127.0.0.1:{port}")
    await until(lambda: len(cluster.asked(method, "leases")) >= 2, "it has asked for the lease twice")
    assert "User cannot do that" in await text(port, "/readyz")
    assert await text(port, "/healthz") == "ok\n"
    said = [line for line in capsys.readouterr().out.splitlines() if "lease" in line]
    assert [("warning" in line, "User cannot do that" in line) for line in said] == [(True, True)]
    cluster.allow_all()
    await until(lambda: len(cluster.names("pods")) == 2, "it leads after all")
    assert await text(port, "/readyz") == "ok\n"


async def test_a_signal_ends_it_in_order(cluster: FakeCluster, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    contexts = [{"name": "here", "context": {"cluster": "here", "user": "me", "namespace": NAMESPACE}}]
    clusters, users = [{"name": "here", "cluster": {"server": cluster.url}}], [{"name": "me", "user": {}}]
    kubeconfig.write_text(
        yaml.safe_dump({"clusters": clusters, "contexts": contexts, "users": users, "current-context": "here"})
    )
    put_job(cluster, worker=a_role(1))
    flags = ("--leader-elect", "--metrics-bind-address=0", "--health-probe-bind-address=0", "--scheduling=none")
    command = (sys.executable, "-m", "paddlejob", "operator", f"--kubeconfig={kubeconfig}", *flags)
    process = await asyncio.create_subprocess_exec(
        *command, env={**os.environ, "NO_PROXY": "*"}, stderr=asyncio.subprocess.STDOUT, stdout=asyncio.subprocess.PIPE
    )
    try:
        await until(lambda: cluster.names("pods") == ["train-worker-0"], "the pod", seconds=60)
        process.terminate()
        out, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, out
    assert all(words in out for words in (b"started", b"leading", b"stopped")), out
    assert not cluster.get("leases", LEASE)["spec"].get("holderIdentity")
