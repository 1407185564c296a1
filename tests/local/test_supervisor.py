"""Containers as processes: what they are given, how they end, and what the runner hears of it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from paddlejob.local.processes import Exited, NotStarted, Process, Started, Supervisor
from paddlejob.local.supervisor.proc import start_time
from tests.local.supervisor_programs import PATH, TREE, Stage, a_stage, living, marked_as, until


@pytest_asyncio.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_stage(tmp_path) as stage:
        yield stage


@pytest.mark.parametrize(
    ("script", "code"),
    [
        pytest.param("exit 0", 0, id="success"),
        pytest.param("exit 7", 7, id="its own code"),
        pytest.param("exit 255", 255, id="the largest code"),
        pytest.param("kill -KILL $$", 137, id="SIGKILL"),
        pytest.param("kill -TERM $$", 143, id="SIGTERM"),
        pytest.param("kill -SEGV $$", 139, id="SIGSEGV"),
        pytest.param("kill -PIPE $$", 141, id="SIGPIPE, which Python ignores"),
        pytest.param("kill -INT $$", 130, id="SIGINT, which the supervisor ignores"),
    ],
)
async def test_an_exit_is_reported_as_a_kubelet_reports_it(stage: Stage, script: str, code: int) -> None:
    before = time.time()
    ended = await stage.ended(id := stage.shell(script))
    started, exited = stage.about(id)
    assert isinstance(started, Started)
    assert isinstance(exited, Exited)
    assert exited is ended
    assert exited.code == code
    assert before <= started.at <= exited.at <= time.time()


async def test_both_outputs_go_to_the_log_in_order_and_after_what_was_there(stage: Stage) -> None:
    stage.log().write_text("before\n")
    await stage.ended(stage.shell("for i in 1 2 3; do echo out $i; echo err $i >&2; done"))
    lines = [f"{where} {number}" for number in (1, 2, 3) for where in ("out", "err")]
    assert stage.log().read_text().splitlines() == ["before", *lines]


async def test_a_new_log_is_for_its_owner_only(stage: Stage) -> None:
    await stage.ended(stage.shell("true"))
    assert stage.log().stat().st_mode & 0o777 == 0o600


async def test_the_environment_is_exactly_the_given_one_and_two_marks(stage: Stage) -> None:
    given = {"PATH": PATH, "EMPTY": "", "STRANGE": os.fsdecode(b"caf\xe9 = \n")}
    id = stage.launch(sys.executable, "-SIc", "import os; print(os.environ)", env=given)
    other = stage.launch("env", "-0", name="other", env=given)
    assert (await stage.ended(id)).code == 0
    await stage.ended(other)
    seen = dict(entry.split(b"=", 1) for entry in stage.log("other").read_bytes().split(b"\0") if entry)
    assert seen.pop(b"PADDLEJOB_CONTAINER") == other.encode()
    assert seen.pop(b"PADDLEJOB_SUPERVISOR")
    assert seen == {os.fsencode(name): os.fsencode(value) for name, value in given.items()}


async def test_the_working_directory_is_the_given_one(stage: Stage, tmp_path: Path) -> None:
    (there := tmp_path / "with space").mkdir()
    await stage.ended(stage.launch("pwd", cwd=str(there)))
    assert stage.log().read_text() == f"{there.resolve()}\n"


async def test_a_program_named_with_a_slash_is_looked_for_from_the_working_directory(
    stage: Stage, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "train"
    program.write_text("#!/bin/sh\necho trained $0\n")
    program.chmod(0o755)
    await stage.ended(stage.launch("bin/train", cwd=str(tmp_path), env={}))
    assert stage.log().read_text() == "trained bin/train\n"


async def test_a_program_is_looked_for_on_the_path_of_the_container(stage: Stage, tmp_path: Path) -> None:
    for folder, mode in (("closed", 0o644), ("open", 0o755)):
        (tmp_path / folder).mkdir()
        program = tmp_path / folder / "train"
        program.write_text(f"#!/bin/sh\necho {folder}\n")
        program.chmod(mode)
    await stage.ended(stage.launch("train", env={"PATH": f"{tmp_path}/none:{tmp_path}/closed:{tmp_path}/open"}))
    assert stage.log().read_text() == "open\n"


async def test_a_container_starts_with_nothing_of_ours_open(stage: Stage) -> None:
    await stage.ended(stage.shell("ls /proc/$$/fd; readlink /proc/$$/fd/0"))
    assert stage.log().read_text().split() == ["0", "1", "2", "/dev/null"]


async def test_a_container_starts_with_no_signal_ignored_or_blocked_and_leads_its_session(stage: Stage) -> None:
    # Not a shell, nor Python: those block and ignore signals of their own.
    await stage.ended(stage.launch("grep", "-E", "Sig(Blk|Ign)|NSsid|NSpgid|^Pid", "/proc/self/status"))
    said = dict(line.split() for line in stage.log().read_text().splitlines())
    # Of the C library's own signals, which no program can set, one may come ignored from whoever started the tests.
    known = sum(1 << (number - 1) for number in signal.valid_signals())
    assert int(said["SigBlk:"], 16) & known == int(said["SigIgn:"], 16) & known == 0
    assert said["Pid:"] == said["NSsid:"] == said["NSpgid:"]


async def test_a_signal_reaches_the_whole_group(stage: Stage) -> None:
    script = """
    trap 'wait; echo main; exit 3' USR1
    sh -c 'trap "echo child; exit" USR1; echo $$ >>"$CENSUS"; while :; do sleep 0.01; done' &
    while :; do sleep 0.01; done
    """
    id = stage.shell(script)
    await stage.settled(size=1)
    stage.supervisor.signal(id, signal.SIGUSR1)
    assert (await stage.ended(id)).code == 3
    assert [line for line in stage.log().read_text().splitlines() if line in ("child", "main")] == ["child", "main"]


async def test_a_signal_sent_right_after_the_launch_is_not_lost(stage: Stage) -> None:
    ids = [stage.launch("sleep", "600", name=f"c{number}") for number in range(10)]
    for id in ids:
        stage.supervisor.signal(id, signal.SIGTERM)
    assert [(await stage.ended(id)).code for id in ids] == [143] * 10


async def test_signals_to_unknown_and_ended_containers_are_ignored(stage: Stage) -> None:
    await stage.ended(id := stage.shell("exit 4"))
    for name in (id, "nobody"):
        stage.supervisor.signal(name, signal.SIGTERM)
        stage.supervisor.kill(name)
    assert (await stage.ended(stage.shell("exit 5", name="next"))).code == 5
    assert len(stage.about(id)) == 2


async def test_one_that_ignores_sigterm_ends_with_kill(stage: Stage) -> None:
    id = stage.shell("trap '' TERM; sh -c 'echo $$ >>\"$CENSUS\"; while :; do sleep 600; done'")
    people = await stage.settled(size=1)
    stage.supervisor.signal(id, signal.SIGTERM)
    stage.supervisor.kill(id)
    assert (await stage.ended(id)).code == 137
    assert not living(people)


async def test_kill_reaches_children_orphans_and_other_sessions(stage: Stage) -> None:
    other = await another(stage)
    id = stage.shell(f"{TREE.replace('env -i', 'env')} wait")
    people = await stage.settled()
    stage.supervisor.kill(id)
    assert (await stage.ended(id)).code == 137
    assert not living(people)
    assert marked_as(id) == []
    assert marked_as(other) == [(await stage.started(other)).pid]


async def another(stage: Stage) -> str:
    """A container that lives on. While it becomes another program it has no mark for a moment."""
    id = stage.shell("exec sleep 600", name="other")
    await until("the other container sleeps", lambda: [command(pid) for pid in marked_as(id)] == ["sleep"])
    return id


def command(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


async def test_what_an_ended_main_process_leaves_behind_ends_before_the_exit_is_reported(stage: Stage) -> None:
    other = await another(stage)
    id = stage.shell(f"{TREE.replace('env -i', 'env')} exit 6")
    assert (await stage.ended(id)).code == 6
    assert [start_time(pid) for pid in stage.population()] == [None] * 4
    assert marked_as(id) == []
    assert len(marked_as(other)) == 1


async def test_an_orphan_caught_between_two_programs_is_found_too(stage: Stage) -> None:
    """Not waiting for anything, so that main processes end while their orphans are just being replaced."""
    other = await another(stage)
    ids = [stage.shell("setsid setsid sleep 600 & exit 0", name=f"c{number}") for number in range(50)]
    for id in ids:
        await stage.ended(id)
        assert marked_as(id) == []
    assert len(marked_as(other)) == 1


async def test_an_orphan_without_any_mark_ends_with_the_last_container(stage: Stage) -> None:
    """It could be anybody's: while another container runs, it may be that one's."""
    other = await another(stage)
    orphan = "(setsid env -i sh -c 'echo $$ >>\"$0\"; exec sleep 600' $CENSUS &)"
    id = stage.shell(f"{orphan}; until [ -s $CENSUS ]; do sleep 0.01; done")
    people = await stage.settled(size=1)
    await stage.ended(id)
    assert len(living(people)) == 1
    stage.supervisor.kill(other)
    await stage.ended(other)
    assert not living(people)


async def test_sixty_four_at_once(stage: Stage) -> None:
    ids = [stage.shell(f"echo {number}; exit {number}", name=f"c{number}") for number in range(64)]
    assert [(await stage.ended(id)).code for id in ids] == list(range(64))
    assert [stage.log(f"c{number}").read_text() for number in range(64)] == [f"{number}\n" for number in range(64)]


async def test_more_than_the_socket_holds_is_sent_as_room_comes(stage: Stage) -> None:
    env = {"PATH": PATH} | {f"V{number}": "x" * 50_000 for number in range(10)}
    ids = [stage.launch("true", name=f"c{number}", env=env) for number in range(30)]
    assert {(await stage.ended(id)).code for id in ids} == {0}


async def test_an_id_can_be_used_again_after_its_end_but_not_before(stage: Stage) -> None:
    id = stage.shell("exit 1")
    with pytest.raises(ValueError, match="has not ended"):
        stage.shell("exit 2")
    await stage.ended(id)
    stage.events.clear()
    stage.shell("exit 2")
    assert (await stage.ended(id)).code == 2


async def test_launches_before_the_loop_runs_are_not_lost(tmp_path: Path) -> None:
    supervisor = Supervisor.fork()
    padding = {"PATH": PATH, "PADDING": "x" * 100_000}
    for number in range(20):
        await asyncio.to_thread(
            supervisor.launch, str(number), Process(("true",), padding, "/"), str(tmp_path / f"{number}.log")
        )
    stage = Stage(supervisor, tmp_path)
    listening = asyncio.ensure_future(supervisor.listen(stage.events.append))
    for number in range(20):
        assert (await stage.ended(str(number))).code == 0
    await supervisor.close()
    await listening


async def test_closing_ends_everything_tells_of_it_and_can_be_repeated(tmp_path: Path) -> None:
    async with a_stage(tmp_path) as stage:
        ids = [stage.shell(f"{TREE} wait", name=name) for name in ("a", "b")]
        people = [*await stage.settled("a"), *await stage.settled("b")]
        assert len(living(people)) == 8
        await asyncio.gather(stage.supervisor.close(), stage.supervisor.close())
        assert not living(people)
        assert start_time(stage.supervisor.pid) is None
        assert [(await stage.ended(id)).code for id in ids] == [137, 137]
        await stage.supervisor.close()
        stage.launch("true", name="late")
        stage.supervisor.kill(ids[0])
        assert not stage.about(f"{stage.run}/late")


async def test_closing_needs_nobody_who_listens(tmp_path: Path) -> None:
    supervisor = Supervisor.fork()
    supervisor.launch("a", Process(("sleep", "600"), {"PATH": PATH}, "/"), str(tmp_path / "log"))
    await supervisor.close()
    assert start_time(supervisor.pid) is None
    await supervisor.listen(lambda _: None)


async def test_a_signal_for_the_runners_terminal_leaves_the_supervisor_alone(stage: Stage) -> None:
    id = stage.shell("exec sleep 600")
    await stage.started(id)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        os.kill(stage.supervisor.pid, number)
    ended = await stage.ended(stage.shell("exit 3", name="next"))
    assert not isinstance(ended, NotStarted)
    assert ended.code == 3
    assert len(stage.about(id)) == 1
    await until("the sleeper still sleeps", lambda: len(marked_as(id)) == 1)
