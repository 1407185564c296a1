"""Identity of processes: numbers are reused, start times are not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddlejob.local.supervisor import proc


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        ["sleep", "600"], env={"PATH": os.environ["PATH"], "WHO": f"the sleeper of {os.getpid()}"}
    ) as one:
        yield one
        one.kill()


@pytest.fixture(params=["/proc", "ps"])
def source(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of knowing: the second is the one of systems without /proc."""
    if request.param == "ps":
        monkeypatch.setattr(proc, "has_proc", lambda: False)
    return str(request.param)


@pytest.mark.usefixtures("source")
def test_a_process_is_alive_by_its_number_and_its_start_time(sleeper: subprocess.Popen[bytes]) -> None:
    started = proc.start_time(sleeper.pid)
    assert started
    assert started == proc.start_time(sleeper.pid)
    assert proc.is_alive(sleeper.pid, started)
    assert not proc.is_alive(sleeper.pid, f"{started} of another one with this number")


@pytest.mark.usefixtures("source")
def test_an_ended_process_is_not_alive_whatever_is_known_of_it(sleeper: subprocess.Popen[bytes]) -> None:
    started = proc.start_time(sleeper.pid)
    sleeper.kill()
    sleeper.wait()
    assert proc.start_time(sleeper.pid) is None
    assert not proc.is_alive(sleeper.pid, started)
    assert not proc.is_alive(sleeper.pid, None)


def test_a_zombie_is_not_alive(sleeper: subprocess.Popen[bytes]) -> None:
    started = proc.start_time(sleeper.pid)
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    assert Path(f"/proc/{sleeper.pid}").exists()
    assert not proc.is_alive(sleeper.pid, started)


def test_without_a_known_start_time_the_number_decides(sleeper: subprocess.Popen[bytes]) -> None:
    assert proc.is_alive(sleeper.pid, None)


@pytest.mark.usefixtures("source")
def test_a_name_with_brackets_and_spaces_confuses_nobody(tmp_path: Path) -> None:
    (program := tmp_path / "a) S 1 (b").symlink_to("/bin/cat")
    with subprocess.Popen([program], stdin=subprocess.PIPE) as one:
        assert proc.start_time(one.pid)
        assert one.pid in proc.children()[os.getpid()]
        one.kill()


@pytest.mark.usefixtures("source")
def test_descendants_come_parents_first_across_sessions() -> None:
    script = "setsid sh -c 'sleep 600 & echo ready; wait' & wait"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE) as one:
        assert one.stdout is not None
        one.stdout.readline()
        child, grandchild = proc.descendants(one.pid)
        assert proc.descendants(child) == [grandchild]
        assert proc.descendants(grandchild) == []
        for pid in (one.pid, child, grandchild):
            os.kill(pid, 9)


def test_marked_processes_are_found_by_the_whole_entry(sleeper: subprocess.Popen[bytes]) -> None:
    assert sleeper.pid in proc.marked(f"WHO=the sleeper of {os.getpid()}")
    assert proc.marked("WHO=the sleeper") == []


MARKED = "PADDLEJOB_CONTAINER=train/0"
BECOMING = {
    "a program with a mark": (["7", "7"], [MARKED], "train/0"),
    "a program without a mark": (["7", "7"], ["HOME=/"], None),
    "a program started with nothing": (["7", "7"], [""], None),
    "no program yet": (["0", "0"], [""], ""),
    "a program that was none a moment ago": (["0", "7"], [""], ""),
    "one program after the other": (["7", "8"], [""], ""),
    "another program in a moment": (["7", "0"], [""], ""),
}


@pytest.mark.parametrize("case", BECOMING)
def test_who_becomes_another_program_cannot_say_yet_whose_it_is(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ends, environments, container = BECOMING[case]
    stats = iter(f"1 (sh) S {'0 ' * 47}{end} 0" for end in ends)
    entries = iter(environments)
    monkeypatch.setattr(proc, "_read", lambda path: next(stats if path.endswith("stat") else entries).encode())
    assert proc.container_of(1) == container


def test_an_ended_process_that_was_not_waited_for_may_have_left_others(sleeper: subprocess.Popen[bytes]) -> None:
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    assert proc.container_of(sleeper.pid) == ""
    sleeper.wait()
    assert proc.container_of(sleeper.pid) is None


def test_without_proc_marks_cannot_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proc, "has_proc", lambda: False)
    assert proc.marked(f"PATH={os.environ['PATH']}") == []


@pytest.mark.usefixtures("source")
def test_members_of_a_session_are_found_after_its_leader_is_gone() -> None:
    script = "sleep 600 >/dev/null & echo $!"
    asked = subprocess.run(
        ["sh", "-c", f"echo $$; {script}"], stdout=subprocess.PIPE, start_new_session=True, check=True
    )
    session, pid = (int(line) for line in asked.stdout.split())
    assert proc.members({session}) == [pid]
    os.kill(pid, 9)


def test_the_callers_own_children_are_listed_in_one_read(sleeper: subprocess.Popen[bytes]) -> None:
    assert sleeper.pid in (proc.children_of_this_thread() or [])


def test_a_missing_boot_id_still_gives_a_start_time(monkeypatch: pytest.MonkeyPatch) -> None:
    proc._boot.cache_clear()
    read = proc._read
    monkeypatch.setattr(proc, "_read", lambda path: read("/none" if path.endswith("boot_id") else path))
    assert (proc.start_time(os.getpid()) or "").startswith("this-boot/")
    proc._boot.cache_clear()


def test_the_supervisor_loads_nothing_that_takes_long() -> None:
    """Its start-up is part of every run's."""
    heavy = {"asyncio", "msgspec", "pathlib", "subprocess", "typing", "traceback", "logging", "socket"}
    boot = "import sys; sys.path.append(sys.argv[1]); import paddlejob.local.supervisor.supervision"
    source = Path(__file__).parents[2] / "src"
    asked = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"{boot}; print(*sys.modules)", str(source)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    loaded = asked.stdout.split()
    assert heavy.isdisjoint(loaded)
    ours = {one for one in loaded if one.startswith("paddlejob")}
    assert {one for one in ours if not one.startswith("paddlejob.local.supervisor")} == {"paddlejob", "paddlejob.local"}
