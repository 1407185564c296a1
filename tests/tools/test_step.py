"""A part of make says what it does, that it still does it, how long it took, and how long it takes as a rule."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools import step

ROOT = Path(__file__).parents[2]
GREETING = [sys.executable, "-c", "print('hello')"]


@pytest.fixture(autouse=True)
def own_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("RUN", "1")


def test_output_and_exit_code_pass_through(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert step.run("Greeting", GREETING) == 0
    assert capfdbinary.readouterr().out == b"\n==> Greeting\nhello\n"
    assert step.run("Failing", [sys.executable, "-c", "raise SystemExit(7)"]) == 7
    assert b"Failing: failed after 0 s with exit code 7" in capfdbinary.readouterr().out


def test_the_last_time_is_told_and_only_success_counts(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    step.run("Greeting", [sys.executable, "-c", "raise SystemExit(7)"])
    step.run("Greeting", GREETING)
    assert b"the last time" not in capfdbinary.readouterr().out
    step.run("Greeting", GREETING)
    assert b"==> Greeting (0 s the last time)" in capfdbinary.readouterr().out


def test_a_silent_command_is_spoken_for() -> None:
    """It reads what nobody writes: only what we say can be seen until its input is closed."""
    program = "import sys; from tools import step; step.SILENCE = 0.2; step.run('Waiting', ['cat'])"
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, env=os.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stdin is not None
        seen, deadline = b"", time.monotonic() + 30
        while b"    ... 1 s\n" not in seen and time.monotonic() < deadline:
            if select.select([running.stdout], [], [], 1)[0]:
                seen += os.read(running.stdout.fileno(), 1000)
        running.stdin.close()
        assert seen.startswith(b"\n==> Waiting\n    ... 0 s\n")
        assert b"    ... 1 s\n" in seen


def test_the_summary_holds_the_parts_of_this_run(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    step.run("Long ago", GREETING)
    monkeypatch.setenv("RUN", "2")
    step.run("One", GREETING)
    step.run("Two", GREETING)
    capfdbinary.readouterr()
    step.summary()
    lines = [line.split(None, 2)[2] for line in capfdbinary.readouterr().out.decode().splitlines()[2:]]
    assert lines == ["One", "Two", "In all"]


@pytest.mark.parametrize(("seconds", "said"), [(0.4, "0 s"), (59.7, "1 min 0 s"), (754, "12 min 34 s")])
def test_time_as_people_say_it(seconds: float, said: str) -> None:
    assert step.spoken(seconds) == said
