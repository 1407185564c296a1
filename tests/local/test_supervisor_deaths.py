"""Whoever is killed, runner or supervisor, at whatever moment: no process of a container is left."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from paddlejob.local.processes import Supervisor, SupervisorLost
from paddlejob.local.supervisor.proc import descendants, is_alive, start_time
from tests.local.supervisor_programs import DEADLINE, TREE, Stage, living, marked_as, until

ROOT = Path(__file__).parents[2]


def killed_after(lines: int, fraction: float, folder: Path, ids: list[str]) -> int:
    """Run the runner of trees, kill it that far into what it says; the supervisor's pid."""
    command = [sys.executable, "-m", "tests.local.supervisor_programs", str(folder), *ids]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as runner:
        assert runner.stdout is not None
        first = runner.stdout.readline().split()
        for _ in range(lines):
            runner.stdout.readline()
        until = time.perf_counter() + fraction * 0.02
        while time.perf_counter() < until:  # between two lines, too, and finer than a sleep
            pass
        runner.kill()
    assert first[0] == "forked"
    return int(first[1])


@pytest.mark.parametrize("seed", range(20))
async def test_a_runner_killed_at_any_moment_leaves_no_process(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    ids = [uuid.uuid4().hex for _ in range(3)]
    supervisor = killed_after(chance.randrange(7), chance.random(), tmp_path, ids)
    started = start_time(supervisor)
    await until("the supervisor ended", lambda: not is_alive(supervisor, started))
    assert [pid for id in ids for pid in marked_as(id)] == []
    # The ones without a mark are only in the census. What has such a number now, if anything, is no `sleep 600`.
    born = [int(line) for id in ids if (tmp_path / id).exists() for line in (tmp_path / id).read_text().split()]
    assert [pid for pid in born if b"sleep\x00600" in command_line(pid)] == []


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


async def test_a_supervisor_killed_takes_its_children_along_and_the_runner_sweeps_the_rest(tmp_path: Path) -> None:
    stage = Stage(Supervisor.fork(), tmp_path)
    listening = asyncio.ensure_future(stage.supervisor.listen(stage.events.append))
    id = stage.shell(f"{TREE.replace('env -i', 'env')} wait")
    people = await stage.settled()
    os.kill(stage.supervisor.pid, signal.SIGKILL)
    with pytest.raises(SupervisorLost, match=r"supervisor .* ended with signal 9"):
        await asyncio.wait_for(listening, DEADLINE)
    assert not living(people)
    assert marked_as(id) == []
    await stage.supervisor.close()


async def test_a_supervisor_killed_while_nobody_listens_is_swept_up_after_by_close(tmp_path: Path) -> None:
    stage = Stage(Supervisor.fork(), tmp_path)
    stage.shell(f"{TREE.replace('env -i', 'env')} wait")
    people = await stage.settled()
    os.kill(stage.supervisor.pid, signal.SIGKILL)
    await stage.supervisor.close()
    assert not living(people)


async def test_direct_children_die_with_the_supervisor_even_if_nobody_sweeps(tmp_path: Path) -> None:
    stage = Stage(Supervisor.fork(), tmp_path)
    stage.launch("sleep", "600")
    await until("it runs", lambda: len(descendants(stage.supervisor.pid)) == 1)
    (pid,) = descendants(stage.supervisor.pid)
    started = start_time(pid)
    os.kill(stage.supervisor.pid, signal.SIGKILL)
    await until("its child is gone", lambda: not is_alive(pid, started))
    await stage.supervisor.close()


async def test_the_sweep_of_one_supervisor_spares_a_container_of_the_same_id_of_another(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, other = Stage(Supervisor.fork(), tmp_path / "a"), Stage(Supervisor.fork(), tmp_path / "b")
    other.run = one.run
    id = one.launch("sleep", "600")
    assert other.launch("sleep", "600") == id
    await until("both run", lambda: len(marked_as(id)) == 2)
    os.kill(one.supervisor.pid, signal.SIGKILL)
    await one.supervisor.close()
    assert marked_as(id) == descendants(other.supervisor.pid)
    assert len(marked_as(id)) == 1
    await other.supervisor.close()


async def test_words_to_a_dead_supervisor_are_dropped(tmp_path: Path) -> None:
    stage = Stage(Supervisor.fork(), tmp_path)
    os.kill(stage.supervisor.pid, signal.SIGKILL)
    await until("it is gone", lambda: start_time(stage.supervisor.pid) is None)
    stage.launch("true")
    stage.supervisor.signal("x", signal.SIGTERM)
    with pytest.raises(SupervisorLost):
        await stage.supervisor.listen(stage.events.append)
    await stage.supervisor.close()
    assert stage.events == []


def test_an_interpreter_that_cannot_be_started_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/none/python")
    with pytest.raises(SupervisorLost, match="cannot start /none/python to supervise processes: No such file"):
        Supervisor.fork()
