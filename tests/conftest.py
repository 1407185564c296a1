"""Fixtures that every test may ask for; asking for `control_plane` or `namespace` makes it a test on a cluster."""

import asyncio

pytest_plugins = [
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
