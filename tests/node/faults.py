"""What befalls containers, a node and its programs, as seen from this machine: killed, stopped, started again."""

import json
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from tests.cluster.waiting import wait_until
from tests.node.cluster import Cluster
from tests.node.operator import NAMESPACE
from tests.node.user import Manifest

SHIM = Path("/usr/bin/containerd-shim-runc-v2")
# What a boot finds empty: /run, where runtimes keep what runs, and the mounts and network devices of pods.
FORGET = """
grep -oE ' (/run/|/var/lib/kubelet/pods/)[^ ]+' /proc/self/mounts | tac | xargs -r umount --lazy
rm -rf /run/*
ip link delete cni0
"""


@contextmanager
def stopped(cluster: Cluster, *programs: str) -> Iterator[None]:
    """Killed, and started again afterwards; returns when all of the cluster works again."""
    for program in programs:
        cluster.kill_program(program)
    try:
        yield
    finally:
        wait_until(partial(_works_again, cluster, programs), 120)


def _works_again(cluster: Cluster, programs: Sequence[str]) -> bool:
    """What does not run is started, again and again as on any node: its port may not be free at once."""
    for program in reversed(programs):
        if not cluster.runs(program):
            cluster.start_program(program)
    return cluster.is_up()


def reboot(cluster: Cluster) -> None:
    """As far as it can be played: everything on the node is dead at once, and then it starts anew, with its disk."""
    with stopped(cluster, "kubelet", "kube-proxy", "containerd"):
        for pid in cluster.namespaces.pids(SHIM):
            _kill(pid)
        kill_all(lambda groups: f"/{cluster.name}/kubepods" in groups)
        cluster.namespaces.run(["bash", "-c", FORGET])


def kill_container(pod: Manifest, name: str) -> None:
    """Every process of it, as the kernel kills when memory runs out."""
    (status,) = (one for one in pod["status"]["containerStatuses"] if one["name"] == name)
    container = status["containerID"].rpartition("//")[2]
    kill_all(lambda groups: container in groups)


def kill_all(wanted: Callable[[str], bool]) -> None:
    """The processes in these cgroups, and those that they start meanwhile."""

    def none_left() -> bool:
        found = [pid for pid, groups in _groups() if wanted(groups)]
        for pid in found:
            _kill(pid)
        return not found

    wait_until(none_left)


def leader(cluster: Cluster) -> Manifest:
    """The operator's pod that holds the lease."""
    holder = cluster.kubectl("get", "lease", "paddle-operator", NAMESPACE, "--output=jsonpath={.spec.holderIdentity}")
    found: Manifest = json.loads(cluster.kubectl("get", "pod", holder.rpartition("_")[0], NAMESPACE, "--output=json"))
    return found


def _groups() -> Iterator[tuple[int, str]]:
    """All processes of this machine and their cgroups; a process that is dead already has no command line."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if (entry / "cmdline").read_bytes():
                    yield int(entry.name), (entry / "cgroup").read_text()


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
