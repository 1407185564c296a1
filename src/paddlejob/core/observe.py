"""What is there: a job's children, sorted once by role and index, and what the world refused lately.

Everything that `plan` may know stands in `Observed`. Nothing here decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal, TypeVar, cast

import msgspec

from paddlejob.api.names import RoleName
from paddlejob.core.children import Child, ConfigMap, KindName, Pod, PodState, Verb
from paddlejob.core.reach import EVERYWHERE, Reach

C = TypeVar("C", bound=Child)


class Refusal(msgspec.Struct, frozen=True):
    """What the world did not let us do to an object, why, and when to try again."""

    kind: KindName
    name: str
    reason: str
    message: str
    retry_at: datetime
    verb: Verb = "create"
    times: int = 1
    """How often in a row it was refused, or something like it."""


class Ports(msgspec.Struct, frozen=True):
    """How it stands with ports of the host, for a job that uses its network."""

    full: str = ""
    """The range in which there is no free block for this job; empty while there is one."""
    disputed: bool = False
    """Whether an older job, or a pod of another, has some of the ports that stand on this one."""


class Complaint(msgspec.Struct, frozen=True):
    """What the events of a pod said when they were read for the last time; no reason: nothing of interest."""

    at: datetime
    times: int
    """How often they were read."""
    reason: str = ""
    message: str = ""


class Reading(msgspec.Struct, frozen=True):
    """How far the training is, as one line says it, and the lines before it of which it is the rest."""

    at: datetime
    """When the line was printed; first seen, where nobody says that."""
    step: int | None = None
    total: int | None = None
    """Both over all epochs."""
    epoch: int | None = None
    epochs: int | None = None
    loss: float | None = None
    diverged: bool = False
    """The loss is no number any more."""
    metrics: Mapping[str, float] = {}
    speed: float | None = None
    """Steps a second, if the program says so itself."""
    eta: float | None = None
    """In seconds, likewise."""


class Said(msgspec.Struct, frozen=True):
    """What a pod has printed, when somebody listened for the last time."""

    at: datetime
    changed: datetime | None = None
    """When its newest line was printed, or first seen where nobody says that; None: it has not printed any. What
    Paddle's own libraries log does not count: some of their threads never stop."""
    lines: tuple[str, ...] = ()
    """The last few, newest last: plain text, cut where they are long."""
    readings: tuple[Reading, ...] = ()
    """The last ones of its life, newest last, also from lines that are not among `lines` any more."""
    error: str = ""
    """Why it could not be read this time; the rest is as it was before."""
    unreadable: str = ""
    """What is wrong with the pattern by which the job wants its lines to be read."""
    last: bool = False
    """Whether it had ended by then."""
    stopped: bool = False
    """Whether its processes are stopped, as by SIGSTOP: only on this machine anybody knows."""
    first: datetime | None = None
    """When this life of it was first listened to, where another clock tells when its lines were printed; None where it
    is our own."""


class Listening(msgspec.Struct, frozen=True):
    """How often one may listen to what a pod prints, and how often tell what hardly anybody waits for."""

    every: timedelta | None = None
    """None: not at all."""
    patience: timedelta = timedelta(0)
    """What no list shows, such as a loss, is told so rarely."""


class Slot(msgspec.Struct, frozen=True, gc=False):
    """One wanted pod, by role and index, and the pod that fills the slot, if any."""

    role: RoleName
    index: int
    name: str
    pod: Pod | None = None
    succeeded: bool = False
    """Whether the status remembers that it has succeeded in this attempt, whatever became of its pod."""

    @property
    def state(self) -> PodState:
        if self.succeeded:
            return "succeeded"
        return "pending" if self.pod is None else self.pod.state


class Answer(msgspec.Struct, frozen=True):
    """What etcd answered about an elastic job, or why it did not. It judges the workers that had exited before."""

    id: str
    at: datetime
    value: str = ""
    exited: frozenset[str] = frozenset()
    error: str = ""


class Etcd(msgspec.Struct, frozen=True):
    """The etcd that is used unless a job names its own, and what is known from the one that the job uses."""

    server: str = ""
    answer: Answer | None = None
    forgotten: bool = False
    reach: Reach = EVERYWHERE
    """Where one that a job names may be."""


class Unread(msgspec.Struct, frozen=True):
    """Why nothing is known of the objects of a kind; no reason: they are being read for the first time."""

    reason: str = ""
    message: str = ""


class Scheduling(msgspec.Struct, frozen=True):
    """Who places gangs here, and what of their groups cannot be read."""

    by: Literal["none", "volcano", "coscheduling", "kubernetes"] = "none"
    """Where a job does not say it: the operator's --scheduling."""
    local: bool = False
    """Whether this is no cluster: nothing is scheduled then."""
    unread: Mapping[KindName, Unread] = {}


NO_ETCD, NO_PORTS, NO_SCHEDULING, SILENCE = Etcd(), Ports(), Scheduling(), Listening()


class Observed(msgspec.Struct, frozen=True):
    slots: tuple[Slot, ...] = ()
    children: dict[KindName, tuple[Child, ...]] = {}
    """All that the job owns, by name within each kind."""
    config_map: ConfigMap | None = None
    leftovers: tuple[Pod, ...] = ()
    """Pods of earlier attempts: they must go before the next one begins."""
    old_config_map: Child | None = None
    """The ConfigMap while it holds the environment of an earlier attempt."""
    refusals: tuple[Refusal, ...] = ()
    """Those that still matter: what was refused is neither done nor pointless by now."""
    taken: frozenset[tuple[KindName, str]] = frozenset()
    """Names that this job needs and an object of another owner has, for instance an earlier job of the same name."""
    etcd: Etcd = NO_ETCD
    ports: Ports = NO_PORTS
    lent: tuple[Child, ...] = ()
    """Groups that a user has made for the job, or Kueue for its pods: they are used, and never changed."""
    scheduling: Scheduling = NO_SCHEDULING
    complaints: Mapping[str, Complaint] = {}
    """By the UID of the pod."""
    said: Mapping[str, Said] = {}
    """Likewise."""
    listening: Listening = SILENCE

    @property
    def pods(self) -> tuple[Pod, ...]:
        return self.of(Pod)

    def of(self, kind: type[C]) -> tuple[C, ...]:
        return cast("tuple[C, ...]", self.children.get(kind.kind, ()))

    def of_role(self, role: RoleName) -> tuple[Slot, ...]:
        return tuple(slot for slot in self.slots if slot.role == role)
