"""Real PaddlePaddle is stopped in the midst of its work (SIGSTOP): the job says so, names the worker, and is none the
worse for it, be it that the worker is let go on or that the job starts over.

Without an accelerator a collective waits for 30 seconds for its peers (Gloo), and then fails by itself: the watch is
faster, if no step before took longer than a third of that.

Nothing here depends on how fast the machine is. A step is a second of waiting and next to no work; whatever takes long
beside the steps says so meanwhile; and worker 1 is stopped by what it has told, never by the clock.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import msgspec
import pytest

from paddlejob.core.times import moment
from paddlejob.local.state import State
from paddlejob.local.supervisor.proc import CONTAINER_MARK, marked
from tests.cluster.waiting import wait_until
from tests.local.workbench import Workbench, a_role
from tests.training.reports import Report, reports

pytestmark = [pytest.mark.timeout(6000), pytest.mark.paddle]

HERE = Path(__file__).parent
PATIENCE = 1800.0


class Way(msgspec.Struct, frozen=True):
    """A training of two workers."""

    script: str
    servers: int
    steps: int
    longest_pause: float
    """With longer ones before, the watch would not be faster than Gloo: the machine is too busy for such a training."""
    after: int
    """How long a pause may be, where the job says so itself."""


# Who goes on alone has to go on for long enough: there are more steps to do.
WAYS = {"in-step": Way("in_step.py", 0, 60, 8, 20), "in-shares": Way("in_shares.py", 2, 70, math.inf, 60)}
# After which step worker 1 is stopped. Learned: more than half a minute of steps is known, and the next round step, at
# which the watch would be patient, is far away.
AT_ONCE, LEARNED = 5, 35


class Outcome(msgspec.Struct, frozen=True):
    told: State | None
    """The job when it said that it hangs."""
    seconds: float
    """For how long nothing had moved by then."""
    line: str
    """What the stopped worker had printed last."""
    after: State
    said: list[Report]


def job_file(bench: Workbench, name: str, way: Way, **spec: Any) -> Path:
    env = [{"name": "STEPS", "value": str(way.steps)}, {"name": "ROWS", "value": "4000"}]
    role = a_role(2, "python", str(HERE / way.script), env=env)
    roles = {"worker": role, **({"ps": {**role, "replicas": way.servers}} if way.servers else {})}
    return bench.write(name, **roles, **spec)


def log_of(bench: Workbench, name: str) -> Path:
    return bench.state_root / "default" / name / "logs" / f"{name}-worker-1.paddle.log"


def processes(bench: Workbench, name: str) -> list[int]:
    (uid,) = (pod.metadata.uid for pod in bench.state(name).pods if pod.metadata.name == f"{name}-worker-1")
    return marked(f"{CONTAINER_MARK}={uid}/paddle")


def send(number: int, pids: list[int]) -> None:
    for pid in pids:
        os.kill(pid, number)


def started(bench: Workbench, name: str, way: Way, step: int, **hang: Any) -> subprocess.Popen[str]:
    """A run whose worker 1 has printed that step, each after a short while. On a busy machine it takes several."""
    file, deadline = job_file(bench, name, way, **hang), time.monotonic() + PATIENCE
    log = log_of(bench, name)
    while True:
        run = bench.start("run", file)
        wait_until(lambda: log.exists() and f"step {step}/" in log.read_text(), timeout=PATIENCE)
        known = bench.state(name).job.status.hang
        if known is None or known.longest_pause <= way.longest_pause:
            return run
        assert time.monotonic() < deadline, f"the machine is too busy: a step took {known.longest_pause} s"
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=PATIENCE)
        bench.paddlejob("delete", name)


def suffer(bench: Workbench, name: str, way: Way, *, restart: bool) -> Outcome:
    hang = {"hang": {"action": "Restart", "afterSeconds": way.after}, "backoffLimit": 1} if restart else {}
    run = started(bench, name, way, AT_ONCE if restart else LEARNED, **hang)
    stopped = processes(bench, name)
    send(signal.SIGSTOP, stopped)
    told, seconds, line = None, 0.0, ""
    if not restart:
        told = bench.until(name, lambda state: state.job.status.reason == "Hanging", timeout=PATIENCE)
        hanging = told.job.status.hang
        assert hanging is not None
        seconds = (datetime.now(timezone.utc) - moment(hanging.since or "")).total_seconds()
        line = log_of(bench, name).read_text().splitlines()[-1]
        send(signal.SIGCONT, stopped)
    output, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, output[-3000:]
    return Outcome(told, seconds, line, bench.state(name), reports(output))


@pytest.fixture(scope="module")
def outcomes(paddle: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Outcome]]:
    bench = Workbench(tmp_path_factory.mktemp("hangs"))
    bench.env["PADDLEJOB_PYTHON"] = str(paddle)
    try:
        with ThreadPoolExecutor(2) as hands:
            made = {
                f"{name}-{word}": hands.submit(suffer, bench, f"{name}-{word}", way, restart=word == "restarted")
                for word in ("told", "restarted")
                for name, way in WAYS.items()
            }
        yield {name: one.result() for name, one in made.items()}
    finally:
        bench.close()


@pytest.mark.parametrize("name", WAYS)
def test_a_stopped_worker_is_named_in_time_with_its_last_line(outcomes: dict[str, Outcome], name: str) -> None:
    found = outcomes[f"{name}-told"]
    assert found.told is not None
    hang = found.told.job.status.hang
    assert hang is not None
    assert hang.worker == f"{name}-told-worker-1"
    assert hang.line == found.line
    assert found.seconds <= 3 * hang.longest_pause + 30
    condition = found.told.job.status.condition("Stalled")
    assert condition is not None
    assert (condition.status, condition.reason) == ("True", "Hanging")
    assert f"{hang.worker} fell silent first, after it had printed: {found.line}" in condition.message


@pytest.mark.parametrize("name", WAYS)
def test_a_worker_that_goes_on_ends_the_hang(outcomes: dict[str, Outcome], name: str) -> None:
    status = outcomes[f"{name}-told"].after.job.status
    assert (status.phase, status.attempt, status.hangs) == ("Completed", 0, 0)
    condition = status.condition("Stalled")
    assert condition is None or condition.status == "False"


@pytest.mark.parametrize("name", WAYS)
def test_a_job_that_wants_it_starts_over_and_learns_as_if_nothing_had_been(
    outcomes: dict[str, Outcome], name: str
) -> None:
    found = outcomes[f"{name}-restarted"]
    status = found.after.job.status
    assert (status.phase, status.attempt, status.hangs, status.restarts) == ("Completed", 1, 1, 0)
    learned, undisturbed = found.said, outcomes[f"{name}-told"].said
    assert [one["world"] for one in learned] == [2, 2]
    if name == "in-step":
        assert {one["norm"] for one in learned} == {one["norm"] for one in undisturbed}
        assert len({one["norm"] for one in learned}) == 1
    else:
        for one, other in zip(learned, undisturbed, strict=True):  # servers take updates in any order
            assert one["auc_before"] < 0.6
            assert one["auc_after"] == pytest.approx(other["auc_after"], abs=0.05)
            assert min(one["auc_after"], one["auc_on_others_ids"]) > 0.65
