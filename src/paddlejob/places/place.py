"""Where a job lives: on a cluster or on this machine. What either can be asked, and what it answers.

A place is entered for as long as it is asked: `async with place: ...`. Every error is a `PaddleJobError`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import aclosing
from types import coroutine
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

from paddlejob.api import Job
from paddlejob.api.meta import Key
from paddlejob.api.mistakes import job_of
from paddlejob.api.names import RoleName
from paddlejob.core.children import Pod
from paddlejob.terminal import plain

Json = dict[str, Any]
LogsOf = Literal[RoleName, "all"]


class Line(NamedTuple):
    """One line that a pod printed."""

    pod: str
    text: str

    def __str__(self) -> str:
        """For a terminal: without what would move its cursor or clear it; `text` is what the pod printed."""
        return plain(f"[{self.pod}] {self.text}")


class Bar(Line):
    """The current state of a progress bar. Its line is not finished; when it is, it comes as a `Line`."""


class Heading(Line):
    """A log begins here: that of a pod of this name, which `text` numbers, from 1 on."""


class Event(NamedTuple):
    """What happened to a job, when, and how serious it is (Normal or Warning)."""

    at: str
    type: str
    reason: str
    message: str

    def __str__(self) -> str:
        return plain(f"{self.at} {self.reason}: {self.message}")


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which log lines: of which role, of which pod (`index`), how many last lines, of how many last seconds (`since`).

    `bars`: also the current state of progress bars. `attempts`: also the logs of earlier attempts, where they are kept,
    and a `Heading` before each log.
    """

    follow: bool = False
    role: LogsOf = "worker"
    index: int | None = None
    tail: int | None = None
    since: float | None = None
    bars: bool = False
    attempts: bool = False


class Description(msgspec.Struct, frozen=True):
    """What is submitted: the job, the other objects of its file, and the file; relative paths start in its folder."""

    document: Json
    beside: tuple[Json, ...] = ()
    file: str = ""

    @property
    def job(self) -> Job:
        return job_of(self.document)

    @property
    def name(self) -> str:
        return str(self.document["metadata"]["name"])

    @property
    def namespace(self) -> str | None:
        said: str | None = self.document["metadata"].get("namespace")
        return said


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A job as its place has it."""

    job: Job
    where: str
    phase: str
    """Beside the phases of a job: Terminating, Unreadable, and on this machine Stopped and Lost."""
    over: bool
    """Whether nothing drives it any more: it has ended, or its runner is gone."""
    why: str = ""
    """Why it is as it is, if the job itself cannot say it."""
    about: tuple[tuple[str, str], ...] = ()
    """What else there is to know of where it is."""
    flag: str = ""
    """What to add to a command so that it means this very job."""
    document: Json | None = None
    """All its fields, where the place knows more of them than we do."""

    @property
    def key(self) -> Key:
        return self.job.metadata.key


Change = tuple[Key, Found | None]
PodChange = tuple[str, Pod | None]


class Place(Protocol):
    @property
    def where(self) -> str:
        """As a person would say it: "the cluster", "this machine"."""
        ...

    @property
    def namespace(self) -> str:
        """The namespace of a job that does not name one."""
        ...

    @property
    def listed(self) -> str | None:
        """The namespace whose jobs are listed by default; None: all namespaces."""
        ...

    async def __aenter__(self) -> Place: ...

    async def __aexit__(self, *error: object) -> None: ...

    async def answers(self) -> None:
        """Raises why the place cannot be asked anything at the moment."""
        ...

    async def check(self, description: Description) -> None:
        """Raises what `submit` would raise, as far as that can be known, and changes nothing."""
        ...

    async def submit(self, description: Description) -> Found: ...

    async def get(self, key: Key) -> Found: ...

    async def list(self, namespace: str | None) -> tuple[Found, ...]:
        """The jobs of a namespace, of all for None; in order of namespace and name."""
        ...

    def watch(self, namespace: str | None, name: str | None = None) -> AsyncGenerator[Change, None]:
        """Every job once, then every change, without end; None means that the job does not exist (any more)."""
        ...

    async def namespaces(self) -> tuple[str | None, ...]:
        """The namespaces whose jobs the person may list; None stands for all of them."""
        ...

    async def pods(self, job: Job) -> tuple[Pod, ...]: ...

    def watch_pods(self, job: Job) -> AsyncGenerator[PodChange, None]:
        """Every pod of the job by its UID, those of later attempts too; then every change, None when one is gone."""
        ...

    async def events(self, job: Job) -> tuple[Event, ...]:
        """Oldest first."""
        ...

    def logs(self, job: Job, wanted: Wanted) -> AsyncGenerator[Line, None]: ...

    async def change(self, job: Job, spec: Mapping[str, Any]) -> None: ...

    async def scale(self, job: Job, workers: int) -> None: ...

    async def delete(self, job: Job, *, force: bool = False) -> None:
        """Ask for the deletion of the job and all it owns; `force`: without a grace period."""
        ...


def label(one: Json) -> str:
    """An object of any kind, as a person would call it."""
    return f"{one['kind']} {one['metadata']['name']}"


async def life(place: Place, job: Job) -> AsyncGenerator[Found, None]:
    """The job now and after every change, as long as it is there."""
    async with aclosing(place.watch(*job.metadata.key)) as changes:
        async for _, now in changes:
            if now is None or now.job.metadata.uid != job.metadata.uid:
                return
            yield now


@coroutine
def loop() -> Generator[None, None, None]:
    """Await this before anything that needs an event loop: see `paddlejob.cli.where.run`."""
    yield
