"""`etcd`: a real one, empty, for one test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.binaries import Binaries
from tests.etcd.server import EtcdServer


@pytest.fixture
def etcd(binaries: Binaries, tmp_path: Path) -> Iterator[EtcdServer]:
    server = EtcdServer(binaries.etcd, tmp_path)
    try:
        server.start()
        yield server
    finally:
        server.close()
