"""Volumes that a job's pods mount, workers and servers alike.

Each knows what it is called in a pod template. Refuses wrong values when it is made, naming the parameter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from paddlejob.sdk import parameters as check

Json = dict[str, Any]


@dataclass(frozen=True)
class Volume:
    """What all volumes have in common."""

    kind: ClassVar[str]

    def __post_init__(self) -> None:
        for one in fields(self):
            value, name = getattr(self, one.name), f"{type(self).__name__}: {one.name}"
            if one.type == "bool":
                check.flag(name, value)
            elif one.name.endswith("path"):
                check.path(name, value)
            else:
                check.text(name, value)

    def source(self) -> Json:
        raise NotImplementedError

    @property
    def at(self) -> str:
        """Where the pods see it."""
        return str(getattr(self, "mount_path"))  # noqa: B009 - every kind has one, in its own place

    @property
    def only_read(self) -> bool:
        return bool(getattr(self, "read_only", False))


@dataclass(frozen=True)
class CephFSVolume(Volume):
    """A CephFS file system.

    Kubernetes mounts these by itself up to version 1.30. On newer clusters let the administrator make a claim with the
    CephFS driver, and use `PVC`.

    >>> CephFSVolume(monitors_addr="172.19.32.166:6789").mount_path
    '/mnt/cephfs'
    """

    kind: ClassVar[str] = "cephfs"
    monitors_addr: str
    user: str = "admin"
    secret_name: str = "cephfs-secret"
    mount_path: str = "/mnt/cephfs"
    path: str = "/"

    def source(self) -> Json:
        monitors = [one.strip() for one in self.monitors_addr.split(",") if one.strip()]
        return {
            "cephfs": {
                "monitors": monitors,
                "user": self.user,
                "secretRef": {"name": self.secret_name},
                "path": self.path,
            }
        }


@dataclass(frozen=True)
class PVC(Volume):
    """A PersistentVolumeClaim of the job's namespace.

    >>> PVC("datasets", mount_path="/data", read_only=True).source()
    {'persistentVolumeClaim': {'claimName': 'datasets', 'readOnly': True}}
    """

    kind: ClassVar[str] = "pvc"
    claim_name: str
    mount_path: str
    read_only: bool = False

    def source(self) -> Json:
        read_only = {"readOnly": True} if self.read_only else {}
        return {"persistentVolumeClaim": {"claimName": self.claim_name, **read_only}}


@dataclass(frozen=True)
class HostPath(Volume):
    """A folder of the machine that the pod runs on.

    >>> HostPath("/data/imagenet", mount_path="/data").at
    '/data'
    """

    kind: ClassVar[str] = "host-path"
    path: str
    mount_path: str
    read_only: bool = False

    def source(self) -> Json:
        return {"hostPath": {"path": self.path}}


@dataclass(frozen=True)
class NFS(Volume):
    """A folder of an NFS server.

    >>> NFS("10.0.0.7", path="/exports/data", mount_path="/data").source()
    {'nfs': {'server': '10.0.0.7', 'path': '/exports/data'}}
    """

    kind: ClassVar[str] = "nfs"
    server: str
    path: str
    mount_path: str
    read_only: bool = False

    def source(self) -> Json:
        return {"nfs": {"server": self.server, "path": self.path, **({"readOnly": True} if self.read_only else {})}}


def checked(parameter: str, volumes: object) -> tuple[Volume, ...]:
    if isinstance(volumes, Volume) or not isinstance(volumes, Iterable):
        raise TypeError(f"{parameter} must be a list of volumes, not {volumes!r}")
    found = tuple(volumes)
    for one in found:
        if not isinstance(one, Volume):
            raise TypeError(f"{parameter} must hold CephFSVolume, PVC, HostPath or NFS, not {one!r}")
    twice = [at for at, times in Counter(one.at for one in found).items() if times > 1]
    if twice:
        raise ValueError(f"{parameter}: two volumes are mounted at {twice[0]}: give each a mount_path of its own")
    return found


def named(volumes: Iterable[Volume]) -> list[tuple[str, Volume]]:
    """Each with the name it has in the pod template: its kind, and a number when there are several of a kind."""
    seen: Counter[str] = Counter()
    found = []
    for one in volumes:
        seen[one.kind] += 1
        found.append((one.kind if seen[one.kind] == 1 else f"{one.kind}-{seen[one.kind]}", one))
    return found


def mount(name: str, volume: Volume) -> Json:
    return {"name": name, "mountPath": volume.at, **({"readOnly": True} if volume.only_read else {})}
