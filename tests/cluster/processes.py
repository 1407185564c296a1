"""The control plane's processes: start them with a log each, end them by pid, leave none behind.

A guard process, told every pid over a pipe, ends what is left when this process dies in any way, SIGKILL
included. (Linux' parent-death signal would do for less code, but it follows the thread that called fork.)
"""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

# Reads "+pid" and "-pid" lines; at the end of its input it ends every process that is still on its list.
_GUARD = """
import os, signal, sys
pids = set()
for line in sys.stdin:
    (pids.add if line[0] == "+" else pids.discard)(int(line[1:]))
for pid in pids:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
"""


class ProcessDied(Exception):
    """A process of the control plane ended by itself."""


class Guard:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _GUARD], stdin=subprocess.PIPE, text=True, start_new_session=True
        )

    def watch(self, pid: int) -> None:
        self._write(f"+{pid}\n")

    def forget(self, pid: int) -> None:
        self._write(f"-{pid}\n")

    def close(self) -> None:
        if self._process.stdin:
            self._process.stdin.close()
        self._process.wait(timeout=60)

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()


class Process:
    """One program. It may be started again after it was killed; its log goes on in the same file."""

    def __init__(self, guard: Guard, command: Sequence[str | Path], log: Path, env: Mapping[str, str]) -> None:
        self.command = [str(part) for part in command]
        self.log = log
        self._env = env
        self._guard = guard
        self._running: subprocess.Popen[bytes] | None = None

    @property
    def name(self) -> str:
        return Path(self.command[0]).name

    @property
    def pid(self) -> int | None:
        return self._running.pid if self._running else None

    def start(self, *flags: str) -> None:
        assert self._running is None, f"{self.name} runs already"
        with self.log.open("ab") as log:
            # A session of its own: Ctrl-C reaches pytest only, which then ends everything in order.
            self._running = subprocess.Popen(
                [*self.command, *flags],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self._env},
                start_new_session=True,
            )
        self._guard.watch(self._running.pid)

    def check(self) -> None:
        """Raises with the end of its log when the process ended by itself."""
        if self._running is not None and self._running.poll() is not None:
            tail = "".join(self.log.read_text(errors="replace").splitlines(keepends=True)[-20:])
            raise ProcessDied(f"{self.name} ended with code {self._running.returncode}; its log says:\n{tail}")

    def freeze(self) -> None:
        """It keeps its connections and answers nothing, as behind a broken network, until `thaw`."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """As a crash would end it. Does nothing when it does not run."""
        if self._running is None:
            return
        self._running.kill()
        self._running.wait()
        self._guard.forget(self._running.pid)
        self._running = None

    def _signal(self, number: int) -> None:
        assert self._running is not None, f"{self.name} does not run"
        self._running.send_signal(number)


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody holds. All are held together while chosen, so they differ."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]
    finally:
        for each in sockets:
            each.close()
