"""Restarts, deadlines and expiry on this machine: a table of lives, all played at once, so that waiting costs once.

Each pod says in its log which life it is in and at which address, waits for a sign that the job runs, and then does
what the row says.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import IO

import pytest

from paddlejob.core.times import moment
from paddlejob.local.proc import is_alive, marked
from paddlejob.local.state import State
from tests.cluster.waiting import wait_until
from tests.local.test_no_orphans import survivors
from tests.local.workbench import Json, Workbench, a_role

pytestmark = pytest.mark.timeout(300)

PATIENCE = 120.0
RUNS = "exec sleep 1000"
STUBBORN = "trap '' TERM; touch $here/stubborn; while :; do sleep 1000; done"


@dataclass(frozen=True)
class Life:
    """`does`: by pod, what its first life does, its second, and so on; the last stands for all after it. Others run on.

    `meet ps-0` waits until that pod is as far. `killed`: a pod whose process somebody kills.
    `lives`: how many pods of each name there were, if not one.
    """

    does: dict[str, tuple[str, ...]]
    end: str
    ask: Json = field(default_factory=dict)
    servers: int = 0
    workers: int = 2
    restarts: int = 0
    failure: tuple[str, int] | None = None
    reason: str = ""
    lives: dict[str, int] = field(default_factory=dict)
    killed: str = ""
    prepares: str = ""

    @property
    def pods(self) -> list[str]:
        return [f"ps-{i}" for i in range(self.servers)] + [f"worker-{i}" for i in range(self.workers)]


FINE, FAILS_ONCE = ("exit 0",), ("exit 3", "exit 0")
TABLE = {
    "failed-once": Life(
        {"worker-0": FAILS_ONCE, "worker-1": (RUNS, "exit 0")},
        "Completed",
        {"backoffLimit": 1},
        restarts=1,
        lives={"worker-0": 2, "worker-1": 2},
    ),
    "failed-too-often": Life(
        {"worker-1": ("exit 4", "meet ps-0 worker-0; exit 4")},
        "Failed",
        {"backoffLimit": 1},
        servers=1,
        restarts=1,
        failure=("worker-1", 4),
        lives={"ps-0": 2, "worker-0": 2, "worker-1": 2},
    ),
    "a-server-fails": Life(
        {"ps-0": ("exit 3", RUNS), "worker-0": (RUNS, "meet ps-0; exit 0")},
        "Completed",
        {"backoffLimit": 1, "withGloo": 0},
        servers=1,
        workers=1,
        restarts=1,
        lives={"ps-0": 2, "worker-0": 2},
    ),
    "replaced-alone": Life(
        {"worker-0": FAILS_ONCE, "worker-1": ("while [ $(life worker-0) -lt 2 ]; do sleep 0.1; done; exit 0",)},
        "Completed",
        {"backoffLimit": 1, "withGloo": 0},
        servers=1,
        restarts=1,
        lives={"worker-0": 2},
    ),
    "both-at-once": Life(
        {"worker-0": FAILS_ONCE, "worker-1": FAILS_ONCE},
        "Completed",
        {"backoffLimit": 1},
        restarts=1,
        lives={"worker-0": 2, "worker-1": 2},
    ),
    "both-replaced": Life(
        {"worker-0": FAILS_ONCE, "worker-1": FAILS_ONCE},
        "Completed",
        {"backoffLimit": 2, "withGloo": 0},
        servers=1,
        restarts=2,
        lives={"worker-0": 2, "worker-1": 2},
    ),
    "killed": Life({"worker-1": FINE}, "Failed", failure=("worker-0", 137), killed="worker-0"),
    "killed-and-forgiven": Life(
        {"worker-0": (RUNS, "exit 0"), "worker-1": (RUNS, "exit 0")},
        "Completed",
        {"backoffLimit": 1},
        restarts=1,
        lives={"worker-0": 2, "worker-1": 2},
        killed="worker-0",
    ),
    "too-long": Life({}, "Failed", {"activeDeadlineSeconds": 20}, servers=1, reason="DeadlineExceeded"),
    "never-ready": Life(
        {},
        "Failed",
        {"startingDeadlineSeconds": 3},
        workers=1,
        reason="StartingDeadlineExceeded",
        lives={"worker-0": 0},
        prepares=RUNS,
    ),
    "too-long-in-a-restart": Life(
        {"worker-0": ("exit 3",)},
        "Failed",
        {"backoffLimit": 9, "activeDeadlineSeconds": 28},
        workers=1,
        reason="DeadlineExceeded",
        restarts=2,
        lives={"worker-0": 2},
    ),
}


ROWS_WITH_A_SIGN = {name: row for name, row in TABLE.items() if not row.reason}


class Player:
    """Plays rows: writes their files, gives the sign, kills whom the row says, and knows who lived how often."""

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench

    def folder(self, name: str) -> Path:
        return self.bench.folder / f"{name}.lives"

    def play(self) -> dict[str, str]:
        """All rows to their ends. What `logs -f` showed of each job whose sign we give, from its first life on."""
        for name, row in TABLE.items():
            self.start(name, row)
        following = {}
        for name in ROWS_WITH_A_SIGN:
            self.bench.in_phase(name, "Running", timeout=PATIENCE)
            following[name] = output(self.bench.start("logs", "-f", name))
        told = {name: one.readline() for name, one in following.items()}
        for name, row in ROWS_WITH_A_SIGN.items():
            self.go(name, row)
        for name in TABLE:
            self.bench.ended(name, timeout=PATIENCE)
        return {name: told[name] + one.read() for name, one in following.items()}

    def start(self, name: str, row: Life) -> subprocess.Popen[str]:
        folder = self.folder(name)
        folder.mkdir()
        if row.reason:
            (folder / "go").touch()  # a deadline does not wait for us
        worker = self._role(row, "worker", row.workers, folder)
        if row.prepares:
            container = {"name": "prepare", "image": "a", "command": ["sh", "-c", row.prepares]}
            worker["template"]["spec"]["initContainers"] = [container]
        spec = {"worker": worker, **row.ask}
        if row.servers:
            spec["ps"] = self._role(row, "ps", row.servers, folder)
        return self.bench.start("run", self.bench.write(name, **spec))

    def _role(self, row: Life, role: str, replicas: int, folder: Path) -> Json:
        cases = []
        for pod, lives in row.does.items():
            if pod.startswith(f"{role}-"):
                cases += [f"{pod}.{number}) {does};;" for number, does in enumerate(lives, 1)]
                cases.append(f"{pod}.*) {lives[-1]};;")
        script = [
            f"here={folder}",
            "life() { cat $here/$1 2>/dev/null | wc -l; }",
            f"me={role}-$PADDLE_TRAINER_ID",
            "mine=$(( $(life $me) + 1 ))",
            "echo life $mine at $POD_IP",
            "date +%s.%N >> $here/$me",
            "meet() { for one in $*; do while [ $(life $one) -lt $mine ]; do sleep 0.1; done; done; }",
            "while [ ! -e $here/go ]; do sleep 0.1; done",
            f"case $me.$mine in {' '.join(cases)} *) {RUNS};; esac",
        ]
        return a_role(replicas, "sh", "-c", "; ".join(script))

    def go(self, name: str, row: Life) -> None:
        state = self.bench.in_phase(name, "Running", timeout=PATIENCE)
        wait_until(lambda: all(self.births(name, pod) for pod in row.pods), timeout=PATIENCE)
        (self.folder(name) / "go").touch()
        if row.killed:
            (pod,) = (one for one in state.pods if one.metadata.name == f"{name}-{row.killed}")
            os.kill(wait_until(lambda: main_process(f"{pod.metadata.uid}/paddle")), signal.SIGKILL)

    def births(self, name: str, pod: str) -> list[float]:
        marks = self.folder(name) / pod
        return [float(line) for line in marks.read_text().split()] if marks.exists() else []


def output(process: subprocess.Popen[str]) -> IO[str]:
    assert process.stdout is not None
    return process.stdout


def main_process(container: str) -> int:
    """The one that leads the container's session, 0 if none is seen now; its `sleep`s come and go."""
    for pid in marked(f"PADDLEJOB_CONTAINER={container}"):
        with contextlib.suppress(ProcessLookupError):
            if os.getsid(pid) == pid:
                return pid
    return 0


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
    assert "no local jobs" in bench.paddlejob("list").stdout
    assert survivors(bench.state_root) == []


def test_an_expired_job_is_gone_when_somebody_looks(bench: Workbench) -> None:
    path = bench.write("expiring", worker=a_role(1, "sh", "-c", "exit 5"), ttlSecondsAfterFinished=8)
    assert bench.paddlejob("run", "--detach", path).returncode == 0
    folder = bench.state_root / "default" / "expiring"
    assert bench.paddlejob("wait", "expiring", timeout=PATIENCE).stdout.startswith("expiring: Failed")
    ended = moment(bench.state("expiring").job.status.completion_time or "").timestamp()
    assert folder.exists()
    wait_until(lambda: "no local jobs" in bench.paddlejob("list").stdout, timeout=PATIENCE)
    assert time.time() >= ended + 8
    assert not folder.exists()
