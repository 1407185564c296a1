"""Fixtures of tests that type commands: `person` (with the test's namespace) and `kubelet` (a node that has logs)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.kubelet import NODE, Kubelet
from tests.cli.person import Person
from tests.cluster.control_plane import ControlPlane
from tests.scenarios.desk import Desk


@pytest.fixture
def person(desk: Desk, tmp_path: Path) -> Person:
    home = tmp_path / "home"
    home.mkdir()
    kubeconfig = desk.control_plane.kubeconfig(tmp_path / "kubeconfig", namespace=desk.namespace)
    return Person(home, kubeconfig)


@pytest.fixture
def kubelet(control_plane: ControlPlane, tmp_path: Path) -> Iterator[Kubelet]:
    made = Kubelet(control_plane, tmp_path)
    yield made
    made.close()
    control_plane.remove_node(NODE)
