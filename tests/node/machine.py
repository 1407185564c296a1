"""What this machine must be able to do, and the Debian packages that the cluster needs beside the pinned programs.

What is missing is installed with apt-get, which never removes a package for it. Whatever the kernel refuses is tried
for real, in namespaces that are gone at once, and told in its own words.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator

from tests.cluster.binaries import Say
from tests.node import cgroups

CNI = "/usr/lib/cni"

# What we call, and the package that brings it.
PACKAGES = {
    "containerd": "containerd",
    "ctr": "containerd",
    "runc": "runc",
    f"{CNI}/bridge": "containernetworking-plugins",
    "iptables": "iptables",
    "ip": "iproute2",
    "nsenter": "util-linux",
    "mount": "mount",
    "debootstrap": "debootstrap",
}

NAMESPACES = ["unshare", "--mount", "--net", "--uts", "--pid", "--fork", "--mount-proc", "--propagation=private"]

# Each says what it is for.
TRIALS = {
    "namespaces": "true",
    "pairs of network devices": "ip link add one type veth peer name two",
    "network bridges": "ip link add bridge0 type bridge",
    "rules for network addresses": "iptables -t nat -A POSTROUTING -m comment --comment try -j MASQUERADE",
    "overlay file systems": "mount -t tmpfs tmpfs /mnt && mkdir /mnt/{a,b,c,d}"
    " && mount -t overlay overlay -o lowerdir=/mnt/a,upperdir=/mnt/b,workdir=/mnt/c /mnt/d",
}


class CannotRun(Exception):
    """The cluster cannot run on this machine; the message says why, and what to do."""


def prepare(say: Say) -> None:
    """Returns when this machine has all that it takes."""
    if os.geteuid() != 0:
        raise CannotRun("a cluster with real containers needs root: run it as root, in a virtual machine if you like")
    # Root's own programs, also for whose PATH does not have them.
    os.environ["PATH"] = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    _install(say)
    refused = list(_refused())
    if refused:
        raise CannotRun("this machine's kernel, or whoever restricts it, does not allow:\n  " + "\n  ".join(refused))


def _install(say: Say) -> None:
    missing = sorted({package for program, package in PACKAGES.items() if not shutil.which(program)})
    if not missing:
        return
    if not shutil.which("apt-get"):
        raise CannotRun(f"there is no apt-get here: install what Debian has in the packages {', '.join(missing)}")
    say(f"installing the Debian packages {', '.join(missing)} (they stay when the cluster goes)")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "--quiet", "--yes", "--no-install-recommends", "--no-remove", *missing]
    for command in (["apt-get", "update", "--quiet"], install):
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise CannotRun(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-2000:]}")


def _refused() -> Iterator[str]:
    if missing := cgroups.missing():
        yield f"cgroups: no controller {', '.join(missing)} in {cgroups.ROOT}"
    for what, trial in TRIALS.items():
        done = subprocess.run([*NAMESPACES, "bash", "-c", trial], capture_output=True, text=True, check=False)
        if done.returncode:
            yield f"{what}: {done.stderr.strip()}"
