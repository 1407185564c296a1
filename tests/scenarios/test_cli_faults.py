"""Commands that go on while the network does not: a wait survives whatever a watch can meet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.person import Person
from tests.cluster.waiting import wait_until
from tests.scenarios.desk import Desk, a_job
from tests.scenarios.exchange import Answer, is_watch
from tests.scenarios.open_watch import Order
from tests.scenarios.proxy import FaultProxy

pytestmark = pytest.mark.usefixtures("operator")


@pytest.fixture
def proxy(desk: Desk) -> Iterator[FaultProxy]:
    with FaultProxy(desk.control_plane) as started:
        yield started


@pytest.fixture
def far(person: Person, proxy: FaultProxy, desk: Desk) -> Person:
    """Whose cluster is behind the proxy."""
    path = Path(person.env["KUBECONFIG"])
    path.write_text(path.read_text().replace(desk.control_plane.url, proxy.url))
    return person


@pytest.mark.parametrize("order", ["close", "break", "expire"])
def test_a_wait_survives_the_end_of_its_watch(far: Person, proxy: FaultProxy, desk: Desk, order: Order) -> None:
    desk.submit(a_job("tried"))
    desk.in_phase("tried", "Running")
    with far.follows("wait", "tried") as screen:
        wait_until(lambda: proxy.open_watches == 1)
        with proxy.faulty(Answer(410, reason="Expired"), is_watch, times=1):
            proxy.order_watches(order)
            desk.finish_workers("tried")
            screen.shows("tried: Completed: 2 of 2 workers succeeded")
        assert screen.ends() == 0


def test_an_api_server_that_is_overloaded_is_told_as_such(far: Person, proxy: FaultProxy) -> None:
    with proxy.faulty(Answer(503)):
        said = far.pipes("list")
    assert said.code == 3
    assert "the API server cannot answer right now" in said.sentence
