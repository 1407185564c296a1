"""Fixtures that every test may ask for; asking for `control_plane` or `namespace` makes it a test on a cluster."""

import asyncio
import signal

import pytest

# Files that take long come first, so that no process is left alone with one of them at the end.
LONG = (
    "tests/training/test_elastic",
    "tests/scenarios/test_killed",
    "tests/training/test_restarts",
    "tests/docs",
    "tests/training",
    "tests/sdk/test_installed",
    "tests/sdk/test_document",
    "tests/local/test_life",
    "tests/scenarios",
    "tests/deploy",
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


def pytest_configure() -> None:
    """Before Python 3.14 pytest-asyncio's question for the current loop makes one that nobody closes, and warnings
    are errors here. Once it has been said that there is none, none is made."""
    asyncio.set_event_loop(None)
    # A shell's background has it ignored, and so has every program that a test starts: then none hears Ctrl-C.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> int:
        return next((at for at, name in enumerate(LONG) if item.nodeid.startswith(name)), len(LONG))

    items.sort(key=place)
    for item in items:
        if "binaries" in getattr(item, "fixturenames", ()):
            item.add_marker("cluster")
