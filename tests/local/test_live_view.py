"""On a terminal a job shows itself as a live table; in a pipe as plain lines."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import msgspec
from rich.console import Console

from paddlejob.api import Status
from paddlejob.cli.output import Lines
from paddlejob.cli.views import LiveView, PlainView
from paddlejob.core.times import timestamp
from paddlejob.local.following import Follower, Logs
from paddlejob.local.logfiles import LogFile
from paddlejob.local.state import State
from paddlejob.places.words import age
from tests.builders import a_job
from tests.local.workbench import Workbench, a_role


def on_a_terminal(bench: Workbench, *args: str | Path, look: Callable[[str], object] = str) -> tuple[int, str]:
    """Exit code and everything that was drawn; `look` gets what was drawn so far, as often as there is more."""
    ours, theirs = pty.openpty()
    env = {**bench.env, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"}
    env.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "paddlejob", *map(str, args)]
    with subprocess.Popen(command, env=env, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True) as process:
        os.close(theirs)
        drawn = b""
        while True:
            try:
                data = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not data:
                break
            drawn += data
            look(plain(drawn.decode(errors="replace")))
        os.close(ours)
    return process.returncode, drawn.decode()


def plain(drawn: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn)


def test_a_terminal_sees_a_table_of_pods_and_the_workers_lines_in_colour(bench: Workbench) -> None:
    seen = bench.folder / "seen"
    script = f"echo hello from $PADDLE_TRAINER_ID; until [ -e '{seen}' ]; do sleep 0.1; done; echo bye"
    path = bench.write("shown", ps=a_role(1, "sleep", "1000"), worker=a_role(2, "sh", "-c", script))

    def look(text: str) -> None:
        if re.search(r"shown  Running  PS", text) and re.search(r"shown-worker-1\s+running", text):
            seen.touch()

    code, drawn = on_a_terminal(bench, "run", path, look=look)
    assert code == 0
    text = plain(drawn)
    for word in ("POD", "STATE", "UP", "RESTARTS", "LAST LINE", "shown-ps-0", "[shown-worker-0] hello from 0"):
        assert word in text
    assert "shown: Completed: 2 of 2 workers succeeded" in text
    assert "\x1b[36m" in drawn  # colours


def test_a_pipe_sees_no_colours_and_no_cursor_movement(bench: Workbench) -> None:
    done = bench.paddlejob("run", bench.write("piped", worker=a_role(1, "echo", "hello")))
    assert "\x1b" not in done.stdout
    lines = done.stdout.splitlines()
    assert lines[0] == "piped: Starting"
    assert {"[piped-worker-0] hello", "piped: Completed"} <= set(lines)


def test_what_pods_print_before_the_first_look_comes_after_the_first_phase(tmp_path: Path) -> None:
    (tmp_path / LogFile("train-worker-0", "paddle", 0).name).write_text("early\n")
    drawn = io.StringIO()
    view = PlainView(tmp_path, Console(file=drawn))
    view.tick()
    starting = msgspec.structs.replace(a_job().build(), status=Status(phase="Starting"))
    view.update(State(job=starting, file="job.yaml", pid=1, start_time=None))
    view.close()
    assert drawn.getvalue().splitlines() == ["train: Starting", "[train-worker-0] early"]


def test_a_failure_on_a_terminal_says_what_to_read(bench: Workbench) -> None:
    code, drawn = on_a_terminal(bench, "run", bench.write("broken", worker=a_role(1, "sh", "-c", "echo oh no; exit 9")))
    assert code == 1
    assert "broken-worker-0 failed with exit code 9 (Error)" in plain(drawn)
    assert "last lines of broken-worker-0" in plain(drawn)


def test_lines_are_told_when_they_are_whole_and_the_rest_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "log"
    follower = Follower(path)
    assert list(follower.lines()) == []
    path.write_bytes(b"one\ntw")
    assert list(follower.lines()) == ["one"]
    with path.open("ab") as file:
        file.write(b"o\n10%\r20%\r\nrest")
    assert list(follower.lines()) == ["two", "20%"]
    assert list(follower.lines(last_call=True)) == ["rest"]
    assert follower.last == "rest"


def _news(logs: Logs, *, last_call: bool = False) -> list[tuple[str, list[str]]]:
    return [(log.pod, lines) for log, lines in logs.news(last_call=last_call)]


def test_lines_go_over_from_one_life_of_a_pod_to_the_next_without_loss_or_repeat(tmp_path: Path) -> None:
    first, second, third = (tmp_path / LogFile("a-worker-0", "paddle", life).name for life in range(3))
    first.write_text("long ago\n")
    second.write_text("one\ntw")
    logs = Logs(tmp_path, "a-worker-*")
    assert _news(logs) == [("a-worker-0", ["one"])]
    with second.open("a") as file:
        file.write("o\nkilled in the middle of a li")
    third.write_text("again\n")
    assert _news(logs) == [("a-worker-0", ["two", "killed in the middle of a li"]), ("a-worker-0", ["again"])]
    assert logs.last("a-worker-0") == "again"
    assert [lines for _, lines in logs.news(last_call=True)] == [[], []]
    every = Logs(tmp_path, "a-worker-*", earlier=True)
    assert [(log.life, lines[0]) for log, lines in every.news()] == [(0, "long ago"), (1, "one"), (2, "again")]


def test_a_restart_is_shown_with_its_cause_and_its_time_on_a_terminal_and_in_a_pipe(tmp_path: Path) -> None:
    ahead = timestamp(datetime.now(timezone.utc) + timedelta(seconds=30))
    status = Status(
        phase="Restarting",
        reason="Error",
        message="train-worker-0 failed with exit code 3 (Error)",
        restarts=1,
        next_attempt_time=ahead,
    )
    job = a_job().asking(backoff_limit=2).build()
    state = State(job=msgspec.structs.replace(job, status=status), file="job.yaml", pid=1, start_time=None)
    for view in (PlainView, LiveView):
        drawn = io.StringIO()
        shown = view(tmp_path, Console(file=drawn, width=200, force_terminal=view is LiveView))
        shown.update(state)
        shown.update(state)
        shown.close()
        text = plain(drawn.getvalue())
        assert "train: Restarting\n" in text or "train  Restarting" in text
        cause = r"Error: train-worker-0 failed with exit code 3 \(Error\); starts again in (29|30) s \(restart 1 of 2\)"
        found = re.findall(cause, text)
        assert len(found) == 1 if view is PlainView else found


def test_an_age_is_written_as_kubectl_writes_it() -> None:
    assert age("2000-01-01T00:00:00Z").endswith("h")
    assert re.fullmatch(r"\d+d\d+h", age("2000-01-01T00:00:00Z"))


def test_a_terminal_gets_colours_of_pods_and_nothing_else_that_they_send_to_it(bench: Workbench) -> None:
    seen = bench.folder / "seen"
    sent = r"printf '\033[2Jcle\033[1;35mar\033[0m\033]0;title\007ed\033[3A\n'"
    wait = f"until [ -e '{seen}' ]; do sleep 0.1; done"
    path = bench.write("hostile", worker=a_role(1, "sh", "-c", f"{sent}; {wait}"))

    def look(text: str) -> None:
        if re.search(r"hostile-worker-0\s+running\s.*cleared", text):  # in the table, too
            seen.touch()

    for drawn in (on_a_terminal(bench, "run", path, look=look)[1], on_a_terminal(bench, "logs", "hostile")[1]):
        assert not any(one in drawn for one in ("\x1b[2J", "\x1b]0;", "\x1b[3A", "\x07"))
        assert "cle\x1b[1;35mar\x1b[0med" in drawn


def test_a_bar_that_goes_on_is_the_last_line_of_its_pod(tmp_path: Path) -> None:
    path = tmp_path / LogFile("a-worker-0", "paddle", 0).name
    path.write_bytes(b"start\n\r10%\r20%\r")
    logs = Logs(tmp_path)
    assert _news(logs) == [("a-worker-0", ["start"])]
    assert (logs.last("a-worker-0"), list(logs.bars())) == ("20%", [("a-worker-0", "20%")])
    with path.open("ab") as file:
        file.write(b"\r30%" * 10_000)
    assert _news(logs) == [("a-worker-0", [])]
    assert logs.last("a-worker-0") == "30%"
    assert _news(logs, last_call=True) == [("a-worker-0", ["30%"])]
    assert list(logs.bars()) == []


def test_bars_stand_at_the_foot_of_a_terminal_and_are_lines_now_and_then_elsewhere() -> None:
    drawn = io.StringIO()
    terminal = Lines(Console(file=drawn, width=20, force_terminal=True, color_system=None))
    for bar in ("10%", "10%", "20% and more than fits"):
        terminal.show_bar("a", bar)
    terminal.show("a", "done")
    terminal.show_bar("a", "30%")
    terminal.close()
    assert drawn.getvalue() == "[a] 10%\r\x1b[K[a] 20% and more t…\r\x1b[K[a] done\n[a] 30%\n"
    piped = io.StringIO()
    clock = {"now": 0.0}
    lines = Lines(Console(file=piped), lambda: clock["now"])
    for bar, clock["now"] in (("10%", 0.0), ("20%", 4.9), ("30%", 5.0), ("30%", 60.0)):
        lines.show_bar("a", bar)
    assert piped.getvalue() == "[a] 10%\n[a] 30%\n"
