"""Addresses for pods: their own where the machine has them, ports of their own where it has not."""

from __future__ import annotations

import contextlib
import random
import socket
from functools import partial
from itertools import islice

from paddlejob.local.addresses import (
    can_bind,
    claim_common_port,
    common_port_is_free,
    free_block,
    has_many_addresses,
    own_addresses,
)


def test_every_pod_gets_another_address_of_the_loopback_network() -> None:
    found = list(islice(own_addresses(random.Random(1)), 1000))
    assert len(set(found)) == 1000
    assert all(one.startswith("127.") and not one.startswith("127.0.") for one in found)
    assert all(0 < int(part) < 255 for one in found for part in one.split(".")[3:])


def is_free_but_for(taken: int, _: str, port: int) -> bool:
    return port != taken


def test_the_usual_port_is_not_used_where_somebody_has_it_or_the_next_one() -> None:
    assert common_port_is_free(bind=lambda host, port: True)
    for taken in (2379, 2380):
        assert not common_port_is_free(bind=partial(is_free_but_for, taken))


def test_only_one_job_of_a_machine_has_the_usual_port() -> None:
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(one) for one in (claim_common_port(), claim_common_port()) if one is not None]
        assert len(held) <= 1  # none, if a job runs beside this test
        assert claim_common_port() is None


def test_a_block_of_ports_is_free_in_a_row() -> None:
    busy = {20003}
    rng = random.Random(3)
    first = free_block(10, rng, bind=lambda host, port: port not in busy)
    assert not busy & set(range(first, first + 10))
    assert first + 10 < 32768  # outgoing connections take their ports from there on


def test_binding_tells_whether_a_port_is_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert not can_bind("127.0.0.1", taken.getsockname()[1])
    assert has_many_addresses(bind=lambda host, port: True)
    assert not has_many_addresses(bind=lambda host, port: False)
