"""What is there: a job's children, sorted once by role and index, and what the world refused lately.

Everything that `plan` may know stands in `Observed`. Nothing here decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

import msgspec

from paddlejob.api import PaddleJob
from paddlejob.api.names import RoleName, pod_name
from paddlejob.core.children import ConfigMap, Pod, PodState, Service

Kind = Literal["Pod", "Service", "ConfigMap"]


class Refusal(msgspec.Struct, frozen=True):
    """An object that the world did not let us make, why, and when to try again."""

    kind: Kind
    name: str
    reason: str
    message: str
    retry_at: datetime


class Slot(msgspec.Struct, frozen=True):
    """A place for one wanted pod, and the pod that fills it, if any."""

    role: RoleName
    index: int
    name: str
    pod: Pod | None = None

    @property
    def state(self) -> PodState:
        return "pending" if self.pod is None else self.pod.state


class Observed(msgspec.Struct, frozen=True):
    slots: tuple[Slot, ...] = ()
    pods: tuple[Pod, ...] = ()
    services: tuple[Service, ...] = ()
    config_map: ConfigMap | None = None
    refusals: tuple[Refusal, ...] = ()

    def of_role(self, role: RoleName) -> tuple[Slot, ...]:
        return tuple(slot for slot in self.slots if slot.role == role)

    def held_back(self, now: datetime) -> frozenset[tuple[Kind, str]]:
        """What was refused so lately that asking again now would be pestering."""
        return frozenset((one.kind, one.name) for one in self.refusals if now < one.retry_at)


def observe(
    job: PaddleJob,
    pods: Iterable[Pod] = (),
    services: Iterable[Service] = (),
    config_maps: Iterable[ConfigMap] = (),
    refusals: Iterable[Refusal] = (),
) -> Observed:
    """Sort what the job owns. Objects of other owners are none of its business and are left out."""
    owned = {pod.metadata.name: pod for pod in pods if _is_owned(job, pod)}
    return Observed(
        slots=tuple(
            Slot(role, index, name := pod_name(job.metadata.name, role, index), owned.get(name))
            for role, wanted in job.spec.roles
            for index in range(wanted.replicas)
        ),
        pods=tuple(sorted(owned.values(), key=lambda pod: pod.metadata.name)),
        services=tuple(one for one in services if _is_owned(job, one)),
        config_map=next(
            (one for one in config_maps if _is_owned(job, one) and one.metadata.name == job.metadata.name),
            None,
        ),
        refusals=tuple(refusals),
    )


def _is_owned(job: PaddleJob, child: Pod | Service | ConfigMap) -> bool:
    return child.metadata.controller_uid == job.metadata.uid
