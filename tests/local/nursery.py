"""Starts `paddlejob run` many times at the price of one: a process that has loaded it forks for every start.

What is left out, loading the program, is what all starts have in common and where nothing can be left behind yet.
As a program it reads one start a line and answers with its pid.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from paddlejob.local.supervisor.proc import is_alive, start_time
from tests.cluster.waiting import wait_until


@dataclass(frozen=True)
class Runner:
    pid: int
    start_time: str | None

    def kill(self) -> None:
        """Returns when it is gone. Does nothing when it ended before."""
        if is_alive(self.pid, self.start_time):
            os.kill(self.pid, signal.SIGKILL)
            wait_until(lambda: not is_alive(self.pid, self.start_time))


class Nursery:
    """Use as a context: what it started ends with it."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._started: list[Runner] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Nursery:
        return self

    def __exit__(self, *_: object) -> None:
        for one in self._started:
            one.kill()
        self._process.communicate(timeout=60)

    def run(self, path: Path) -> Runner:
        """A runner of this file; what it prints is lost."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{path}\n")
        self._process.stdin.flush()
        pid = int(self._process.stdout.readline())
        self._started.append(Runner(pid, start_time(pid)))
        return self._started[-1]


def main() -> None:
    import paddlejob.cli.run  # noqa: F401, PLC0415 - so that no start loads it
    from paddlejob.cli.main import main as command  # noqa: PLC0415 - only the program that forks loads it

    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            nothing = os.open(os.devnull, os.O_RDWR)
            for file in (0, 1, 2):
                os.dup2(nothing, file)
            sys.argv = ["paddlejob", "run", line.strip()]
            command()
        print(pid, flush=True)


if __name__ == "__main__":
    main()
