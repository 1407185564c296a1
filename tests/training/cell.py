"""Two pods as processes in a network of their own: the machine's loopback, and names that resolve to its addresses.

Runs inside `unshare` and reads its orders from a file: {"hosts": {name: address}, "pods": [{"argv", "env", "folder"}]}.
The second argument says after how many seconds it ends them. Their output goes to `pod.N.log` in their folders, their
exit codes to standard output. Standard library only.
"""

import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


def raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", 0)
        (flags,) = struct.unpack_from("h", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request), 16)
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))


def write_hosts(known: "dict[str, str]", folder: Path) -> None:
    own = folder / "hosts"
    names = {"localhost": "127.0.0.1", socket.gethostname(): "127.0.0.1", **known}
    own.write_text("".join(f"{address} {name}\n" for name, address in names.items()))
    subprocess.run(["mount", "--bind", str(own), "/etc/hosts"], check=True)


def main() -> None:
    orders = Path(sys.argv[1])
    asked = json.loads(orders.read_text())
    raise_loopback()
    write_hosts(asked["hosts"], orders.parent)
    pods = []
    for number, pod in enumerate(asked["pods"]):
        log = (Path(pod["folder"]) / f"pod.{number}.log").open("wb")
        pods.append(
            subprocess.Popen(pod["argv"], env=pod["env"], cwd=pod["folder"], stdout=log, stderr=subprocess.STDOUT)
        )
    codes = []
    until = time.monotonic() + float(sys.argv[2])
    for pod in pods:
        try:
            codes.append(pod.wait(max(0.0, until - time.monotonic())))
        except subprocess.TimeoutExpired:
            codes.append(-1)
    print(json.dumps(codes), flush=True)
    os._exit(0)  # what still runs goes with the namespace of processes


main()
