"""Which addresses a job may make us talk to.

Whoever runs the operator reaches more than whoever submits a job: its own machine, the metadata of its cloud, the API
server. A job that names such an address is refused, unless the operator's flags allow it. On this machine a person runs
their own job and may use any.
"""

from __future__ import annotations

from ipaddress import AddressValueError, IPv4Address, IPv4Network

import msgspec

Refused = tuple[IPv4Network, str]
HIGHEST_PORT = 65535

NOT_FOR_JOBS: tuple[Refused, ...] = tuple(
    (IPv4Network(network), why)
    for network, why in (
        ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local"),
        ("0.0.0.0/8", "this host"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        # Those that are not link-local: of Alibaba Cloud, Azure and Oracle Cloud.
        ("100.100.100.200/32", "metadata of a cloud"),
        ("168.63.129.16/32", "metadata of a cloud"),
        ("192.0.0.192/32", "metadata of a cloud"),
    )
)


class Reach(msgspec.Struct, frozen=True):
    refused: tuple[Refused, ...] = ()
    """Networks, and what they are."""
    allowed: tuple[IPv4Network, ...] = ()
    """Exceptions."""

    def refusal(self, address: IPv4Address) -> str | None:
        """What is wrong with an address; None if nothing is."""
        if any(address in network for network in self.allowed):
            return None
        return next((why for network, why in self.refused if address in network), None)


EVERYWHERE = Reach()


def endpoint(text: str) -> tuple[IPv4Address, int] | None:
    """ADDRESS:PORT. None for names, and for the many other spellings of an address that resolvers know."""
    host, _, port = text.partition(":")
    try:
        address = IPv4Address(host)
    except AddressValueError:
        return None
    is_port = port.isascii() and port.isdigit() and len(port) <= len(str(HIGHEST_PORT))
    return (address, int(port)) if is_port and 1 <= int(port) <= HIGHEST_PORT else None
