"""An operator in a process of its own whose event loop is watched: how long each of its turns took.

`python -m tests.operator.watched URL` runs until SIGTERM; then it prints what it saw as one line of JSON. Times are of
the monotonic clock, which all processes of a machine share.
"""

from __future__ import annotations

import asyncio
import gc
import selectors
import signal
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from paddlejob.kube.auth import FileAuth
from paddlejob.kube.config import ClusterConfig
from paddlejob.operator import logs
from paddlejob.operator.main import Operator
from paddlejob.operator.options import Options
from tests.operator.fake_cluster import NAMESPACE

# Shorter turns are not worth a line.
WORTH_TELLING = 0.005


class Turn(msgspec.Struct, frozen=True):
    """One turn of the loop, from the end of one wait to the next: when it ended, and its seconds."""

    at: float
    cpu: float
    """Of the loop's own thread: what other processes do to this machine does not count."""
    wall: float


class Seen(msgspec.Struct, frozen=True):
    turns: list[Turn]
    collection: float
    """The longest run of the garbage collector, during which no thread goes on."""
    cpu: float
    """Of the whole process."""
    peak_mib: float


class WatchedSelector(selectors.DefaultSelector):
    def __init__(self) -> None:
        super().__init__()
        self.turns: list[Turn] = []
        self._cpu, self._wall = time.thread_time(), time.monotonic()

    def select(self, timeout: float | None = None) -> Any:
        now = time.monotonic()
        turn = Turn(now, time.thread_time() - self._cpu, now - self._wall)
        if turn.wall > WORTH_TELLING:
            self.turns.append(turn)
        found = super().select(timeout)
        self._cpu, self._wall = time.thread_time(), time.monotonic()
        return found


class Collections:
    """How long the garbage collector holds everything up."""

    def __init__(self) -> None:
        self.longest = self._began = 0.0
        gc.callbacks.append(self._note)

    def _note(self, phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            self._began = time.thread_time()
        else:
            self.longest = max(self.longest, time.thread_time() - self._began)


async def lead(url: str) -> None:
    options = Options(health_address="0", metrics_address="0")
    running = asyncio.ensure_future(Operator(ClusterConfig(url, auth=FileAuth(), namespace=NAMESPACE), options).run())
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    await asyncio.gather(running, return_exceptions=True)


def main(url: str) -> None:
    logs.configure("json")
    selector, collections = WatchedSelector(), Collections()
    loop = asyncio.SelectorEventLoop(selector)
    loop.run_until_complete(lead(url))
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
    seen = Seen(selector.turns, collections.longest, time.process_time(), _peak_mib())
    sys.stdout.write(msgspec.json.encode(seen).decode() + "\n")


def _peak_mib() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    main(sys.argv[1])
