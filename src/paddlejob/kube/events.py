"""What a watch says, as typed events, and how objects are read: one by one, so that a bad one harms no other.

Owns decoding. Refuses to guess: what cannot be read becomes `Skipped`, which names the object and says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Generic

import msgspec

from paddlejob.kube.errors import Undecodable, refusal
from paddlejob.kube.objects import Key, Resource, T

INITIAL_EVENTS_END = "k8s.io/initial-events-end"


@dataclass(frozen=True, slots=True)
class Seen(Generic[T]):
    """The object exists and looks like this (ADDED or MODIFIED)."""

    object: T


@dataclass(frozen=True, slots=True)
class Removed(Generic[T]):
    """The object is gone; this is how it looked last, at the version of its deletion."""

    object: T


@dataclass(frozen=True, slots=True)
class Bookmark:
    """Everything up to this version has been told; `initial_end`: and the streamed list is complete."""

    version: str
    initial_end: bool


@dataclass(frozen=True, slots=True)
class Skipped:
    """An object that could not be read: treated as absent."""

    kind: str
    key: Key
    version: str
    error: Undecodable
    uid: str = ""

    @property
    def name(self) -> str:
        return "/".join((self.kind, *self.key))


WatchEvent = Seen[T] | Removed[T] | Bookmark | Skipped


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a list. An empty `continue_token` says it is the last."""

    items: tuple[T, ...]
    resource_version: str
    continue_token: str
    skipped: tuple[Skipped, ...] = ()


class _Frame(msgspec.Struct, frozen=True):
    type: str
    object: msgspec.Raw


class _ListMeta(msgspec.Struct, frozen=True, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class _List(msgspec.Struct, frozen=True):
    metadata: _ListMeta = _ListMeta()
    items: list[msgspec.Raw] | None = None


class _BareMeta(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""
    uid: str = ""
    annotations: dict[str, str] | None = None


class _Bare(msgspec.Struct, frozen=True):
    metadata: _BareMeta = _BareMeta()


_FRAME = msgspec.json.Decoder(_Frame)
_LIST = msgspec.json.Decoder(_List)
_BARE = msgspec.json.Decoder(_Bare)
_BROKEN = (msgspec.DecodeError, UnicodeDecodeError)


@lru_cache(maxsize=64)
def _decoder(type_: type[T]) -> msgspec.json.Decoder[T]:
    return msgspec.json.Decoder(type_)


def decode(resource: Resource[T], body: bytes | msgspec.Raw, tried: str) -> T:
    """One object, or `Undecodable`."""
    decoder: msgspec.json.Decoder[T] = _decoder(resource.type)
    try:
        return decoder.decode(body)
    except _BROKEN as error:
        cause: Exception = error
    if resource.mend is not None:
        try:
            return decoder.decode(resource.mend(bytes(body)))
        except _BROKEN as error:
            cause = error
    raise Undecodable(f"{tried}: cannot read the {resource.type.__name__}: {cause}") from cause


def decode_page(resource: Resource[T], body: bytes, tried: str) -> Page[T]:
    try:
        listed = _LIST.decode(body)
    except _BROKEN as error:
        raise Undecodable(f"{tried}: the answer is not a list: {error}") from error
    items: list[T] = []
    skipped: list[Skipped] = []
    for raw in listed.items or ():
        try:
            items.append(decode(resource, raw, tried))
        except Undecodable as error:
            skipped.append(_skipped(resource, raw, error))
    return Page(tuple(items), listed.metadata.resource_version, listed.metadata.continue_, tuple(skipped))


def decode_event(resource: Resource[T], line: bytes, tried: str) -> WatchEvent[T]:
    """The event on one line of a watch. An ERROR event is raised; garbage is `Undecodable`."""
    try:
        frame = _FRAME.decode(line)
    except _BROKEN as error:
        raise Undecodable(f"{tried}: a line of the watch is not an event: {error}") from error
    match frame.type:
        case "BOOKMARK":
            return _bookmark(frame.object, tried)
        case "ERROR":
            raise refusal(tried, bytes(frame.object))
        case "ADDED" | "MODIFIED" | "DELETED":
            pass
        case other:
            raise Undecodable(f"{tried}: the watch sent an event of unknown type {other!r}")
    try:
        obj = decode(resource, frame.object, tried)
    except Undecodable as error:
        return _skipped(resource, frame.object, error)
    return Removed(obj) if frame.type == "DELETED" else Seen(obj)


def _bookmark(raw: msgspec.Raw, tried: str) -> Bookmark:
    try:
        meta = _BARE.decode(raw).metadata
    except _BROKEN as error:
        raise Undecodable(f"{tried}: a bookmark without a version: {error}") from error
    return Bookmark(meta.resource_version, (meta.annotations or {}).get(INITIAL_EVENTS_END) == "true")


def _skipped(resource: Resource[T], raw: msgspec.Raw, error: Undecodable) -> Skipped:
    try:
        meta = _BARE.decode(raw).metadata
    except _BROKEN:
        meta = _BareMeta()
    return Skipped(resource.type.__name__, (meta.namespace, meta.name), meta.resource_version, error, meta.uid)
