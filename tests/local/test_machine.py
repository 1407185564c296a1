"""Pods of one name, one after the other: each has its own log and volumes, and the addresses do not run out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timezone
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from paddlejob.api import Job
from paddlejob.core import Create, Delete, Etcd, Service
from paddlejob.core.times import moment
from paddlejob.local.invocation import Surroundings
from paddlejob.local.logfiles import LogFile, log_files
from paddlejob.local.machine import Machine
from paddlejob.local.manifest import Manifest
from paddlejob.local.processes import Supervisor
from tests.cluster.waiting import eventually

NAME = "train-worker-0"
SCRIPT = "echo left: $(ls /scratch); touch /scratch/mine; chmod a-w /scratch; echo at $POD_IP; exec sleep 1000"


def a_pod() -> dict[str, Any]:
    ip = {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
    mount = {"name": "scratch", "mountPath": "/scratch"}
    container = {"name": "paddle", "command": ["sh", "-c", SCRIPT], "env": [ip], "volumeMounts": [mount]}
    spec = {"containers": [container], "volumes": [{"name": "scratch", "emptyDir": {}}]}
    return {"metadata": {"name": NAME}, "spec": spec}


@pytest.fixture
async def machine(tmp_path: Path) -> AsyncIterator[Machine]:
    supervisor = Supervisor.fork()
    made = Machine(
        Manifest(tmp_path / "job.yaml", Job()),
        Surroundings(tmp_path, {"PATH": "/usr/bin:/bin"}),
        (f"127.9.9.{number}" for number in count(1)),
        supervisor=supervisor,
        changed=lambda: None,
    )
    listening = asyncio.ensure_future(supervisor.listen(made.handle))
    yield made
    await supervisor.close()
    await listening
    made.close()


def says_where(log: Path) -> bool:
    return log.exists() and "at " in log.read_text()


async def test_every_life_has_its_own_log_fresh_volumes_and_one_of_two_addresses(
    machine: Machine, tmp_path: Path
) -> None:

    async def is_empty() -> bool:  # asked in the loop, where events change the answer
        machine.observe(Job(), Etcd())
        return not machine.pods

    for life in range(4):
        machine.do(Create("Pod", NAME, a_pod()))
        log = tmp_path / "logs" / LogFile(NAME, "paddle", life).name
        await eventually(partial(says_where, log))
        assert log.read_text() == f"left:\nat 127.9.9.{1 + life % 2}\n"
        machine.do(Delete("Pod", NAME, "of an earlier life"))
        assert not machine.pods[NAME].deleting
        machine.do(Delete("Pod", NAME, machine.pods[NAME].meta.uid))
        await eventually(is_empty)  # type: ignore[arg-type]  # mypy cannot choose between T and an awaitable of it
        assert list((tmp_path / "volumes").iterdir()) == []
    assert [one.life for one in log_files(tmp_path / "logs")] == [0, 1, 2, 3]


async def test_a_pod_that_is_deleted_says_when_its_grace_period_is_over(machine: Machine) -> None:
    """As on a cluster: a pod of an earlier attempt is not called stuck while it may still end by itself."""
    body = a_pod()
    body["spec"]["terminationGracePeriodSeconds"] = 300
    machine.do(Create("Pod", NAME, body))
    before = datetime.now(timezone.utc)
    machine.do(Delete("Pod", NAME, machine.pods[NAME].meta.uid))
    said = moment(machine.pods[NAME].snapshot().metadata.deletion_timestamp or "")
    assert 299 <= (said - before).total_seconds() <= 330


async def test_what_is_no_pod_is_kept_until_it_is_deleted(machine: Machine) -> None:
    machine.do(Create("Service", NAME, {"metadata": {"name": NAME}}))
    machine.do(Delete("Service", NAME, "of an earlier one"))
    (kept,) = machine.kept
    assert (type(kept), kept.metadata.name) == (Service, NAME)
    machine.do(Delete("Service", NAME, kept.metadata.uid))
    assert machine.kept == ()


def test_log_files_stand_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    lives = [LogFile("a-worker-0", "paddle", life) for life in (0, 1, 2, 10)]
    wanted = [LogFile("a-worker-0", "data", 0), *lives, LogFile("a-worker-1", "paddle", 0)]
    for one in reversed(wanted):
        (tmp_path / one.name).touch()
    (tmp_path / "somebody.elses.own.log").touch()
    (tmp_path / "a-worker-0.paddle.x.log").touch()
    assert log_files(tmp_path) == wanted
    assert [one.name for one in lives[:2]] == ["a-worker-0.paddle.log", "a-worker-0.paddle.1.log"]
