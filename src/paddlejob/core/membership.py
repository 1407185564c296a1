"""What a pod carries so that its scheduler knows the gang that it belongs to. What its template says wins."""

from __future__ import annotations

import msgspec

from paddlejob.api import Job
from paddlejob.api import names as n
from paddlejob.api.names import RoleName
from paddlejob.core.actions import Body
from paddlejob.core.gang import Gang, kueue_group, members

Texts = dict[str, str]


class Membership(msgspec.Struct, frozen=True):
    labels: Texts = {}
    annotations: Texts = {}
    spec: Body = {}


NONE = Membership()


def membership(job: Job, role: RoleName, gang: Gang | None) -> Membership:
    if gang is None or role not in dict(members(job, gang)):
        return NONE
    named = {"schedulerName": gang.scheduler_name} if gang.scheduler_name else {}
    group = job.metadata.name
    match gang.scheduler:
        case "volcano":
            return Membership(annotations={n.ANNOTATION_GROUP: group}, spec=named)
        case "coscheduling":
            return Membership(labels={n.LABEL_GROUP: group}, spec={**_priority(job), **named})
        case "kueue":
            return _queued(job, role)
        case _:  # Kubernetes itself
            in_group = {"schedulingGroup": {"podGroupName": group}}
            return Membership(spec={**_priority(job), **named, **in_group})


def _queued(job: Job, role: RoleName) -> Membership:
    """One group of all pods. Whatever of the job's labels and annotations is for Kueue goes with them.

    A lost pod is not to be replaced within its group: Kueue would keep the others until one came. Each role is one
    set of pods, however its pods differ in their ports: Kueue takes eight sets at most.
    """
    given = job.metadata.labels
    labels = {label: given[label] for label in (n.LABEL_QUEUE, n.LABEL_KUEUE_PRIORITY) if label in given}
    return Membership(
        labels={**labels, n.LABEL_KUEUE_GROUP: kueue_group(job)},
        annotations={
            **{name: text for name, text in job.metadata.annotations.items() if name.startswith(n.KUEUE_POD_SET)},
            f"{n.KUEUE}/pod-group-total-count": str(sum(asked.wanted for _, asked in job.spec.roles)),
            f"{n.KUEUE}/retriable-in-group": "false",
            f"{n.KUEUE}/role-hash": role,
        },
        spec=_priority(job),
    )


def _priority(job: Job) -> Body:
    """Where a group has no priority of its own, its pods have it."""
    policy = job.spec.scheduling_policy
    return {"priorityClassName": policy.priority_class} if policy and policy.priority_class else {}
