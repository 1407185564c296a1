"""The fixtures of tests on a real cluster, which `make cluster` has started: without it they fail, they never skip.

What tests tell of their jobs is printed at the end of the run.
"""

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.node.cluster import Cluster, chosen
from tests.node.operator import Operator
from tests.node.user import User

HERE = Path(__file__).parent
TOLD = "told"
Tell = Callable[[str], None]

_told: list[str] = []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("node")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call":
        _told.extend(str(line) for name, line in report.user_properties if name == TOLD)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in sorted(_told):
        terminalreporter.write_line(line)


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Tell:
    """A line for the end of the run; whoever runs the test hands it on to whoever prints."""
    return lambda line: record_property(TOLD, line)


@pytest.fixture(scope="session")
def cluster() -> Cluster:
    found = chosen()
    if not found.is_up():
        pytest.exit("there is no cluster on this machine: `make cluster` starts one", returncode=1)
    return found


@pytest.fixture
def operator(cluster: Cluster) -> Operator:
    """Installed and ready."""
    found = Operator(cluster)
    if not found.is_installed():
        found.install()
    found.wait_until_ready()
    return found


@pytest.fixture
def user(operator: Operator) -> Iterator[User]:
    """In a namespace of the test's own, which goes with all that is in it."""
    name = f"test-{secrets.token_hex(4)}"
    operator.cluster.kubectl("create", "namespace", name)
    yield User(operator.cluster, name)
    operator.cluster.kubectl("delete", "namespace", name, "--wait=false")
