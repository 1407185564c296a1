"""A laptop with jobs that really run: one that has ended, one that failed, one that trains and prints as it goes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from paddlejob.api.names import ROLES
from tests.cluster.waiting import wait_until
from tests.local.workbench import Workbench, a_role

HELLO = r"""printf 'hello \033[1;32mgreen\033[0m and \033[31mred\033[0m\n'
printf '<script>document.title="pwned"</script><img src=x onerror="document.title=1">\n'
printf '\033[2J\033]0;title\007after the noise\n'"""
# As PaddleNLP's Trainer tells how far it is.
TRAIN = """echo 'Total optimization steps = 6000'; i=0
while [ $i -lt 6000 ]; do
  i=$((i + 1)); loss=0.$((9000000 / (i + 900))); speed=4.$((70 + i % 47 / 3))
  echo "loss: $loss, learning_rate: 1e-05, global_step: $i, interval_steps_per_second: $speed"; sleep 0.2
done"""
FAIL = 'echo "Traceback: no such file <b>data.csv</b>"; exit 3'


class Laptop:
    def __init__(self, folder: Path) -> None:
        self.bench = Workbench(folder)
        kept = {key: value for key, value in self.bench.env.items() if not key.startswith(("KUBE", "PADDLEJOB"))}
        self.bench.env = {**kept, "HOME": str(folder), "NO_PROXY": "*", "SSL_CERT_FILE": os.devnull}

    @property
    def env(self) -> dict[str, str]:
        return self.bench.env

    def submit(self, name: str, script: str, workers: int = 1, **spec: Any) -> None:
        """In the background, as `paddlejob submit --local` does it."""
        roles = {role: a_role(count, "sh", "-c", script) for role, count in spec.items() if role in ROLES}
        others = {key: value for key, value in spec.items() if key not in ROLES}
        path = self.bench.write(name, worker=a_role(workers, "sh", "-c", script), **roles, **others)
        done = self.bench.paddlejob("submit", "--local", path)
        assert done.returncode == 0, done.stderr

    def with_jobs(self) -> Laptop:
        self.submit("hello", HELLO, 2)
        self.submit("broken", FAIL)
        self.submit("train", TRAIN, 2, ps=1)
        self.bench.ended("hello")
        self.bench.ended("broken")
        self.bench.in_phase("train", "Running")
        return self

    def names(self) -> set[str]:
        done = self.bench.paddlejob("list", "--local", "-o", "name")
        return {line.rpartition("/")[2] for line in done.stdout.split()}

    def until_gone(self, name: str) -> None:
        wait_until(lambda: name not in self.names())

    def close(self) -> None:
        for name in self.names():
            self.bench.paddlejob("delete", "--local", name)
        self.bench.close()
