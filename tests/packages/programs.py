"""The programs that these tests need besides a control plane; each is built by who asks for it."""

from dataclasses import dataclass
from pathlib import Path

from tests.cluster.binaries import Programs


@dataclass(frozen=True)
class Helm3(Programs):
    helm: Path


@dataclass(frozen=True)
class Helm4(Programs):
    helm_4: Path


@dataclass(frozen=True)
class Prometheus(Programs):
    promtool: Path
