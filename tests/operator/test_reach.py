"""The API server's own address is refused to jobs, however the operator's configuration spells it."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network

import pytest

from paddlejob.operator.reach import BadNetwork, operators_reach, parse_network

SPELLINGS: dict[str, tuple[str, str]] = {
    "its address": ("https://10.96.0.1:443", "10.96.0.1"),
    "a name": ("https://localhost:6443", "127.0.0.1"),
    "IPv4 in IPv6": ("https://[::ffff:10.96.0.1]:443", "10.96.0.1"),
    "another spelling of an address": ("https://0x0a.6291457:443", "10.96.0.1"),
    "a URL with a path": ("https://10.96.0.1/k8s/clusters/c-1", "10.96.0.1"),
}


@pytest.mark.parametrize(("server", "address"), SPELLINGS.values(), ids=SPELLINGS)
async def test_the_api_server_is_given_by(server: str, address: str) -> None:
    reach = await operators_reach(server, ())
    assert reach.refusal(IPv4Address(address))
    assert reach.refusal(IPv4Address("10.96.0.2")) is None
    assert (await operators_reach(server, (IPv4Network(address),))).refusal(IPv4Address(address)) is None


@pytest.mark.parametrize("server", ["https://[fd00::1]:443", "https://no-such-host.invalid:443"])
async def test_a_server_without_such_an_address_leaves_the_others_refused(server: str) -> None:
    reach = await operators_reach(server, ())
    assert reach.refusal(IPv4Address("169.254.169.254")) == "link-local"


@pytest.mark.parametrize("text", ["10.0.0.5/8", "everything", "", "::1", "10.0.0.0/33"])
def test_what_is_no_network_is_said(text: str) -> None:
    with pytest.raises(BadNetwork, match="write an address or a network"):
        parse_network(text)
