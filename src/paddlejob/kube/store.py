"""The objects of one kind as last heard of, by key and by owner.

Owns what is known and tells its subscribers of every change. It also takes what our own writes returned, so that a loop
reads its own writes at once; a write never overrules what the watch has told already.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Generic, cast

import msgspec

from paddlejob.kube.events import Bookmark, Removed, Seen, Skipped, WatchEvent
from paddlejob.kube.objects import Key, Object, T, key_of, version_number, version_of

# So many objects of a list are taken at once, in some 10 ms.
BATCH = 1000


@dataclass(frozen=True, slots=True)
class Change(Generic[T]):
    """None before: it is new. None after: it is gone."""

    before: T | None
    after: T | None


def _utc_now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Store(Generic[T]):
    """A scope is what one reflector watches: a namespace, or None for all of them."""

    def __init__(
        self, now: Callable[[], str] = _utc_now, *, on_error: Callable[[Key, Exception], None] | None = None
    ) -> None:
        self._now = now
        self._on_error = on_error or _log
        self._objects: dict[Key, T] = {}
        self._owned: dict[str, dict[Key, T]] = {}
        self._handlers: list[Callable[[Change[T]], None]] = []
        self._positions: dict[str | None, int] = {}
        # Versions that came from our own writes and that no list or event has confirmed yet.
        self._written: dict[Key, int] = {}

    def get(self, key: Key) -> T | None:
        return self._objects.get(key)

    def __iter__(self) -> Iterator[T]:
        return iter(tuple(self._objects.values()))

    def __len__(self) -> int:
        return len(self._objects)

    def owned_by(self, uid: str) -> tuple[T, ...]:
        """The objects whose controller has this UID."""
        return tuple(self._owned.get(uid, {}).values())

    def subscribe(self, handler: Callable[[Change[T]], None]) -> None:
        self._handlers.append(handler)

    def wrote(self, obj: T) -> None:
        """Take what the API server answered to a write of ours, unless the watch has told as much or more."""
        version = version_of(obj)
        key = key_of(obj)
        if version is None or version <= self._position(key[0]):
            return
        held = self._objects.get(key)
        if held is not None and not _is_older(held, version):
            return
        self._put(obj)
        self._written[key] = version

    def mark_deleting(self, key: Key, uid: str) -> None:
        """Remember that our delete of this very object was accepted, until the watch tells the rest."""
        held = self._objects.get(key)
        if held is None or held.metadata.uid != uid or held.metadata.deletion_timestamp is not None:
            return
        # The protocols do not promise msgspec structs; everything that was decoded is one.
        meta = msgspec.structs.replace(cast(Any, held.metadata), deletion_timestamp=self._now())
        self._put(cast(T, msgspec.structs.replace(cast(Any, held), metadata=meta)))

    def apply_event(self, event: WatchEvent[T], scope: str | None = None) -> None:
        """Take what a watch told, and advance the scope's position to it."""
        match event:
            case Seen(obj):
                self.advance(obj.metadata.resource_version, scope)
                self._see(obj)
            case Removed(obj):
                self.advance(obj.metadata.resource_version, scope)
                self._remove(obj)
            case Skipped():
                self.advance(event.version, scope)
                self._drop(event.key)
            case Bookmark():
                self.advance(event.version, scope)

    def advance(self, version: str, scope: str | None = None) -> None:
        number = version_number(version)
        if number is not None:
            self._positions[scope] = max(number, self._positions.get(scope, 0))

    def replacing(self, objects: Iterable[T], scope: str | None, version: str) -> Iterator[None]:
        """Swap the scope's objects for a complete list taken at `version`; what is missing is deleted and told.

        Yields now and then, for a list may be long: to others it looks as if a watch told them one by one.
        """
        listed = {key_of(obj): obj for obj in objects}
        at = version_number(version) or 0
        # Set, not advanced: after a restore from backup the server's versions start again lower.
        self._positions[scope] = at
        gone = [key for key in self._objects if (scope is None or key[0] == scope) and key not in listed]
        for number, key in enumerate(gone, start=1):
            if self._written.get(key, 0) <= at:
                self._drop(key)
            if number % BATCH == 0:
                yield
        for number, (key, obj) in enumerate(listed.items(), start=1):
            if self._written.get(key, 0) <= at:
                self._written.pop(key, None)
                held = self._objects.get(key)
                # The same version is the same object: telling of it again would wake every loop on every resync.
                if held is None or not _is_same(held, obj):
                    self._put(obj)
            if number % BATCH == 0:
                yield

    def _position(self, namespace: str) -> int:
        scope = namespace if namespace in self._positions else None
        return self._positions.get(scope, 0)

    def _see(self, obj: T) -> None:
        key = key_of(obj)
        held = self._objects.get(key)
        version = version_of(obj)
        if held is not None and version is not None and not _is_older(held, version):
            return
        self._written.pop(key, None)
        self._put(obj)

    def _remove(self, obj: T) -> None:
        key = key_of(obj)
        held = self._objects.get(key)
        if held is None:
            return
        version = version_of(obj)
        if held.metadata.uid == obj.metadata.uid or version is None or _is_older(held, version):
            self._drop(key)

    def _put(self, obj: T) -> None:
        key = key_of(obj)
        before = self._objects.get(key)
        if before is not None:
            self._unlink(key, before)
        self._objects[key] = obj
        owner = obj.metadata.controller_uid
        if owner is not None:
            self._owned.setdefault(owner, {})[key] = obj
        self._tell(Change(before, obj))

    def _drop(self, key: Key) -> None:
        self._written.pop(key, None)
        before = self._objects.pop(key, None)
        if before is not None:
            self._unlink(key, before)
            self._tell(Change(before, None))

    def _unlink(self, key: Key, obj: T) -> None:
        owner = obj.metadata.controller_uid
        if owner is None:
            return
        siblings = self._owned[owner]
        del siblings[key]
        if not siblings:
            del self._owned[owner]

    def _tell(self, change: Change[T]) -> None:
        """One that fails at an object has missed it; the others hear of it, and whoever watches goes on."""
        for handler in self._handlers:
            try:
                handler(change)
            except Exception as error:
                changed = change.after or change.before
                assert changed is not None, "a change has two sides, and one of them is something"
                self._on_error(key_of(changed), error)


def _log(key: Key, error: Exception) -> None:
    logging.getLogger(__name__).error("a handler failed at %s", "/".join(key), exc_info=error)


def _is_older(held: Object, version: int) -> bool:
    """Whether what is held is older than the version; where versions are not numbers, whatever comes is news."""
    mine = version_of(held)
    return mine is None or mine < version


def _is_same(held: Object, obj: Object) -> bool:
    one, other = held.metadata, obj.metadata
    return one.uid == other.uid and one.resource_version == other.resource_version
