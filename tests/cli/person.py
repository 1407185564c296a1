"""A person at a keyboard who types `paddlejob`, on a terminal or into a pipe, with a home of their own."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.waiting import wait_until

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
ROWS, COLUMNS = 50, 160


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str = ""

    @property
    def coloured(self) -> bool:
        return "\x1b[" in self.out

    @property
    def text(self) -> str:
        """What a person reads."""
        return ESCAPES.sub("", self.out).replace("\r\n", "\n")

    @property
    def sentence(self) -> str:
        """The one line that says what is wrong; anything else on stderr is a failure of ours."""
        (line,) = self.err.splitlines()
        return line

    def fine(self) -> Said:
        assert self.code == 0, (self.code, self.out, self.err)
        return self


class Person:
    def __init__(self, home: Path, kubeconfig: Path | None = None) -> None:
        self.home = home
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("KUBE", "PADDLEJOB"))}
        self.env = {**kept, "HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "NO_PROXY": "*", "TERM": "xterm"}
        # The cluster has its own authority: to load all of the system's is a sixth of what a command costs.
        self.env["SSL_CERT_FILE"] = os.devnull
        self.env.pop("COLUMNS", None)
        if kubeconfig is not None:
            self.env["KUBECONFIG"] = str(kubeconfig)

    def pipes(self, *args: str | Path, stdin: str | None = None, timeout: float = 60) -> Said:
        done = subprocess.run(
            _command(args), env=self.env, input=stdin, capture_output=True, text=True, check=False, timeout=timeout
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Said(done.returncode, done.stdout, done.stderr)

    def types(self, *args: str | Path, until: Callable[[str], bool] | None = None, timeout: float = 60) -> Said:
        """On a terminal; both streams together. With `until`, Ctrl-C as soon as it likes what is on the screen."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        process = subprocess.Popen(
            _command(args),
            env=self.env,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - Ctrl-C needs it
        )
        os.close(theirs)
        try:
            out = _read(ours, until, timeout)
            code = process.wait(timeout=60)
        finally:
            process.kill()
            process.wait()
            os.close(ours)
        assert "Traceback" not in out, out
        return Said(code, out)

    @contextmanager
    def follows(self, *args: str | Path) -> Iterator[Screen]:
        """A command that goes on, its output in a file; ended with the block."""
        path = self.home / "screen"
        with path.open("wb") as file:
            process = subprocess.Popen(_command(args), env=self.env, stdout=file, stderr=file)
        try:
            yield Screen(process, path)
        finally:
            process.kill()
            process.wait()


class Screen:
    """What a command that goes on has printed so far."""

    def __init__(self, process: subprocess.Popen[bytes], path: Path) -> None:
        self._process = process
        self._path = path

    @property
    def text(self) -> str:
        return self._path.read_text()

    def shows(self, *lines: str) -> None:
        """Waits until all these lines are there."""

        def all_there() -> bool:
            missing = [line for line in lines if line not in self.text.splitlines()]
            assert not missing, f"{missing} are not in {self.text!r}"
            return True

        wait_until(all_there)

    def ends(self) -> int:
        return self._process.wait(timeout=60)


def _command(args: tuple[str | Path, ...]) -> list[str]:
    return [sys.executable, "-m", "paddlejob", *map(str, args)]


def _read(terminal: int, until: Callable[[str], bool] | None, timeout: float) -> str:
    deadline = time.monotonic() + timeout
    seen = b""
    pressed = False
    while time.monotonic() < deadline:
        ready, _, _ = select.select([terminal], [], [], 0.2)
        if ready:
            try:
                piece = os.read(terminal, 65536)
            except OSError:  # the other side is closed
                return seen.decode(errors="replace")
            if not piece:
                return seen.decode(errors="replace")
            seen += piece
        if until is not None and not pressed and until(ESCAPES.sub("", seen.decode(errors="replace"))):
            os.write(terminal, b"\x03")
            pressed = True
    raise AssertionError(f"not within {timeout} s; the screen shows: {seen.decode(errors='replace')}")
