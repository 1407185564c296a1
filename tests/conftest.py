"""Fixtures that every test may ask for; asking for `control_plane` or `namespace` makes it a test on a cluster."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest

# They need root, programs that nothing else needs, or a machine for themselves: only who names them runs them.
APART = tuple(Path(__file__).parent / name for name in ("node", "schedulers", "packages", "compatibility", "hangs"))

# Files that take long come first, the longest before all others, so that no process is left alone with one of them at
# the end. The order of the others, and of the tests in each, is another in every run.
LONG = (
    "tests/chaos/test_campaign",
    "tests/node/test_elastic",
    "tests/node/test_losses",
    "tests/training/test_elastic",
    "tests/training/test_restarts",
    "tests/training/test_training",
    "tests/scenarios/test_cli_jobs",
    "tests/deploy/test_install",
    "tests/scenarios/test_faults",
    "tests/sdk/test_installed",
    "tests/deploy/test_rights",
    "tests/scenarios/test_killed",
    "tests/docs/test_documents",
    "tests/scenarios/test_host_network",
    "tests/scenarios/test_elastic",
    "tests/scenarios/test_cli_places",
    "tests/docs/test_cli",
    "tests/scenarios/test_cli_install",
    "tests/scenarios/test_leaders",
    "tests/sdk/test_on_cluster",
    "tests/sdk/test_document_trains",
    "tests/docs",
    "tests/tools/test_installer",
    "tests/local/test_life",
    "tests/local/test_no_orphans",
    "tests/local/test_single_lives",
    "tests/local/test_run",
    "tests/core/properties",
    "tests/scenarios",
    "tests/training",
)

pytest_plugins = [
    "tests.progress",
    "tests.cluster.fixtures",
    "tests.operator.fixtures",
    "tests.local.fixtures",
    "tests.cli.fixtures",
    "tests.etcd.fixtures",
    "tests.training.fixtures",
]


def pytest_configure(config: pytest.Config) -> None:
    """Before Python 3.14 pytest-asyncio's question for the current loop makes one that nobody closes, and warnings
    are errors here. Once it has been said that there is none, none is made."""
    asyncio.set_event_loop(None)
    if sys.version_info < (3, 11):
        # That Python warns of every TLS connection that the other side closed, although nothing of it is left open.
        lost = "ignore:unclosed transport <asyncio.sslproto._SSLProtocolTransport:ResourceWarning"
        config.addinivalue_line("filterwarnings", lost)
    # A shell's background has it ignored, and so has every program that a test starts: then none hears Ctrl-C.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Each of these folders has a target of its own in the Makefile."""
    if collection_path not in APART:
        return None
    named = (config.invocation_params.dir / argument.partition("::")[0] for argument in config.args)
    return not any(path.is_relative_to(collection_path) for path in named) or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> int:
        return next((at for at, name in enumerate(LONG) if item.nodeid.startswith(name)), len(LONG))

    items.sort(key=place)
    for item in items:
        if "binaries" in getattr(item, "fixturenames", ()):
            item.add_marker("cluster")
