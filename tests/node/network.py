"""The one connection between this machine and the cluster's network: a pair of devices with an address each.

Nothing is forwarded: neither do pods reach the world, nor does anybody but this machine reach them.
"""

import json
import subprocess
from ipaddress import IPv4Network, ip_address
from zlib import crc32

from tests.node.machine import CannotRun
from tests.node.namespaces import Namespaces

CHOICE = IPv4Network("10.254.254.0/24")


def connect(namespaces: Namespaces, name: str) -> str:
    """Returns the node's address."""
    ours, theirs = _free().hosts()
    device = device_name(name)
    _ip("link", "add", device, "type", "veth", "peer", "name", "eth0", "netns", str(namespaces.holder()))
    _ip("address", "add", f"{ours}/30", "dev", device)
    _ip("link", "set", device, "up")
    within = f"""set -e
        ip link set lo up
        ip address add {theirs}/30 dev eth0
        ip link set eth0 up
        ip route add default via {ours}
        echo 1 >/proc/sys/net/ipv4/ip_forward
    """
    namespaces.run(["bash", "-c", within])
    return str(theirs)


def is_connected(name: str) -> bool:
    return any(each["ifname"] == device_name(name) for each in json.loads(_ip("-json", "link")))


def device_name(name: str) -> str:
    """This machine's end. The kernel removes it with the other end's namespace, and takes no longer names."""
    return name if len(name) <= 15 else f"{name[:6]}-{crc32(name.encode()):08x}"


def _free() -> IPv4Network:
    """The first four addresses that this machine does not use."""
    used = [ip_address(one["local"]) for link in json.loads(_ip("-json", "-4", "address")) for one in link["addr_info"]]
    for candidate in CHOICE.subnets(new_prefix=30):
        if not any(each in candidate for each in used):
            return candidate
    raise CannotRun(f"every address of {CHOICE} is in use")


def _ip(*args: str) -> str:
    return subprocess.run(["ip", *args], capture_output=True, text=True, check=True).stdout
