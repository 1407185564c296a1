"""/dev/shm of the training container, through which Paddle's DataLoader workers hand over their batches.

Containers have 64 MiB there, which is soon full; a full one kills the worker by a bus error. So unless the user has
something there, it is a volume in memory, bounded by the container's memory limit, against which it counts anyway.
"""

from __future__ import annotations

from paddlejob.api.names import SHARED_MEMORY, SHARED_MEMORY_VOLUME
from paddlejob.core.actions import Body
from paddlejob.core.template import mapping, mappings


def with_shared_memory(spec: Body, container: Body) -> tuple[Body, Body]:
    """The pod's spec and its training container, with the volume and the mount."""
    mounts, volumes = mappings(container.get("volumeMounts")), mappings(spec.get("volumes"))
    if spec.get("hostIPC") or any(_covers(mount.get("mountPath")) for mount in mounts):
        return spec, container
    source = {"name": SHARED_MEMORY_VOLUME, "emptyDir": {"medium": "Memory", **_bound(container)}}
    if all(volume.get("name") != SHARED_MEMORY_VOLUME for volume in volumes):
        volumes = [*volumes, source]
    mount = {"name": SHARED_MEMORY_VOLUME, "mountPath": SHARED_MEMORY}
    return {**spec, "volumes": volumes}, {**container, "volumeMounts": [*mounts, mount]}


def _covers(path: object) -> bool:
    return isinstance(path, str) and f"{SHARED_MEMORY}/".startswith(f"{path.rstrip('/')}/")


def _bound(container: Body) -> Body:
    limit = mapping(mapping(container.get("resources")).get("limits")).get("memory")
    return {} if limit is None or str(limit) == "0" else {"sizeLimit": limit}
