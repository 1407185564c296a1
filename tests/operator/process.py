"""The operator as users run it: a process of its own, with the rights of `deploy/v1/operator.yaml` and no others.

Each test starts its own for its own namespace, so that tests do not meet.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from tests.cluster.control_plane import OPERATOR_NAMESPACE, ControlPlane
from tests.cluster.processes import free_ports
from tests.cluster.waiting import wait_until

ACCOUNT = "paddle-controller-manager"


class OperatorProcess:
    program: tuple[str, ...] = ("paddlejob", "operator")

    def __init__(self, kubeconfig: Path, log: Path, args: Sequence[str]) -> None:
        self._kubeconfig = kubeconfig
        self._args = args
        self.log = log
        self._process: subprocess.Popen[bytes] | None = None
        self.health = self.metrics = 0

    @property
    def pid(self) -> int:
        assert self._process is not None, "the operator is not running"
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        return self._process.poll() if self._process else None

    def start(self, *, ready: bool = True) -> OperatorProcess:
        self.health, self.metrics = free_ports(2)
        command = [sys.executable, "-m", *self.program, f"--kubeconfig={self._kubeconfig}", *self._args]
        command += [f"--health-probe-bind-address=127.0.0.1:{self.health}"]
        command += [f"--metrics-bind-address=127.0.0.1:{self.metrics}"]
        # The cluster has its own authority: to load all of the system's takes a while.
        env = {**os.environ, "NO_PROXY": "*", "SSL_CERT_FILE": os.devnull}
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, env=env)
        if ready:
            wait_until(self.is_ready, timeout=180)  # for what is broken: a busy machine takes its time
        return self

    def is_ready(self) -> bool:
        assert self.exit_code is None, f"the operator ended: {self.log.read_text()[-2000:]}"
        return self.answers("/readyz")

    def answers(self, path: str) -> bool:
        try:
            with urlopen(f"http://127.0.0.1:{self.health}{path}", timeout=2) as response:
                return bool(response.status == 200)
        except (URLError, OSError):
            return False

    def scrape(self) -> str:
        with urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=5) as response:
            return str(response.read().decode())

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        """As a machine that loses power."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def stop(self, timeout: float = 60) -> int:
        """As Kubernetes ends a pod; the exit code."""
        if self._process is None:
            return 0
        if self._process.poll() is None:
            self._process.terminate()
        return self._process.wait(timeout)


def operator_kubeconfig(control_plane: ControlPlane, path: Path, server: str | None = None) -> Path:
    """The credentials of the operator's own service account, perhaps through another address (a proxy)."""
    written = control_plane.kubeconfig(
        path, token=control_plane.token_for(ACCOUNT, OPERATOR_NAMESPACE), namespace=OPERATOR_NAMESPACE
    )
    if server is not None:
        written.write_text(written.read_text().replace(control_plane.url, server))
    return written
