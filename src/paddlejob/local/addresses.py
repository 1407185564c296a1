"""An address for every pod: one of its own on the loopback network, or 127.0.0.1 for all where only that exists.

Linux answers on all of 127.0.0.0/8 without any set-up; macOS only on 127.0.0.1. There pods share it, and each gets a
port of its own from a free block that is written on the job.
"""

from __future__ import annotations

import random
import socket
from collections.abc import Callable, Iterator

from paddlejob.api.names import PORT

ONLY = "127.0.0.1"
LOW, HIGH = 35000, 60000

CanBind = Callable[[str, int], bool]


def can_bind(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def has_many_addresses(bind: CanBind = can_bind) -> bool:
    return bind("127.77.77.77", 0)


def own_addresses(rng: random.Random, bind: CanBind = can_bind) -> Iterator[str]:
    """Addresses for one job, away from those of other jobs: a block chosen by chance, and free on Paddle's ports."""
    second, third = rng.randrange(16, 240), rng.randrange(0, 256)
    number = 0
    while True:
        number += 1
        upper, last = divmod(third * 256 + number, 256)
        if last in (0, 255):
            continue
        address = f"127.{second + upper // 256 % 16}.{upper % 256}.{last}"
        if bind(address, PORT) and bind(address, PORT + 1):
            yield address


def free_block(size: int, rng: random.Random, bind: CanBind = can_bind) -> int:
    """The first of `size` ports in a row that nobody listens on."""
    while True:
        first = rng.randrange(LOW, HIGH - size)
        if all(bind(ONLY, port) for port in range(first, first + size)):
            return first
