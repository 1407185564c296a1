"""The process that runs a job on this machine for the SDK: takes its order on standard input, goes to the background,
and says so once the runner has taken its first look.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import msgspec

from paddlejob.api import PaddleJob
from paddlejob.core.ports import ports_needed
from paddlejob.local.addresses import find_places
from paddlejob.local.machine import Surroundings
from paddlejob.local.manifest import Data, Manifest
from paddlejob.local.processes import Supervisor
from paddlejob.local.runner import Runner
from paddlejob.local.state import Folder, State

STARTED = b"started"
LOG = "runner.log"


class Order(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    job: PaddleJob
    config_maps: dict[str, Data]
    secrets: dict[str, Data]
    folder: str
    inherited: dict[str, str]
    volumes: dict[str, str]


class _FirstLook:
    """Whoever started us waits for the end of our output: it ends with the first look."""

    def __init__(self) -> None:
        self._taken = False

    def __call__(self, _: State) -> None:
        if not self._taken:
            self._taken = True
            os.write(1, STARTED)
            os.dup2(2, 1)  # standard error goes to our log already


async def _run(order: Order, supervisor: Supervisor) -> None:
    manifest = Manifest(Path(order.path), order.job, order.config_maps, order.secrets)
    volumes = {name: Path(path) for name, path in order.volumes.items()}
    folder = Path(order.folder)
    places = find_places(ports_needed(order.job), one_address=False)
    try:
        runner = Runner(
            manifest,
            Surroundings(folder, order.inherited, (), volumes),
            Folder(folder),
            supervisor=supervisor,
            watching=_FirstLook(),
            places=places,
        )
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, runner.stop)
        await runner.run()
    finally:
        places.close()


def main() -> None:
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    if os.fork():
        os._exit(0)  # our starter waits for this process only
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    asyncio.run(_run(order, Supervisor.fork()))
