"""What this package needs to know about an object, and where its kind lives on the API server.

Owns protocols, not types: whoever uses the package brings frozen msgspec structs with the fields they read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar
from urllib.parse import quote

Key = tuple[str, str]  # namespace, name


class OwnerRef(Protocol):
    @property
    def uid(self) -> str: ...

    @property
    def controller(self) -> bool | None: ...


class Meta(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def namespace(self) -> str: ...

    @property
    def uid(self) -> str: ...

    @property
    def resource_version(self) -> str: ...

    @property
    def owner_references(self) -> Sequence[OwnerRef]: ...

    @property
    def deletion_timestamp(self) -> str | None: ...

    @property
    def labels(self) -> Mapping[str, str]: ...

    @property
    def annotations(self) -> Mapping[str, str]: ...

    @property
    def controller_uid(self) -> str | None: ...


class Object(Protocol):
    @property
    def metadata(self) -> Meta: ...


T = TypeVar("T", bound=Object)


@dataclass(frozen=True, slots=True)
class Resource(Generic[T]):
    """One kind of object: its path on the API server and the type its JSON is read into.

    `mend` is tried on what cannot be read: it may leave out what others wrote and nobody needs.
    """

    group: str
    version: str
    plural: str
    type: type[T]
    mend: Callable[[bytes], bytes] | None = None

    def path(self, namespace: str | None = None, name: str | None = None, subresource: str | None = None) -> str:
        parts = ["/apis", self.group, self.version] if self.group else ["/api", self.version]
        if namespace:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        if name:
            parts.append(quote(name, safe=""))
        if subresource:
            parts.append(subresource)
        return "/".join(parts)


def key_of(obj: Object) -> Key:
    return (obj.metadata.namespace, obj.metadata.name)


def version_of(obj: Object) -> int | None:
    return version_number(obj.metadata.resource_version)


def version_number(version: str) -> int | None:
    """A resourceVersion as a number that can be compared, None where the server's versions are not numbers."""
    return int(version) if version.isascii() and version.isdigit() else None
