"""A kind of object for these tests, like the types that users of the package bring along."""

from __future__ import annotations

import msgspec

from paddlejob.kube.objects import Resource


class Owner(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    uid: str = ""
    controller: bool | None = None


class Meta(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    deletion_timestamp: str | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: tuple[Owner, ...] = ()

    @property
    def controller_uid(self) -> str | None:
        return next((owner.uid for owner in self.owner_references if owner.controller), None)


class Thing(msgspec.Struct, frozen=True):
    metadata: Meta
    value: int = 0


THINGS = Resource("", "v1", "things", Thing)
WIDGETS = Resource("example.com", "v1beta1", "widgets", Thing)


def a_thing(name: str, version: int | str = "", *, value: int = 0, uid: str = "", owner: str = "") -> Thing:
    owners = (Owner(owner, True),) if owner else ()
    meta = Meta(
        name=name,
        namespace="default",
        uid=uid or f"uid-of-{name}",
        resource_version=str(version),
        owner_references=owners,
    )
    return Thing(meta, value)
