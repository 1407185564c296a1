"""One of the two operators: a real process behind a proxy of its own, with a token of its own at every start."""

from __future__ import annotations

import base64
import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.control_plane import ControlPlane
from tests.cluster.processes import Guard
from tests.operator.process import OperatorProcess, operator_kubeconfig
from tests.scenarios.proxy import FaultProxy


class Replica:
    """`busy`: something is being done to it, and nothing else may be done meanwhile."""

    def __init__(self, plane: ControlPlane, guard: Guard, folder: Path, name: str, flags: Sequence[str]) -> None:
        self.name = name
        self.proxy = FaultProxy(plane)
        self.busy = False
        self.deaf_until = 0.0  # by then it must have noticed that a watch is dead
        self.peak_mib = 0.0
        self._plane = plane
        self._guard = guard
        self._kubeconfig = folder / f"{name}.kubeconfig"
        self._flags = flags
        self.log = folder / f"{name}.log"
        self._process: OperatorProcess | None = None
        self._wanted = False
        self.tokens: list[str] = []

    @property
    def process(self) -> OperatorProcess:
        assert self._process is not None
        return self._process

    def start(self, offset: int = 0) -> None:
        self.kill()
        operator_kubeconfig(self._plane, self._kubeconfig, server=self.proxy.url)
        token = json.loads(self._kubeconfig.read_text())["users"][0]["user"]["token"]
        payload = token.split(".")[1]
        self.tokens.append(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["jti"])
        self._process = OperatorProcess(self._kubeconfig, self.log, self._flags)
        if offset:
            self._process.program = ("tests.chaos.operator", str(offset))
        self._process.start(ready=False)
        self._guard.watch(self._process.pid)
        self._wanted = True

    def kill(self) -> None:
        self._wanted = False
        if self._process is not None:
            self._process.kill()
            self._guard.forget(self._process.pid)

    def terminate(self) -> None:
        self._wanted = False
        self.signal(signal.SIGTERM)

    def signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.exit_code is None:
            self._process.signal(number)

    def died(self) -> int | None:
        """The exit code of a process that nobody ended."""
        return self._process.exit_code if self._wanted and self._process else None

    def measure(self) -> None:
        """Looks how much memory it has."""
        if self._process is None or self._process.exit_code is not None:
            return
        pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
        self.peak_mib = max(self.peak_mib, int(pages) * os.sysconf("SC_PAGESIZE") / 2**20)
