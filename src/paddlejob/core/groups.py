"""What schedulers say of a gang: PodGroups, of which three schedulers have each their own, and Kueue's Workloads.

As much of them as decisions read. Each says whether pods may be made, and in its own words what it waits for.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from paddlejob.api import reasons
from paddlejob.core.children import Child, KindName


class GroupCondition(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class GroupStatus(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    phase: str = ""
    conditions: tuple[GroupCondition, ...] = ()


class Group(Child, frozen=True, gc=False, kw_only=True):
    status: GroupStatus = GroupStatus()

    @property
    def admitted(self) -> bool:
        """Whether pods may be made: most schedulers decide only when they are there."""
        return True

    @property
    def waits(self) -> bool:
        """Whether the scheduler says that the gang as a whole has to wait."""
        return self.words is not None

    @property
    def words(self) -> GroupCondition | None:
        """What it waits for, as far as the scheduler says it."""
        return None

    def condition(self, type_: str, status: str) -> GroupCondition | None:
        """The last of them that is so."""
        found = [one for one in self.status.conditions if (one.type, one.status) == (type_, status)]
        return found[-1] if found else None


class VolcanoPodGroup(Group, frozen=True, gc=False, kw_only=True):
    kind: ClassVar[KindName] = "PodGroup.scheduling.volcano.sh"

    @property
    def admitted(self) -> bool:
        """Pending: its queue has no room for it."""
        return self.status.phase not in ("", "Pending")

    @property
    def waits(self) -> bool:
        return not self.admitted or (self.status.phase == "Inqueue" and self.words is not None)

    @property
    def words(self) -> GroupCondition | None:
        return self.condition(reasons.UNSCHEDULABLE, "True")


class CoschedulingPodGroup(Group, frozen=True, gc=False, kw_only=True):
    """It has a phase and no words: the pods tell."""

    kind: ClassVar[KindName] = "PodGroup.scheduling.x-k8s.io"


class KubernetesPodGroup(Group, frozen=True, gc=False, kw_only=True):
    kind: ClassVar[KindName] = "PodGroup.scheduling.k8s.io"

    @property
    def words(self) -> GroupCondition | None:
        return self.condition("PodGroupScheduled", "False")


class Workload(Group, frozen=True, gc=False, kw_only=True):
    """Kueue makes it, when all pods are there."""

    kind: ClassVar[KindName] = "Workload.kueue.x-k8s.io"

    @property
    def words(self) -> GroupCondition | None:
        if self.condition("Admitted", "True") or self.condition("Finished", "True"):
            return None
        return self.condition("QuotaReserved", "False") or self.condition("Admitted", "False")
