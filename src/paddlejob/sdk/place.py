"""Where a submitted job lives: on a cluster or on this machine. What either can be asked, and what it answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

from paddlejob.api import PaddleJob
from paddlejob.api.names import RoleName
from paddlejob.sdk.description import Description
from paddlejob.terminal import plain


class Line(NamedTuple):
    """One line that a pod printed."""

    pod: str
    text: str

    def __str__(self) -> str:
        """For a terminal: without what would move its cursor or clear it; `text` is what the pod printed."""
        return plain(f"[{self.pod}] {self.text}")


class Happening(NamedTuple):
    """An event: what happened to a job, when, and how serious it is (Normal or Warning)."""

    at: str
    type: str
    reason: str
    message: str

    def __str__(self) -> str:
        return f"{self.at} {self.reason}: {self.message}"


class Wanted(msgspec.Struct, frozen=True):
    """Which log lines: of a role or of all, of one pod only, the last so many, and whether to go on."""

    follow: bool = False
    role: RoleName | Literal["all"] = "worker"
    index: int | None = None
    tail: int | None = None


class Key(NamedTuple):
    namespace: str
    name: str


class Place(Protocol):
    where: str
    """As a person would say it: "on the cluster", "on this machine"."""

    async def namespace(self) -> str:
        """Where a job goes that names no namespace."""
        ...

    async def submit(self, description: Description) -> PaddleJob: ...

    async def get(self, key: Key) -> PaddleJob: ...

    def watch(self, key: Key) -> AsyncGenerator[PaddleJob, None]:
        """The job now and after every change; ends when the job is over."""
        ...

    def logs(self, key: Key, wanted: Wanted) -> AsyncGenerator[Line, None]: ...

    async def events(self, key: Key) -> tuple[Happening, ...]: ...

    async def change(self, key: Key, spec: Mapping[str, Any]) -> PaddleJob: ...

    async def scale(self, key: Key, trainers: int) -> None: ...

    async def delete(self, key: Key) -> None: ...
