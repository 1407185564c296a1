"""PodGroups: what a scheduler is told of a gang, one per attempt, made before its pods and removed when the job ends.

Three schedulers have three kinds of that name. One that the job's user made is used as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import Any

from paddlejob.api import Job
from paddlejob.api import names as n
from paddlejob.core.actions import Body, Create
from paddlejob.core.gang import GROUPS, Gang, Scheduler, gang_of, group_of, members
from paddlejob.core.groups import Group
from paddlejob.core.kind import Extent, Kind, Missing
from paddlejob.core.observe import Observed, Scheduling
from paddlejob.core.pod_resources import pod_resources
from paddlejob.core.pods import owner
from paddlejob.core.quantities import Amounts, plus, times, written


def min_member(job: Job, gang: Gang) -> int:
    """How many pods start together or not at all: as many as the job can begin with, unless it asks for fewer."""
    policy = job.spec.scheduling_policy
    least = sum(role.bounds[0] if job.spec.is_elastic else role.wanted for _, role in members(job, gang))
    return min(policy.min_available, least) if policy and policy.min_available else least


def min_resources(job: Job, gang: Gang) -> dict[str, str]:
    """What the first `min_member` pods ask for, in the order in which they are made; or what the job says."""
    policy = job.spec.scheduling_policy
    if policy and policy.min_resources is not None:
        return {name: str(quantity) for name, quantity in policy.min_resources.items()}
    left, needed = min_member(job, gang), Amounts()
    for _, role in members(job, gang):
        pods = min(left, role.wanted)
        needed = plus(needed, times(pods, pod_resources(role.template)))
        left -= pods
    return {name: written(value) for name, value in needed.items() if value > 0}


def _volcano(job: Job, gang: Gang) -> Body:
    policy = job.spec.scheduling_policy
    queue, priority = (policy.queue, policy.priority_class) if policy else (None, None)
    return {
        **_sized(job, gang, min_resources(job, gang)),
        **({"queue": queue} if queue else {}),
        **({"priorityClassName": priority} if priority else {}),
    }


def _coscheduling(job: Job, gang: Gang) -> Body:
    """Without resources, unless the job says them: a group that this plugin rejects for them is not looked at again
    when a node comes or a pod goes, only when some group or pod is made, or after five minutes."""
    policy = job.spec.scheduling_policy
    return _sized(job, gang, min_resources(job, gang) if policy and policy.min_resources else {})


def _sized(job: Job, gang: Gang, resources: dict[str, str]) -> Body:
    return {"minMember": min_member(job, gang), **({"minResources": resources} if resources else {})}


def _kubernetes(job: Job, gang: Gang) -> Body:
    return {"schedulingPolicy": {"gang": {"minCount": min_member(job, gang)}}}


def pod_group(job: Job, gang: Gang, kind: Kind[Any], spec: Callable[[Job, Gang], Body]) -> Body:
    return {
        "apiVersion": f"{kind.group}/{kind.version}",
        "kind": "PodGroup",
        "metadata": {
            "name": job.metadata.name,
            "namespace": job.metadata.namespace,
            "labels": {n.LABEL_JOB: job.metadata.name, n.LABEL_ATTEMPT: str(job.status.attempt)},
            "ownerReferences": [owner(job)],
        },
        "spec": spec(job, gang),
    }


def _kind(scheduler: Scheduler, group: str, version: str, spec: Callable[[Job, Gang], Body]) -> Kind[Any]:
    def wanted_by(job: Job, scheduling: Scheduling) -> bool:
        gang = gang_of(job, scheduling)
        return gang is not None and gang.scheduler == scheduler

    def missing(job: Job, observed: Observed, _: datetime) -> Iterator[Missing]:
        gang = gang_of(job, observed.scheduling)
        if gang is None or gang.scheduler != scheduler or not gang.made:
            return
        if kind.name not in observed.scheduling.unread and group_of(job, gang, observed) is None:
            yield Missing(kind.name, job.metadata.name, partial(_create, job, gang))

    def _create(job: Job, gang: Gang) -> Create:
        return Create(kind.name, job.metadata.name, pod_group(job, gang, kind, spec))

    kind: Kind[Any] = Kind(
        type=GROUPS[scheduler],
        group=group,
        version=version,
        plural="podgroups",
        names=lambda job: (job.metadata.name,),
        missing=missing,
        precedes_pods=lambda _: True,
        is_cleaned=is_cleaned,
        wanted_by=wanted_by,
        by_name=lambda name: name,
        is_custom=scheduler != "kubernetes",
    )
    return kind


def is_cleaned(_: Group, __: Extent) -> bool:
    """Whatever `cleanPodPolicy` says: a queue must not count what has ended."""
    return True


POD_GROUPS: tuple[Kind[Any], ...] = (
    _kind("volcano", "scheduling.volcano.sh", "v1beta1", _volcano),
    _kind("coscheduling", "scheduling.x-k8s.io", "v1alpha1", _coscheduling),
    _kind("kubernetes", "scheduling.k8s.io", "v1alpha2", _kubernetes),
)
