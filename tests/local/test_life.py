"""Restarts, deadlines and expiry on this machine: every life of the table, and some that are told one by one."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from datetime import datetime, timezone

import pytest

from paddlejob.core.times import moment
from paddlejob.local.state import State
from paddlejob.local.supervisor.proc import is_alive
from tests.cluster.waiting import wait_until
from tests.local.lives import FINE, PATIENCE, ROWS_WITH_A_SIGN, RUNS, STUBBORN, TABLE, Life, Player
from tests.local.test_no_orphans import survivors
from tests.local.workbench import Workbench, a_role

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Player, dict[str, str]]]:
    """Every row is over; with it, what followers of the logs saw."""
    bench = Workbench(tmp_path_factory.mktemp("lives"))
    try:
        player = Player(bench)
        yield player, player.play()
    finally:
        bench.close()


Played = tuple[Player, dict[str, str]]


@pytest.mark.parametrize("name", TABLE)
def test_a_life_goes_as_the_table_says(played: Played, name: str) -> None:
    (player, _), row = played, TABLE[name]
    state = player.bench.state(name)
    status = state.job.status
    assert (status.phase, status.restarts) == (row.end, row.restarts), status
    assert row.reason in ("", status.reason)
    if row.failure:
        assert status.failure is not None
        assert (status.failure.pod, status.failure.exit_code) == (f"{name}-{row.failure[0]}", row.failure[1])
        # No shell says a word when it is killed: these are the lines of the pod that failed last, and of no other.
        assert [line.split(" at ")[0] for line in status.failure.message.splitlines()] == [f"life {row.restarts + 1}"]
    if row.end == "Completed":
        assert status.failure is None
    assert {pod: len(player.births(name, pod)) for pod in row.pods} == {pod: row.lives.get(pod, 1) for pod in row.pods}
    assert player.bench.processes(state) == []


@pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row.restarts and row.end == "Completed"])
def test_a_restart_waits_ten_seconds_and_has_another_address(played: Played, name: str) -> None:
    (player, _), row = played, TABLE[name]
    logs = player.bench.state_root / "default" / name / "logs"
    for pod, lives in row.lives.items():
        first, second = player.births(name, pod)
        assert (lives, second - first > 9.0) == (2, True)  # the 10 s are counted in whole seconds
        before, after = ((logs / f"{name}-{pod}.paddle{number}.log").read_text().splitlines() for number in ("", ".1"))
        assert (before[0].split(" at ")[0], after[0].split(" at ")[0]) == ("life 1", "life 2")
        assert before[0].split(" at ")[1] != after[0].split(" at ")[1]


@pytest.mark.parametrize("name", [name for name, row in ROWS_WITH_A_SIGN.items() if row.lives.get("worker-0") == 2])
def test_who_follows_the_logs_sees_every_life_once_and_in_order(played: Played, name: str) -> None:
    player, told = played
    workers = TABLE[name].workers
    for pod in (f"worker-{i}" for i in range(workers)):
        lines = [line.split(" at ")[0] for line in told[name].splitlines() if line.startswith(f"[{name}-{pod}] life")]
        lives = len(player.births(name, pod))
        assert lines == [f"[{name}-{pod}] life {number}" for number in range(1, lives + 1)]
    shown = player.bench.paddlejob("logs", name, "--index", "0").stdout.splitlines()
    assert [line.split(" at ")[0] for line in shown] == [f"[{name}-worker-0] life 2"]


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
    assert "starts again" in bench.paddlejob("describe", "unwanted").stdout
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
    assert "its logs are removed" in done.stdout
    assert polite.exists()
    assert "no jobs on this machine" in bench.paddlejob("list").stdout
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
