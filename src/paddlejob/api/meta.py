"""What every Kubernetes object has: its metadata, as much of it as decisions need.

Owns the shape only. Unknown fields are dropped on reading: what nobody reads is not kept in memory. There may be many
of these, and they hold no cycles: gc=False keeps them out of the garbage collector's way.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec


class Key(NamedTuple):
    """What tells an object from all others of its kind."""

    namespace: str
    name: str


class OwnerReference(msgspec.Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ObjectMeta(msgspec.Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()

    @property
    def key(self) -> Key:
        return Key(self.namespace, self.name)

    @property
    def controller_uid(self) -> str | None:
        """The UID of the one owner that is in charge of this object."""
        return next((ref.uid for ref in self.owner_references if ref.controller), None)
