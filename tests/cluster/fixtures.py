"""The fixtures of tests that need a cluster: `control_plane` (one per run, started by the first that asks) and
`namespace` (one per test).

Programs are found or built before the first test, outside every test's time limit. Where that is impossible such
tests are skipped with one loud line; under CI=true the run fails, because a skip there would look like a success.
"""

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.cluster.binaries import Binaries, BinariesMissing, find_binaries
from tests.cluster.control_plane import ControlPlane

# Kinds that must be known before the controllers start.
CRD = Path(__file__).parents[2] / "deploy" / "v1" / "crd.yaml"

_found = pytest.StashKey[Binaries]()
_missing = pytest.StashKey[str]()
_numbers = count(1)


def pytest_collection_finish(session: pytest.Session) -> None:
    config = session.config
    wanting = [item for item in session.items if "binaries" in getattr(item, "fixturenames", ())]
    if not wanting or config.option.collectonly:
        return
    try:
        config.stash[_found] = find_binaries(lambda line: _say(config, line))
    except BinariesMissing as error:
        if os.environ.get("CI") == "true":
            pytest.exit(str(error), returncode=1)
        config.stash[_missing] = f"{len(wanting)} TESTS NEED A CLUSTER AND DID NOT RUN: {error}"
        for item in wanting:
            item.add_marker(pytest.mark.skip(reason="needs a cluster"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if missing := config.stash.get(_missing, None):
        terminalreporter.write_line(missing, red=True, bold=True)


@pytest.fixture(scope="session")
def binaries(pytestconfig: pytest.Config) -> Binaries:
    return pytestconfig.stash[_found]


@pytest.fixture(scope="session")
def control_plane(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """Shared by the whole run: a test that changes it (a restart, a node) puts it back."""
    manifests = [CRD] if CRD.exists() else []
    with ControlPlane(binaries, tmp_path_factory.mktemp("cluster"), manifests=manifests) as started:
        yield started


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    """A namespace of the test's own, with its service account; what runs there is deleted when the test ends.

    The empty namespace stays: to delete it, the controllers would ask for every kind of object that there is.
    """
    name = f"test-{next(_numbers)}"
    control_plane.add_namespace(name)
    yield name
    for path in ("apis/batch.paddlepaddle.org/v1/namespaces/{}/paddlejobs", "api/v1/namespaces/{}/pods"):
        control_plane.api.delete(f"/{path.format(name)}", gracePeriodSeconds=0)


def _say(config: pytest.Config, line: str) -> None:
    """Prints now, also while pytest captures."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if isinstance(reporter, pytest.TerminalReporter):
        reporter.ensure_newline()
        reporter.write_line(line)
