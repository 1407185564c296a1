"""Restarts, deadlines and expiry on this machine, told one by one: somebody interferes at a bad moment."""

from __future__ import annotations

import os
import signal
import time
from datetime import datetime, timezone

import pytest

from paddlejob.core.times import moment
from paddlejob.local.state import State
from paddlejob.local.supervisor.proc import is_alive
from tests.cluster.waiting import wait_until
from tests.local.lives import FINE, PATIENCE, RUNS, STUBBORN, Life, Player
from tests.local.test_no_orphans import survivors
from tests.local.workbench import Workbench, a_role

pytestmark = pytest.mark.timeout(300)


def restarting(bench: Workbench, name: str, does: str) -> State:
    """A job in the middle of a restart: worker-0 has failed, worker-1 does what is said."""
    player = Player(bench)
    fails = "while [ ! -e $here/stubborn ]; do sleep 0.1; done; exit 3" if does == STUBBORN else "exit 3"
    row = Life({"worker-0": (fails,), "worker-1": (does,)}, "", {"backoffLimit": 1})
    player.start(name, row)
    player.go(name, row)
    return bench.in_phase(name, "Restarting", timeout=PATIENCE)


def test_a_job_that_is_deleted_between_two_attempts_leaves_nothing(bench: Workbench) -> None:
    state = restarting(bench, "unwanted", RUNS)
    os.kill(state.pid, signal.SIGSTOP)  # the pause is over in ten seconds, however long it takes to look
    assert "starts again" in bench.paddlejob("describe", "unwanted").stdout
    os.kill(state.pid, signal.SIGCONT)
    assert bench.paddlejob("delete", "unwanted").stdout == "unwanted deleted\n"
    assert not is_alive(state.pid, state.start_time)
    assert not list(bench.state_root.glob("default/*"))
    assert survivors(bench.state_root) == []


def test_a_runner_that_is_killed_while_the_old_attempt_still_ends_leaves_no_process(bench: Workbench) -> None:
    state = restarting(bench, "abandoned", STUBBORN)
    assert survivors(bench.state_root) != []
    os.kill(state.pid, signal.SIGKILL)
    wait_until(lambda: not survivors(bench.state_root), timeout=PATIENCE)
    assert "Lost" in bench.paddlejob("list").stdout
    assert bench.paddlejob("delete", "abandoned").returncode == 0


def test_work_that_is_done_when_the_deadline_is_noticed_is_done(bench: Workbench) -> None:
    player, row = Player(bench), Life({"worker-0": FINE, "worker-1": FINE}, "", {"activeDeadlineSeconds": 10})
    runner = player.start("in-time", row)
    state = bench.in_phase("in-time", "Running", timeout=PATIENCE)
    runner.send_signal(signal.SIGSTOP)  # a laptop that sleeps through both
    player.go("in-time", row)
    wait_until(lambda: not bench.processes(state), timeout=PATIENCE)
    begun = moment(state.job.status.start_time or "")
    wait_until(lambda: (datetime.now(timezone.utc) - begun).total_seconds() > 11, timeout=PATIENCE)
    runner.send_signal(signal.SIGCONT)
    assert bench.ended("in-time", timeout=PATIENCE).job.status.phase == "Completed"


def test_a_job_without_time_to_live_ends_in_order_and_is_gone_at_once(bench: Workbench) -> None:
    polite = bench.folder / "polite"
    server = f"trap 'touch {polite}; exit 0' TERM; touch {polite}.ready; while :; do sleep 0.1; done"
    path = bench.write(
        "brief",
        ps=a_role(1, "sh", "-c", server),
        worker=a_role(1, "sh", "-c", f"while [ ! -e {polite}.ready ]; do sleep 0.1; done; echo last words"),
        ttlSecondsAfterFinished=0,
    )
    done = bench.paddlejob("run", path, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[brief-worker-0] last words" in done.stdout
    assert "its logs are gone" in done.stdout
    assert polite.exists()
    assert "no jobs on this machine" in bench.paddlejob("list").stdout
    assert survivors(bench.state_root) == []


def test_who_waits_for_a_job_without_time_to_live_sees_its_end(bench: Workbench) -> None:
    go = bench.folder / "go"
    worker = a_role(1, "sh", "-c", f"while [ ! -e {go} ]; do sleep 0.1; done")
    path = bench.write("brief", worker=worker, ttlSecondsAfterFinished=0)
    waiting = bench.start("submit", "--local", "--wait", path)
    bench.in_phase("brief", "Running", timeout=PATIENCE)
    go.touch()
    assert waiting.wait(PATIENCE) == 0
    assert waiting.stdout is not None
    assert waiting.stdout.read().splitlines()[-1] == "brief: Completed: 1 of 1 workers succeeded"
    assert survivors(bench.state_root) == []


def test_an_expired_job_is_gone_when_somebody_looks(bench: Workbench) -> None:
    path = bench.write("expiring", worker=a_role(1, "sh", "-c", "exit 5"), ttlSecondsAfterFinished=8)
    assert bench.paddlejob("run", "--detach", path).returncode == 0
    folder = bench.state_root / "default" / "expiring"
    assert bench.paddlejob("wait", "expiring", timeout=PATIENCE).stdout.startswith("expiring: Failed")
    ended = moment(bench.state("expiring").job.status.completion_time or "").timestamp()
    assert folder.exists()
    wait_until(lambda: "no jobs on this machine" in bench.paddlejob("list").stdout, timeout=PATIENCE)
    assert time.time() >= ended + 8
    assert not folder.exists()
