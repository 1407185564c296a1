"""An address for every pod: one of its own on the loopback network, or 127.0.0.1 for all where only that exists.

Linux answers on all of 127.0.0.0/8 without any set-up; macOS only on 127.0.0.1. There pods share it, and each gets a
port of its own from a free block that is written on the job; so it is, too, where somebody has Paddle's usual port.
"""

from __future__ import annotations

import random
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, repeat

from paddlejob.api.names import PORT

ONLY = "127.0.0.1"
EVERYWHERE = "0.0.0.0"
# Below the range from which the kernel gives outgoing connections their ports: there a free port may be gone a second
# later.
LOW, HIGH = 10000, 32000

CanBind = Callable[[str, int], bool]


@dataclass(frozen=True)
class Endpoints:
    """Where the pods of a job listen: their addresses, and the first of a block of ports if they need their own."""

    addresses: Iterator[str]
    first_port: int | None
    holder: socket.socket | None = None
    """Keeps the usual port for this job as long as it is open."""

    def close(self) -> None:
        if self.holder is not None:
            self.holder.close()


def find_endpoints(ports: int, *, one_address: bool = False) -> Endpoints:
    rng = random.Random()
    many = not one_address and has_many_addresses()
    addresses = own_addresses(rng) if many else repeat(ONLY)
    holder = claim_common_port() if many and common_port_is_free() else None
    return Endpoints(addresses, None if holder else free_block(ports, rng), holder)


def claim_common_port() -> socket.socket | None:
    """One job of a machine at a time: its launcher may take the port on every address, at any moment."""
    holder = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        holder.bind("\0paddlejob/common-port")  # Linux's names without a file: gone with their process
    except OSError:
        holder.close()
        return None
    return holder


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


def common_port_is_free(bind: CanBind = can_bind) -> bool:
    """Whether pods can use the port they have on a cluster: an etcd has the same, and so has every Paddle launcher."""
    return bind(EVERYWHERE, PORT) and bind(EVERYWHERE, PORT + 1)


def own_addresses(rng: random.Random) -> Iterator[str]:
    """Addresses for one job, in a block chosen by chance, away from those of other jobs."""
    for number in count((127 << 24) + rng.randrange(16 << 16, 240 << 16, 256)):
        if number % 256 not in (0, 255):
            yield socket.inet_ntoa(number.to_bytes(4, "big"))


def free_block(size: int, rng: random.Random, bind: CanBind = can_bind) -> int:
    """The first of `size` ports in a row that nobody listens on."""
    while True:
        first = rng.randrange(LOW, HIGH - size)
        if all(bind(EVERYWHERE, port) for port in range(first, first + size)):
            return first
