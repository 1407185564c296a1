"""The runner killed with SIGKILL at any moment leaves no process and no unreadable state."""

from __future__ import annotations

import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from paddlejob.local.state import folders
from paddlejob.local.supervisor.proc import descendants, is_alive, start_time
from tests.cluster.waiting import wait_until
from tests.local.nursery import Nursery, Runner
from tests.local.workbench import Workbench, a_role

TREE = "setsid sh -c 'exec sleep 1000' & sh -c 'sleep 1000' & exec sleep 1000"
LANES, ROUNDS = 5, 10


@pytest.mark.timeout(400)
@pytest.mark.campaign
def test_fifty_runners_killed_at_random_moments_leave_nothing(tmp_path: Path) -> None:
    with ThreadPoolExecutor(LANES) as lanes:
        made = [lanes.submit(kill_runners, tmp_path / str(number), random.Random(number)) for number in range(LANES)]
    for one in made:
        one.result()


def kill_runners(folder: Path, rng: random.Random) -> None:
    folder.mkdir()
    bench = Workbench(folder)
    with Nursery(bench.env) as nursery:
        kill_at_moments(bench, nursery, rng)


def kill_at_moments(bench: Workbench, nursery: Nursery, rng: random.Random) -> None:
    """At any moment of a start, and of some time after it, however long a start takes on this machine just now."""
    path = bench.write("victim", ps=a_role(1, "sh", "-c", TREE), worker=a_role(2, "sh", "-c", TREE))
    began, runner = time.monotonic(), nursery.run(path)
    bench.in_phase("victim", "Running")
    whole = time.monotonic() - began
    for _ in range(ROUNDS):
        kill(bench, runner)
        runner = nursery.run(path)
        time.sleep(rng.uniform(0, 1.2 * whole))  # the moment is the point
    kill(bench, runner)
    assert bench.paddlejob("list").returncode == 0
    assert bench.paddlejob("delete", "victim").returncode in (0, 2)  # 2: killed before it wrote anything


def kill(bench: Workbench, runner: Runner) -> None:
    runner.kill()
    wait_until(lambda: not survivors(bench.state_root))
    for _, state in folders(bench.state_root):
        assert not state.alive


def test_a_command_killed_while_it_loads_leaves_nothing(bench: Workbench) -> None:
    """The runners above begin where all that a command needs is loaded; these begin where a person does."""
    path = bench.write("victim", worker=a_role(1, "sh", "-c", TREE))
    began, command = time.monotonic(), bench.start("run", path, quiet=True)
    bench.in_phase("victim", "Running")
    whole = time.monotonic() - began
    for part in range(1, 9):
        kill(bench, Runner(command.pid, start_time(command.pid)))
        command.wait()
        command = bench.start("run", path, quiet=True)
        time.sleep(whole * part / 8)  # the moment is the point
    kill(bench, Runner(command.pid, start_time(command.pid)))


def test_what_outlives_runner_and_supervisor_together_is_ended_by_the_next_command(bench: Workbench) -> None:
    bench.paddlejob("run", "--detach", bench.write("double", worker=a_role(1, "sh", "-c", TREE)))
    state = bench.in_phase("double", "Running")
    wait_until(lambda: len(survivors(bench.state_root)) >= 3)
    supervisor = descendants(state.pid)[0]
    for pid in (state.pid, supervisor):
        os.kill(pid, signal.SIGSTOP)  # neither may notice the other's end
    for pid in (supervisor, state.pid):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(state.pid, state.start_time))
    assert "Lost" in bench.paddlejob("list").stdout
    assert bench.paddlejob("delete", "double").returncode == 0
    assert survivors(bench.state_root) == []


def survivors(root: Path) -> list[int]:
    """Processes whose environment says that they belong to a job below this state folder."""
    return marked_below(str(root.parent))


def marked_below(state_home: str) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                environment = (folder / "environ").read_bytes()
            except OSError:
                continue
            if b"PADDLEJOB_CONTAINER=" in environment and state_home.encode() in environment:
                found.append(int(folder.name))
    return found


def test_survivors_would_be_seen(bench: Workbench) -> None:
    """The check above can fail: while a job runs, its processes are found by it."""
    bench.paddlejob("run", "--detach", bench.write("alive", worker=a_role(1, "sleep", "1000")))
    state = bench.in_phase("alive", "Running")
    assert survivors(bench.state_root) == bench.processes(state) != []
    bench.paddlejob("delete", "alive")
    assert survivors(bench.state_root) == []
