"""Fixtures of tests that train with real PaddlePaddle on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.local.workbench import Workbench
from tools.environments import PADDLE, python_of


@pytest.fixture(scope="session")
def paddle() -> Path:
    """A Python with PaddlePaddle 2.6.2; `make test` has made it before, with the same pins."""
    return python_of(f"paddle-{PADDLE}")


@pytest.fixture
def laptop(bench: Workbench, paddle: Path) -> Workbench:
    bench.env["PADDLEJOB_PYTHON"] = str(paddle)
    return bench
