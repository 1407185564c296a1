"""Gang scheduling: whether the pods of a job are placed together or not at all, by whom, and who makes their group.

| the job | by | who makes the group |
| --- | --- | --- |
| has the label of a Kueue queue | Kueue | Kueue, from the pods |
| names the scheduler volcano in a template | Volcano | its user, unless it has a schedulingPolicy |
| has a schedulingPolicy | whom --scheduling names, else Volcano | the operator |
| has none | whom --scheduling names, unless a template names another scheduler than that one | the operator |
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Literal

import msgspec

from paddlejob.api import Job
from paddlejob.api.names import ANNOTATION_GROUP, LABEL_ATTEMPT, LABEL_GROUP, LABEL_QUEUE, LONGEST_NAME, RoleName
from paddlejob.api.spec import Role
from paddlejob.core.groups import CoschedulingPodGroup, Group, KubernetesPodGroup, VolcanoPodGroup, Workload
from paddlejob.core.managed import is_ours
from paddlejob.core.observe import Observed, Scheduling
from paddlejob.core.template import mapping

Scheduler = Literal["volcano", "coscheduling", "kubernetes", "kueue"]

VOLCANO = "volcano"
# What pods say under schedulerName where their template is silent; the others use the cluster's own.
SCHEDULER_NAMES: dict[Scheduler, str] = {"volcano": VOLCANO, "coscheduling": "scheduler-plugins-scheduler"}
GROUPS: dict[Scheduler, type[Group]] = {
    "volcano": VolcanoPodGroup,
    "coscheduling": CoschedulingPodGroup,
    "kubernetes": KubernetesPodGroup,
    "kueue": Workload,
}


class Gang(msgspec.Struct, frozen=True):
    scheduler: Scheduler
    scheduler_name: str | None
    """Of every pod whose template names none."""
    made: bool
    """Whether the operator makes the group."""

    @property
    def group(self) -> type[Group]:
        return GROUPS[self.scheduler]


def gang_of(job: Job, scheduling: Scheduling) -> Gang | None:
    if scheduling.local or not is_ours(job):
        return None
    if job.metadata.labels.get(LABEL_QUEUE):
        return Gang("kueue", None, made=False)
    found = _by_group(job, scheduling)
    return None if found is None or _groups_itself(job) else found


def _by_group(job: Job, scheduling: Scheduling) -> Gang | None:
    named, asks = _named(job), job.spec.scheduling_policy is not None
    if named == VOLCANO:
        return Gang("volcano", VOLCANO, made=asks)
    if scheduling.by == "none":
        return Gang("volcano", named or VOLCANO, made=True) if asks else None
    if scheduling.by == "volcano" and named and not asks:
        return None  # its template chose another scheduler
    return Gang(scheduling.by, named or SCHEDULER_NAMES.get(scheduling.by), made=True)


def group_of(job: Job, gang: Gang, observed: Observed) -> Group | None:
    """The group of this attempt, or the one that the job's user has made."""
    found = [one for one in observed.of(gang.group) if not _is_old(job, one)]
    lent = [one for one in observed.lent if isinstance(one, gang.group)]
    return next((one for one in (*found, *lent)), None)


def old_groups(job: Job, observed: Observed) -> Iterator[Group]:
    """Those of earlier attempts: a group is never used twice."""
    return (one for kind in GROUPS.values() for one in observed.of(kind) if _is_old(job, one))


def _is_old(job: Job, group: Group) -> bool:
    return group.metadata.labels.get(LABEL_ATTEMPT, "0") != str(job.status.attempt)


def members(job: Job, gang: Gang) -> Iterator[tuple[RoleName, Role]]:
    """The roles whose pods belong to the gang: not those whose template names another scheduler."""
    for name, role in job.spec.roles:
        if gang.scheduler == "kueue" or _scheduler_name(role) in (None, gang.scheduler_name):
            yield name, role


def is_queued(job: Job, observed: Observed) -> bool:
    """Whether its pods are Kueue's: what is lost cannot come back by itself."""
    return bool(job.metadata.labels.get(LABEL_QUEUE)) and gang_of(job, observed.scheduling) is not None


def kueue_group(job: Job) -> str:
    """What its pods are called together: another name in every attempt, for Kueue takes no name twice."""
    told = hashlib.sha256(f"{job.metadata.uid}/{job.status.attempt}".encode()).hexdigest()
    return f"{job.metadata.name[: LONGEST_NAME - 9]}-{told[:8]}"


def _named(job: Job) -> str | None:
    """The scheduler that a template names. The user's documents name it in that of the workers alone."""
    roles = dict(job.spec.roles)
    ordered = (roles[name] for name in ("worker", "ps", "heter") if name in roles)
    return next((name for role in ordered if (name := _scheduler_name(role))), None)


def _scheduler_name(role: Role) -> str | None:
    found = mapping(role.template.get("spec")).get("schedulerName")
    return found if isinstance(found, str) and found else None


def _groups_itself(job: Job) -> bool:
    """Whether a template names a group of its own."""
    metas = (mapping(role.template.get("metadata")) for _, role in job.spec.roles)
    return any(
        ANNOTATION_GROUP in mapping(meta.get("annotations")) or LABEL_GROUP in mapping(meta.get("labels"))
        for meta in metas
    )
