"""A table of lives on this machine, and who plays them all at once, so that waiting costs once.

Each pod says in its log which life it is in and at which address, waits for a sign that the job runs, and then does
what the row says.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from paddlejob.local.supervisor.proc import marked
from tests.cluster.waiting import wait_until
from tests.local.workbench import Json, Workbench, a_role

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
