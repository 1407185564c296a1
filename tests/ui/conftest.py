"""Fixtures of tests of the page: `chromium` (one per file), `laptop` (its jobs run once per file) and `visit`.

The browser is installed before the first test, outside every test's time limit: that takes minutes on a busy machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.ui.browser import Driver, Visitor, a_browser, installed
from tests.ui.laptop import Laptop
from tests.ui.served import Served, serving
from tools.installer import CannotMake
from tools.page_checks import node_modules

Visit = Callable[..., Visitor]


def pytest_collection_finish(session: pytest.Session) -> None:
    wanted = any("chromium" in getattr(item, "fixturenames", ()) for item in session.items)
    if wanted and not session.config.option.collectonly:
        with suppress(CannotMake):  # each test says so itself
            installed()
            node_modules()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Driver]:
    with a_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def laptop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laptop]:
    made = Laptop(tmp_path_factory.mktemp("laptop"))
    try:
        yield made.with_jobs()
    finally:
        made.close()


@pytest.fixture(scope="module")
def served(laptop: Laptop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page over the laptop's jobs, without a cluster."""
    with serving(laptop.env, tmp_path_factory.mktemp("served")) as started:
        yield started


@pytest.fixture
def visit(chromium: Driver) -> Iterator[Visit]:
    """Opens a page; what went wrong in it fails the test."""
    visitors: list[Visitor] = []

    def open_page(address: str, **options: Any) -> Visitor:
        visitors.append(Visitor(chromium, address, **options))
        return visitors[-1]

    yield open_page
    for one in visitors:
        one.close()
    assert [error for one in visitors for error in one.errors] == []


@pytest.fixture
def page(visit: Visit, served: Served) -> Visitor:
    return visit(served.address)


@pytest.fixture(scope="session")
def pictures() -> Path:
    """Where pictures are kept as build output."""
    return Path(__file__).parents[2] / "build" / "page"
