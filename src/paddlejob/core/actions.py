"""What a plan may ask for, by who acts: actions on what a job owns, questions to etcd, events for people.

Each is a closed set. Bodies are Kubernetes objects as plain data, ready to be sent.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar, Literal

import msgspec

from paddlejob.api import Status
from paddlejob.core.children import Child, KindName, Verb

Body = dict[str, Any]


class Create(msgspec.Struct, frozen=True):
    verb: ClassVar[Verb] = "create"
    kind: KindName
    name: str
    body: Body


class Delete(msgspec.Struct, frozen=True, gc=False):
    """Delete exactly this object: a later one of the same name has another UID and stays."""

    verb: ClassVar[Verb] = "delete"
    kind: KindName
    name: str
    uid: str


class Update(msgspec.Struct, frozen=True):
    """Put a new body in the place of exactly this object."""

    verb: ClassVar[Verb] = "update"
    kind: KindName
    name: str
    uid: str
    body: Body


class Touch(msgspec.Struct, frozen=True, gc=False):
    """Set an annotation on a pod, so that its kubelet looks at it now."""

    verb: ClassVar[Verb] = "patch"
    kind: ClassVar[KindName] = "Pod"
    name: str
    annotation: str
    value: str


class AskEtcd(msgspec.Struct, frozen=True):
    """Read what the launcher of an elastic job says. `exited` are the workers that the answer will judge."""

    server: str
    id: str
    exited: tuple[str, ...] = ()


class ForgetEtcd(msgspec.Struct, frozen=True):
    """Remove what an elastic job left in etcd."""

    server: str
    keys: tuple[str, ...]
    prefixes: tuple[str, ...]


class Inquiry(msgspec.Struct, frozen=True):
    """Read the events of this pod, or PodGroup: it does not go on, and its status does not say why."""

    name: str
    uid: str


class Listen(msgspec.Struct, frozen=True):
    """Read what this pod has printed lately: its training container."""

    name: str
    uid: str
    container: str
    life: int = 0
    """How many times this container was started again in its pod."""
    last: bool = False
    """It has ended: nothing will come after this."""


class JobEvent(msgspec.Struct, frozen=True):
    """What happened to a job, in words for people: once per attempt and reason."""

    type: Literal["Normal", "Warning"]
    reason: str
    note: str
    attempt: int


def delete(child: Child) -> Delete:
    return Delete(child.kind, child.metadata.name, child.metadata.uid)


Action = Create | Update | Delete | Touch
Question = AskEtcd | ForgetEtcd


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The job's next status, and what is to be done, by who does it."""

    status: Status
    events: tuple[JobEvent, ...] = ()
    actions: tuple[Action, ...] = ()
    """On what the job owns."""
    more: bool = False
    """Whether that is only the first step: look again as soon as it is done."""
    questions: tuple[Question, ...] = ()
    """To etcd."""
    inquiries: tuple[Inquiry, ...] = ()
    """About pods."""
    listens: tuple[Listen, ...] = ()
    """To pods."""
    heard_out: bool = False
    """What its pods have said stands in the status, and no more is to come: it may be forgotten."""
    ports: int = 0
    """How many consecutive free ports to reserve; the first is to be written on the job. 0: none."""
    releases: bool = False
    """The finalizer of an earlier operator is to be removed from the job."""
    expired: bool = False
    """The job itself is to be deleted; what it owns goes with it."""
    wake_at: datetime | None = None

    @property
    def creates(self) -> tuple[Create, ...]:
        return tuple(action for action in self.actions if isinstance(action, Create))
