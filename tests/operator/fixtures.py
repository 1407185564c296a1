"""Fixtures of tests that need an operator: `installed` (its rights, from deploy/), `operator` and `desk`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cluster.control_plane import ControlPlane
from tests.operator.process import OperatorProcess, operator_kubeconfig
from tests.scenarios.desk import Desk

MANIFEST = Path(__file__).parents[2] / "deploy" / "v1" / "operator.yaml"

StartOperator = Callable[..., OperatorProcess]


@pytest.fixture(scope="session")
def installed(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install as a user would; its pods are simulated and do nothing. The kubeconfig of its service account."""
    control_plane.kubectl("apply", "-f", str(MANIFEST))
    return operator_kubeconfig(control_plane, tmp_path_factory.mktemp("operator") / "kubeconfig")


@pytest.fixture
def start_operator(installed: Path, tmp_path: Path) -> Iterator[StartOperator]:
    """Starts operators that end with the test."""
    started: list[OperatorProcess] = []

    def start(*args: str, kubeconfig: Path = installed, ready: bool = True) -> OperatorProcess:
        one = OperatorProcess(kubeconfig, tmp_path / f"operator-{len(started)}.log", args)
        started.append(one)
        return one.start(ready=ready)

    yield start
    for one in started:
        one.kill()


@pytest.fixture
def operator(start_operator: StartOperator, namespace: str) -> OperatorProcess:
    """An operator for the test's namespace."""
    return start_operator(f"--namespace={namespace}")


@pytest.fixture
def desk(control_plane: ControlPlane, namespace: str, installed: Path) -> Desk:
    assert installed.exists()
    return Desk(control_plane, namespace)
