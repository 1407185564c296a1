"""Elastic jobs on this machine, with a real etcd and launchers that only meet: by the same rules as on a cluster."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from tests.cluster.waiting import wait_until
from tests.etcd.server import EtcdServer
from tests.local.workbench import Json, Workbench, a_role

LAUNCHER = Path(__file__).with_name("launcher.py")


def an_elastic_job(bench: Workbench, name: str = "learn", workers: int = 2) -> Path:
    role: Json = a_role(workers, sys.executable, str(LAUNCHER), env=[{"name": "FOLDER", "value": str(bench.folder)}])
    return bench.write(name, elastic=1, worker={**role, "requests": 2, "limits": 3})


def uids(bench: Workbench) -> dict[str, str]:
    return {pod.metadata.name: pod.metadata.uid for pod in bench.state("learn").pods}


def running(bench: Workbench, *names: str) -> None:
    """Until exactly these pods run."""

    def so() -> bool:
        pods = bench.state("learn").pods
        return sorted(pod.metadata.name for pod in pods) == sorted(names) and all(
            pod.state == "running" for pod in pods
        )

    wait_until(so)


def test_it_is_scaled_a_lone_exit_is_replaced_and_the_launchers_word_ends_it(
    bench: Workbench, etcd: EtcdServer
) -> None:
    started = bench.start("run", an_elastic_job(bench), f"--etcd-server={etcd.address}")
    bench.in_phase("learn", "Running")
    first = uids(bench)
    assert bench.paddlejob("scale", "learn", "3").returncode == 0
    running(bench, "learn-worker-0", "learn-worker-1", "learn-worker-2")
    bench.until("learn", lambda state: state.job.status.elastic == "DONE")
    assert first.items() <= uids(bench).items()
    assert bench.paddlejob("scale", "learn", "2").returncode == 0
    running(bench, "learn-worker-0", "learn-worker-1")
    assert uids(bench) == first
    (bench.folder / "alone").touch()
    wait_until(lambda: len(uids(bench)) == 2 and len(uids(bench).items() & first.items()) == 1)
    running(bench, "learn-worker-0", "learn-worker-1")
    assert len(etcd.keys()) > 1
    # Until the new launcher has met the other: its first word would take back the other's `completed`.
    logs = bench.state_root / "default" / "learn" / "logs"
    wait_until(lambda: any("nodes" in one.read_text() for one in logs.glob("*.1.log")))
    (bench.folder / "done").touch()
    said, _ = started.communicate(timeout=60)
    assert started.returncode == 0, said
    assert "learn: Completed: 2 of 2 workers succeeded" in said
    assert "[learn-worker-0] nodes 2:3" in said
    assert etcd.keys() == {}
    world = bench.state("learn").job.status.world
    assert world is not None
    assert (world.scalings, world.comebacks) == (2, 1)


def test_its_keys_are_gone_also_after_ctrl_c(bench: Workbench, etcd: EtcdServer) -> None:
    started = bench.start("run", an_elastic_job(bench), f"--etcd-server={etcd.address}")
    bench.in_phase("learn", "Running")
    wait_until(lambda: len(etcd.keys()) == 3)
    started.send_signal(signal.SIGINT)
    started.communicate(timeout=60)
    assert etcd.keys() == {}


def test_an_etcd_that_is_not_there_is_said_and_waited_for(bench: Workbench, etcd: EtcdServer) -> None:
    etcd.stop()
    bench.start("run", an_elastic_job(bench), f"--etcd-server={etcd.address}")
    state = bench.until("learn", lambda state: state.job.status.reason == "EtcdUnreachable")
    assert state.pods == ()
    etcd.start()
    bench.in_phase("learn", "Running")


def test_without_an_etcd_nothing_is_started(bench: Workbench) -> None:
    done = bench.paddlejob("run", an_elastic_job(bench))
    assert done.returncode == 2
    assert "an elastic job needs an etcd" in done.stderr
    done = bench.paddlejob("run", an_elastic_job(bench), "--etcd-server=etcd:2379")
    assert "must be given as ADDRESS:PORT" in done.stderr


def refused(bench: Workbench, name: str, replicas: int) -> str:
    done = bench.paddlejob("scale", name, str(replicas))
    assert done.returncode == 2
    return done.stderr


def test_what_cannot_be_scaled_says_why(bench: Workbench, etcd: EtcdServer) -> None:
    assert "there is no job learn on this machine" in refused(bench, "learn", 2)
    bench.start("run", an_elastic_job(bench), f"--etcd-server={etcd.address}")
    bench.in_phase("learn", "Running")
    for replicas in (1, 4):
        assert f"learn can have 2 to 3 workers (worker.requests and limits), not {replicas}" in refused(
            bench, "learn", replicas
        )
    (bench.folder / "done").touch()
    bench.ended("learn")
    assert "learn has ended" in refused(bench, "learn", 3)
    bench.paddlejob("run", bench.write("plain", worker=a_role(1, "true")))
    assert "plain is not elastic" in refused(bench, "plain", 2)
