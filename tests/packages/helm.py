"""helm, as a person calls it with our chart; what it knows of other charts and clusters is left out."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import yaml

CHART = Path(__file__).parents[2] / "charts" / "paddle-operator"
RELEASE, NAMESPACE = "paddle", "paddle-system"
Json = dict[str, Any]


class HelmFailed(AssertionError):
    """The message is what helm printed."""


class Helm:
    def __init__(self, program: Path, home: Path, kubeconfig: Path) -> None:
        self._program = program
        self._home = home
        self._env = {"HOME": str(home), "KUBECONFIG": str(kubeconfig), "PATH": os.environ["PATH"], "NO_PROXY": "*"}

    def __call__(self, *args: str) -> str:
        """What it prints as its answer; both outputs, if it fails."""
        done = subprocess.run(
            [self._program, *args], env=self._env, cwd=self._home, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise HelmFailed(f"helm {' '.join(args)}: {done.stderr}{done.stdout}")
        return done.stdout

    def file(self, values: Json) -> str:
        path = self._home / "values.yaml"
        path.write_text(yaml.safe_dump(values))
        return f"--values={path}"

    def template(self, values: Json | None = None, chart: Path = CHART, namespace: str = NAMESPACE) -> list[Json]:
        # Built as a plain Go module, helm 3 takes a cluster that it cannot ask for one that is years old.
        how = (f"--namespace={namespace}", "--kube-version=1.34.0", self.file(values or {}))
        text = self("template", RELEASE, str(chart), *how)
        return [one for one in yaml.safe_load_all(text) if one]

    def install(self, *args: str, values: Json | None = None, chart: Path = CHART) -> str:
        where = (f"--namespace={NAMESPACE}", "--create-namespace", "--wait", "--timeout=2m")
        return self("install", RELEASE, str(chart), *where, self.file(values or {}), *args)

    def upgrade(self, *args: str, values: Json | None = None, chart: Path = CHART) -> str:
        where = (f"--namespace={NAMESPACE}", "--wait", "--timeout=2m")
        return self("upgrade", RELEASE, str(chart), *where, self.file(values or {}), *args)

    def uninstall(self) -> str:
        return self("uninstall", RELEASE, f"--namespace={NAMESPACE}", "--wait", "--timeout=2m")
