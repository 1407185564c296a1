"""What is there: a job's children, sorted once by role and index, and what the world refused lately.

Everything that `plan` may know stands in `Observed`. Nothing here decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Literal, TypeVar

import msgspec

from paddlejob.api import PaddleJob
from paddlejob.api.names import LABEL_ATTEMPT, RoleName, pod_name
from paddlejob.core.children import ConfigMap, Pod, PodState, Service

Kind = Literal["Pod", "Service", "ConfigMap", "PaddleJob"]
Child = Pod | Service | ConfigMap
C = TypeVar("C", Pod, Service, ConfigMap)


class Refusal(msgspec.Struct, frozen=True):
    """An object that the world did not let us make, why, and when to try again."""

    kind: Kind
    name: str
    reason: str
    message: str
    retry_at: datetime


class Ports(msgspec.Struct, frozen=True):
    """How it stands with ports of the host, for a job that uses its network."""

    full: str = ""
    """The range in which there is no free block for this job; empty while there is one."""
    disputed: bool = False
    """Whether an older job, or a pod of another, has some of the ports that stand on this one."""


class Slot(msgspec.Struct, frozen=True):
    """A place for one wanted pod, and the pod that fills it, if any."""

    role: RoleName
    index: int
    name: str
    pod: Pod | None = None

    @property
    def state(self) -> PodState:
        return "pending" if self.pod is None else self.pod.state


class Said(msgspec.Struct, frozen=True):
    """What etcd said of an elastic job, or why it said nothing. It judges the workers that had exited before."""

    id: str
    at: datetime
    value: str = ""
    exited: frozenset[str] = frozenset()
    error: str = ""


class Etcd(msgspec.Struct, frozen=True):
    """The etcd that is used unless a job names its own, and what is known from the one that the job uses."""

    server: str = ""
    said: Said | None = None
    forgotten: bool = False


NO_ETCD, NO_PORTS = Etcd(), Ports()


class Observed(msgspec.Struct, frozen=True):
    slots: tuple[Slot, ...] = ()
    pods: tuple[Pod, ...] = ()
    services: tuple[Service, ...] = ()
    config_map: ConfigMap | None = None
    leftovers: tuple[Pod, ...] = ()
    """Pods of earlier attempts: they must go before the next one begins."""
    old_config_map: ConfigMap | None = None
    """The ConfigMap while it holds the environment of an earlier attempt."""
    refusals: tuple[Refusal, ...] = ()
    taken: frozenset[tuple[Kind, str]] = frozenset()
    """Names that this job needs and an object of another owner has, for instance an earlier job of the same name."""
    etcd: Etcd = NO_ETCD
    ports: Ports = NO_PORTS

    def of_role(self, role: RoleName) -> tuple[Slot, ...]:
        return tuple(slot for slot in self.slots if slot.role == role)

    def held_back(self, now: datetime) -> frozenset[tuple[Kind, str]]:
        """What cannot be made now: its name is taken, or it was refused so lately that asking again is pestering."""
        return self.taken | {(one.kind, one.name) for one in self.refusals if now < one.retry_at}


def observe(
    job: PaddleJob,
    children: Iterable[Child] = (),
    refusals: Iterable[Refusal] = (),
    etcd: Etcd = NO_ETCD,
    ports: Ports = NO_PORTS,
) -> Observed:
    """Sort what the job owns. Of other owners' objects only a name that the job needs is noted."""
    found = tuple(children)
    own_pods, other_pods = _split(job, [one for one in found if isinstance(one, Pod)])
    own_services, other_services = _split(job, [one for one in found if isinstance(one, Service)])
    own_maps, other_maps = _split(job, [one for one in found if isinstance(one, ConfigMap)])
    attempt = str(job.status.attempt)
    current = {name: pod for name, pod in own_pods.items() if _attempt(pod) == attempt}
    slots = tuple(
        Slot(role, index, name := pod_name(job.metadata.name, role, index), current.get(name))
        for role, wanted in job.spec.roles
        for index in range(wanted.wanted)
    )
    config_map = own_maps.get(job.metadata.name)
    is_current = config_map is not None and _attempt(config_map) == attempt
    taken: set[tuple[Kind, str]] = {("ConfigMap", name) for name in other_maps if name == job.metadata.name}
    if other_pods or other_services:
        taken |= {("Pod", slot.name) for slot in slots if slot.name in other_pods}
        taken |= {("Service", slot.name) for slot in slots if slot.name in other_services}
    return Observed(
        slots=slots,
        pods=tuple(sorted(own_pods.values(), key=lambda pod: pod.metadata.name)),
        services=tuple(own_services.values()),
        config_map=config_map if is_current else None,
        leftovers=tuple(pod for name, pod in own_pods.items() if name not in current),
        old_config_map=None if is_current else config_map,
        refusals=tuple(refusals),
        taken=frozenset(taken),
        etcd=etcd,
        ports=ports,
    )


def _attempt(child: Pod | ConfigMap) -> str:
    return child.metadata.labels.get(LABEL_ATTEMPT, "0")


def _split(job: PaddleJob, children: Iterable[C]) -> tuple[dict[str, C], dict[str, C]]:
    """By name: what is this job's own, by UID, and what is not."""
    own: dict[str, C] = {}
    other: dict[str, C] = {}
    for child in children:
        (own if child.metadata.controller_uid == job.metadata.uid else other)[child.metadata.name] = child
    return own, other
