"""`paddlejob usage` for jobs of this machine: from their own states, also after their runner has gone."""

from __future__ import annotations

import json
import signal
from typing import Any

from paddlejob.core.times import moment
from tests.cluster.waiting import wait_until
from tests.local.workbench import Workbench, a_role

SLEEP = ("sleep", "1000")


def used(bench: Workbench, *args: str) -> Any:
    done = bench.paddlejob("usage", *args, "--local", "-o", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_job_that_has_completed_has_used_its_time_to_the_second(bench: Workbench) -> None:
    assert bench.paddlejob("run", bench.write("two", worker=a_role(2, "sleep", "2"))).returncode == 0
    (one,) = used(bench)
    status = bench.state("two").job.status
    took = moment(status.completion_time or "") - moment(status.start_time or "")
    assert (one["of"], one["lost"], one["total"]) == ("pods", 0, 2 * took.total_seconds())
    assert one["training"] >= 2
    table = bench.paddlejob("usage", "two").stdout.split()
    assert table[:8] == ["NAME", "OF", "WAITING", "STARTING", "TRAINING", "LOST", "TOTAL", "two"]


def test_what_a_failed_attempt_trained_is_lost(bench: Workbench) -> None:
    assert bench.paddlejob("run", bench.write("bad", worker=a_role(1, "sh", "-c", "sleep 2; exit 1"))).returncode == 1
    (one,) = used(bench, "bad")
    assert one["training"] == 0
    assert one["lost"] >= 1


def test_a_job_uses_more_while_it_runs_and_no_more_when_it_is_stopped(bench: Workbench) -> None:
    runner = bench.start("run", bench.write("long", worker=a_role(3, *SLEEP)), quiet=True)
    bench.in_phase("long", "Running")
    wait_until(lambda: used(bench, "long")[0]["training"] >= 3)
    runner.send_signal(signal.SIGINT)
    runner.wait(timeout=60)
    state = bench.ended("long")
    assert state.job.status.usage is not None
    assert state.job.status.usage.state is None
    (one,) = used(bench, "long")
    assert one["training"] == state.job.status.usage.training >= 3
