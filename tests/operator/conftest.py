"""What the tests of this folder share that need an operator and no control plane."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from paddlejob.operator.main import Operator
from paddlejob.operator.options import Options
from tests.operator.fake_cluster import FakeCluster, a_cluster

StartInside = Callable[..., Awaitable["asyncio.Task[None]"]]


@pytest.fixture
async def cluster() -> AsyncIterator[FakeCluster]:
    async with a_cluster() as running:
        yield running


@pytest.fixture
async def start(cluster: FakeCluster) -> AsyncIterator[StartInside]:
    """Starts operators in this process; they end with the test."""
    started: list[asyncio.Task[None]] = []

    async def one(**options: Any) -> asyncio.Task[None]:
        given = Options(**{"health_address": "0", "metrics_address": "0", **options})
        started.append(asyncio.create_task(Operator(cluster.config(), given).run()))
        return started[-1]

    yield one
    for task in started:
        task.cancel()
    await asyncio.gather(*started, return_exceptions=True)
    gc.unfreeze()  # an operator freezes what it has read first
