"""A person with a laptop: writes job files, runs them with the `paddlejob` command, and looks at what happens."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from paddlejob.local.state import State, find
from paddlejob.local.supervisor.proc import marked
from tests.cluster.waiting import wait_until

Json = dict[str, Any]


def a_role(replicas: int, *command: str, **container: Any) -> Json:
    paddle = {"name": "paddle", "image": "paddle:test", "command": list(command), **container}
    return {"replicas": replicas, "template": {"spec": {"containers": [paddle]}}}


class Workbench:
    """Everything below one folder: files, state, logs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "COLUMNS": "200"}
        self._started: list[subprocess.Popen[str]] = []

    @property
    def state_root(self) -> Path:
        return self.folder / "state" / "paddlejob"

    def write(self, name: str, **spec: Any) -> Path:
        path = self.folder / f"{name}.yaml"
        job = {
            "apiVersion": "batch.paddlepaddle.org/v1",
            "kind": "PaddleJob",
            "metadata": {"name": name},
            "spec": spec,
        }
        path.write_text(yaml.safe_dump(job))
        return path

    def paddlejob(self, *args: str | Path, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "paddlejob", *map(str, args)]
        return subprocess.run(command, env=self.env, capture_output=True, text=True, check=False, timeout=timeout)

    def start(self, *args: str | Path, quiet: bool = False) -> subprocess.Popen[str]:
        """In the background; ended with the test. `quiet` when there is much to say and nobody to read it."""
        command = [sys.executable, "-m", "paddlejob", *map(str, args)]
        output = subprocess.DEVNULL if quiet else subprocess.PIPE
        started = subprocess.Popen(
            command, env=self.env, stdout=output, stderr=subprocess.STDOUT, text=True, cwd=self.folder
        )
        self._started.append(started)
        return started

    def state(self, name: str) -> State:
        return find(self.state_root, "default", name)[1]

    def until(self, name: str, check: Callable[[State], object], timeout: float = 60) -> State:
        def found() -> State:
            assert (self.state_root / "default" / name / "state.json").exists()
            state = self.state(name)
            assert check(state), state.job.status
            return state

        return wait_until(found, timeout)

    def in_phase(self, name: str, phase: str, timeout: float = 60) -> State:
        return self.until(name, lambda state: state.job.status.phase == phase, timeout)

    def ended(self, name: str, timeout: float = 60) -> State:
        return self.until(name, lambda state: state.ended, timeout)

    def processes(self, state: State) -> list[int]:
        """What is alive of the job's containers."""
        return [pid for pod in state.pods for pid in marked(f"PADDLEJOB_CONTAINER={pod.metadata.uid}/paddle")]

    def close(self) -> None:
        for one in self._started:
            one.kill()
            one.wait()
            if one.stdout:
                one.stdout.close()
