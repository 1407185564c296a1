"""The Lease object of coordination.k8s.io/v1.

Owns its shape only. It keeps what an election does not read but an update would otherwise erase.
"""

from __future__ import annotations

import msgspec

from paddlejob.kube.objects import Resource


class _Owner(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class LeaseMeta(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Everything that others may have set, because an update writes it all back."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    deletion_timestamp: str | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[_Owner, ...] = ()

    @property
    def controller_uid(self) -> str | None:
        return next((owner.uid for owner in self.owner_references if owner.controller), None)


class LeaseSpec(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class Lease(msgspec.Struct, frozen=True, rename="camel"):
    metadata: LeaseMeta
    spec: LeaseSpec = LeaseSpec()
    api_version: str = "coordination.k8s.io/v1"
    kind: str = "Lease"


LEASES = Resource("coordination.k8s.io", "v1", "leases", Lease)
