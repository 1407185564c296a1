"""The cluster's own cgroup, below which the kubelet makes those of its pods: one in every hierarchy of the kernel.

It is ours to remove: nobody else's processes are in it.
"""

import os
from contextlib import suppress
from pathlib import Path

from tests.cluster.waiting import wait_until

ROOT = Path("/sys/fs/cgroup")
NEEDED = ("cpu", "cpuset", "memory", "pids")


def missing() -> list[str]:
    """The controllers that the kubelet needs and this kernel does not offer."""
    offered = _unified().read_text().split() if _is_unified() else [each.name for each in _hierarchies()]
    return [each for each in NEEDED if each not in offered]


def create(name: str) -> None:
    if _is_unified():
        (ROOT / "cgroup.subtree_control").write_text(" ".join(f"+{each}" for each in NEEDED))
    for hierarchy in _hierarchies():
        ours = hierarchy / name
        ours.mkdir(exist_ok=True)
        for setting in ("cpuset.cpus", "cpuset.mems"):
            # In the old hierarchies a new group has no cores until it is given some.
            if (ours / setting).exists() and not _is_unified():
                (ours / setting).write_text((hierarchy / setting).read_text())


def remove(name: str) -> None:
    """Its processes have ended: what the kernel still keeps of them goes in a moment."""
    wait_until(lambda: all(_is_removed(hierarchy / name) for hierarchy in _hierarchies()))


def _is_removed(group: Path) -> bool:
    for folder, _, _ in os.walk(group, topdown=False):
        with suppress(OSError):
            Path(folder).rmdir()
    return not group.exists()


def _is_unified() -> bool:
    return _unified().exists()


def _unified() -> Path:
    return ROOT / "cgroup.controllers"


def _hierarchies() -> list[Path]:
    """One in new kernels; in older set-ups one per controller, and one without any beside them."""
    return [ROOT] if _is_unified() else [each for each in ROOT.iterdir() if not each.is_symlink()]
