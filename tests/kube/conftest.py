"""What the tests of this folder share: a fake API server and a client of it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from paddlejob.kube.client import Client
from tests.kube.fake_server import FakeServer, a_server


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with a_server() as running:
        yield running


@pytest.fixture
async def client(server: FakeServer) -> AsyncIterator[Client]:
    async with Client(server.config()) as connected:
        yield connected
