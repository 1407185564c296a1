"""Where the etcd of a job may be when an operator is to ask it: not at the API server's address either."""

from __future__ import annotations

import asyncio
import socket
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address
from urllib.parse import urlsplit

from paddlejob.core.reach import NOT_FOR_JOBS, Reach


class BadNetwork(ValueError):
    """What was given, and how to write it."""


def parse_network(text: str) -> IPv4Network:
    """
    >>> parse_network("10.0.0.5")
    IPv4Network('10.0.0.5/32')
    """
    try:
        return IPv4Network(text)
    except ValueError as error:
        raise BadNetwork(f"{text!r} is no network: write an address or a network, such as 10.0.0.0/16") from error


async def operators_reach(api_server: str, allowed: tuple[IPv4Network, ...]) -> Reach:
    """Of an operator that talks to this API server, and may also talk to what is allowed."""
    host = urlsplit(api_server).hostname or ""
    own = ((IPv4Network(address), "the API server's address") for address in await _addresses(host))
    return Reach((*NOT_FOR_JOBS, *own), allowed)


async def _addresses(host: str) -> set[IPv4Address]:
    try:
        mapped = IPv6Address(host).ipv4_mapped
    except AddressValueError:
        pass
    else:
        return {mapped} if mapped else set()
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, family=socket.AF_INET)
    except OSError:
        return set()  # an operator that cannot find its API server finds no jobs either
    return {IPv4Address(where[0]) for *_, where in found}
