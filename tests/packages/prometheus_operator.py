"""The CRDs of the Prometheus Operator, from the Go module that holds them; nothing of it is built."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from tests.cluster.binaries import MODULES

MODULE = "github.com/prometheus-operator/prometheus-operator"


def crds(*plurals: str) -> list[Path]:
    done = subprocess.run(
        ["go", "mod", "download", "-json", MODULE],
        cwd=MODULES / "prometheus-operator",
        env={**os.environ, "GOFLAGS": "-mod=mod"},
        capture_output=True,
        text=True,
        check=True,
    )
    folder = Path(json.loads(done.stdout)["Dir"]) / "example" / "prometheus-operator-crd"
    return [folder / f"monitoring.coreos.com_{plural}.yaml" for plural in plurals]
