"""The ways in which two workers of a job are told of each other, and how a program is run in each.

A cluster's ways are played on this machine: each pod is a process with the very environment that it would have there,
its address a loopback address, in a network of its own. The local ways are `paddlejob run` itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddlejob.api import Job
from paddlejob.api.names import service_host
from paddlejob.api.spec import Intranet
from paddlejob.core import observe
from paddlejob.core.environment import shared_environment
from paddlejob.core.pods import pod
from paddlejob.local.invocation import Setting, Surroundings, environment
from tests.builders import a_job, a_template, pods_of
from tests.local.workbench import Workbench, a_role

CELL = Path(__file__).with_name("cell.py")
ALONE = ["unshare", "--user", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child"]
# Seconds after which programs that wait for each other are ended, unless it is said otherwise.
PATIENCE = 220
# Of the shell, only what a program needs to start.
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH")


@dataclass(frozen=True)
class Ran:
    """What two pods did."""

    codes: list[int]
    output: str

    @property
    def reports(self) -> list[dict[str, Any]]:
        lines = [line.partition("RESULT ")[2] for line in self.output.splitlines() if "RESULT " in line]
        return sorted((json.loads(line) for line in lines), key=lambda one: int(one["rank"]))


@dataclass(frozen=True)
class OnCluster:
    network: Intranet
    addresses: tuple[str, str]
    ports: bool = False

    def run(
        self, folder: Path, python: Path, command: Sequence[str], env: Mapping[str, str], patience: int = PATIENCE
    ) -> Ran:
        asked = [{"name": name, "value": value} for name, value in env.items()]
        job = a_job().with_workers(2, a_template(command=[*command], env=asked)).by(self.network)
        orders = self._orders((job.with_ports(20000) if self.ports else job).build(), folder, python)
        path = folder / "orders.json"
        path.write_text(json.dumps(orders))
        done = subprocess.run(
            [*ALONE, sys.executable, str(CELL), str(path), str(patience)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
        logs = [(Path(one["folder"]) / f"pod.{number}.log") for number, one in enumerate(orders["pods"])]
        return Ran(json.loads(done.stdout), "".join(log.read_text(errors="replace") for log in logs))

    def _orders(self, job: Job, folder: Path, python: Path) -> dict[str, Any]:
        placed = [one.with_address(at) for one, at in zip(pods_of(job).values(), self.addresses, strict=True)]
        observed = observe(job, [one.build() for one in placed])
        data = shared_environment(job, observed)
        assert data is not None
        around = Surroundings(folder, {})
        pods = []
        for slot, address in zip(observed.slots, self.addresses, strict=True):
            body = pod(job, slot)
            (container,) = body["spec"]["containers"]
            setting = Setting(body, address, {"ConfigMap/train": data}, folder, around)
            own = folder / slot.name
            own.mkdir()
            kept = {name: os.environ[name] for name in KEPT if name in os.environ}
            told = {**kept, **environment(container, setting)}
            told["PATH"] = f"{python.parent}:{told['PATH']}"
            pods.append({"argv": container["command"], "env": told, "folder": str(own)})
        names = {service_host(slot.name, "team"): at for slot, at in zip(observed.slots, self.addresses, strict=True)}
        return {"hosts": names if self.network == "Service" else {}, "pods": pods}


@dataclass(frozen=True)
class Here:
    flags: tuple[str, ...] = ()

    def run(
        self, folder: Path, python: Path, command: Sequence[str], env: Mapping[str, str], patience: int = PATIENCE
    ) -> Ran:
        bench = Workbench(folder)
        bench.env["PADDLEJOB_PYTHON"] = str(python)
        asked = [{"name": name, "value": value} for name, value in env.items()]
        scratch = folder / "$(PADDLE_TRAINER_ID)"
        role = a_role(2, "sh", "-c", f'mkdir -p "{scratch}" && cd "{scratch}" && exec "$@"', "sh", *command, env=asked)
        job = bench.write("train", worker=role, activeDeadlineSeconds=patience)
        done = bench.paddlejob("run", *self.flags, job, timeout=patience + 60)
        return Ran([done.returncode], done.stdout + done.stderr)


WAYS: dict[str, OnCluster | Here] = {
    "PodIP": OnCluster("PodIP", ("127.20.0.1", "127.20.0.2")),
    "Service": OnCluster("Service", ("127.20.0.1", "127.20.0.2")),
    "Host apart": OnCluster("Host", ("127.20.0.1", "127.20.0.2"), ports=True),
    "Host on one node": OnCluster("Host", ("127.20.0.1", "127.20.0.1"), ports=True),
    "local": Here(),
    "local on one address": Here(("--one-address",)),
}
