"""The fixtures of tests with the programs of other people: helm, in both its major versions, and promtool.

`make packages` builds them before; who names these tests runs them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.binaries import Binaries, find_all
from tests.cluster.control_plane import ControlPlane
from tests.packages.helm import Helm
from tests.packages.programs import Helm3, Helm4

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("packages")


@pytest.fixture(scope="module", params=["helm 3", "helm 4"])
def program(request: pytest.FixtureRequest) -> Path:
    """Either helm."""
    return find_all(Helm3, print).helm if request.param == "helm 3" else find_all(Helm4, print).helm_4


@pytest.fixture
def helm(program: Path, tmp_path: Path) -> Helm:
    """Without a cluster."""
    return Helm(program, tmp_path, tmp_path / "no-kubeconfig")


@pytest.fixture(scope="module")
def empty(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A cluster that has never heard of us."""
    with ControlPlane(binaries, tmp_path_factory.mktemp("empty")) as started:
        yield started


@pytest.fixture
def administrator(program: Path, empty: ControlPlane, tmp_path: Path) -> Helm:
    """With a cluster, and every right on it."""
    return Helm(program, tmp_path, empty.kubeconfig(tmp_path / "kubeconfig"))
