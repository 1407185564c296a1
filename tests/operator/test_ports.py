"""What the operator shows on its ports, and how it ends."""

from __future__ import annotations

import time

import pytest

from paddlejob.operator.server import BadAddress, parse_address
from tests.cluster.waiting import wait_until
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import Desk, a_job, a_role

ADDRESSES = {":8080": (None, 8080), "127.0.0.1:1": ("127.0.0.1", 1), "[::1]:65535": ("::1", 65535), "0": (None, 0)}


@pytest.mark.parametrize("text", ADDRESSES)
def test_an_address_is_read(text: str) -> None:
    assert parse_address(text) == ADDRESSES[text]


@pytest.mark.parametrize("text", ["8080", ":0", ":65536", "host:", "host:http", ""])
def test_a_bad_address_is_refused(text: str) -> None:
    with pytest.raises(BadAddress, match="write HOST:PORT"):
        parse_address(text)


def test_metrics_tell_what_happens_without_naming_a_job(desk: Desk, operator: OperatorProcess) -> None:
    for name in ("measured", "running"):
        desk.submit(a_job(name, worker=a_role(1)))
        desk.in_phase(name, "Running")
    desk.finish_workers("measured")
    desk.in_phase("measured", "Completed")
    text = operator.scrape()
    assert 'paddlejob_jobs{phase="Completed"} 1.0' in text
    assert 'paddlejob_jobs{phase="Running"} 1.0' in text
    assert "paddlejob_time_to_running_seconds_count 2.0" in text
    assert 'paddlejob_api_calls_total{code="201",resource="pods",verb="create"} 2.0' in text
    assert "paddlejob_queue_depth 0.0" in text
    assert "measured" not in text


def test_sigterm_ends_the_operator_in_order_within_five_seconds(operator: OperatorProcess) -> None:
    assert operator.answers("/healthz")
    began = time.monotonic()
    assert operator.stop() == 0
    assert time.monotonic() - began < 5
    assert "stopped" in operator.log.read_text()


def test_it_is_not_ready_before_its_caches_are(desk: Desk, operator: OperatorProcess) -> None:
    operator.stop()
    desk.control_plane.apiserver.freeze()
    try:
        operator.start(ready=False)
        wait_until(lambda: operator.answers("/healthz"))
        assert not operator.answers("/readyz")
    finally:
        desk.control_plane.apiserver.thaw()
    wait_until(operator.is_ready, timeout=60)
