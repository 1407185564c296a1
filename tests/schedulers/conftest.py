"""What tests on real schedulers share. Each file has a control plane of its own, with its scheduler beside it and no
node: a test makes the `room` that it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.cluster.control_plane import OPERATOR_NAMESPACE, ControlPlane
from tests.operator.fixtures import MANIFEST
from tests.operator.process import operator_kubeconfig
from tests.schedulers.gangs import SERVERS_FIRST, make_priorities

MakeRoom = Callable[..., list[str]]
RIGHTS = MANIFEST.parent

_numbers = count(1)


@pytest.fixture(scope="module")
def installed(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the rights that come only for those who use a gang scheduler, and without pods that take room."""
    control_plane.kubectl("apply", "-f", str(MANIFEST))
    control_plane.kubectl("delete", "deployment", "--all", f"--namespace={OPERATOR_NAMESPACE}")
    for manifest in sorted(RIGHTS.glob("scheduling*.yaml")):
        control_plane.kubectl("apply", "-f", str(manifest))
    make_priorities(control_plane, **{SERVERS_FIRST: 1000})
    return operator_kubeconfig(control_plane, tmp_path_factory.mktemp("operator") / "kubeconfig")


@pytest.fixture
def room(control_plane: ControlPlane, namespace: str) -> Iterator[MakeRoom]:
    """Makes nodes with so many CPUs each; their names. They go with the test."""
    made: list[str] = []

    def make(cpus: int, nodes: int = 1) -> list[str]:
        names = [f"{namespace}-{next(_numbers)}" for _ in range(nodes)]
        for name in names:
            made.append(name)
            control_plane.add_node(name, capacity={"cpu": str(cpus), "memory": "1Ti", "pods": "1000"})
        return names

    yield make
    for name in made:
        control_plane.remove_node(name)
