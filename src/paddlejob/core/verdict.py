"""What a pod has come to. Its training container decides: what a sidecar does neither holds a job open nor fails it.

Exit 0 of a pod that was being taken away is no success: a program that is told to stop may well stop in good order.
Where times cannot tell, it counts as taken away: to train once more costs time, half a training is a wrong result.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from paddlejob.core.times import LONG_AGO, after, moment

if TYPE_CHECKING:
    from paddlejob.core.children import ContainerStatus, Pod, PodCondition, PodState

TARGETS = ("DisruptionTarget", "TerminationTarget")


def state_of(pod: Pod) -> PodState:
    phase, container = pod.status.phase, pod.training
    end = container.state.terminated if pod.finished or _stays_ended(pod, container) else None
    if phase == "Succeeded" or (end is not None and end.exit_code == 0):
        return "failed" if _was_taken(pod, end.finished_at if end else None) else "succeeded"
    if phase == "Failed" or end is not None:
        return "failed"
    if phase == "Running" or (phase == "Pending" and container.state.running):
        return "running"
    if phase == "Pending":
        return "starting" if pod.spec.node_name else "pending"
    return "unknown"


def targeted(pod: Pod) -> PodCondition | None:
    """What Kubernetes says of a disruption of its own, or Kueue of a pod whose quota it takes back."""
    return next((one for one in pod.status.conditions if one.type in TARGETS and one.status == "True"), None)


def is_over(pod: Pod) -> bool:
    """Whether all its containers have ended for good: a kubelet tells that a moment before it gives the pod its last
    phase. It ends native sidecars, which count as init containers, by itself."""
    containers = pod.status.container_statuses
    return pod.finished or (bool(containers) and all(_stays_ended(pod, one) for one in containers))


def _stays_ended(pod: Pod, container: ContainerStatus) -> bool:
    """Whether it has ended and its kubelet does not start it again."""
    end = container.state.terminated
    if end is None:
        return False
    policy = pod.restart_policy(container)
    return policy == "Never" or (policy == "OnFailure" and end.exit_code == 0)


def _was_taken(pod: Pod, finished_at: str | None) -> bool:
    """Whether the pod was being taken away when its program exited 0.

    | taken away by | the program ended before, if |
    | --- | --- |
    | a deletion with a grace period | it ended before the second in which somebody asked for it |
    | a deletion without | it did not end later: an API server grants no period to a pod that has finished |
    | a DisruptionTarget | it ended before the second in which the condition became true |
    | its kubelet, which tells a reason but not when | never |
    """
    ended = moment(finished_at) if finished_at else LONG_AGO
    known = ended if ended > LONG_AGO else None
    target = targeted(pod)
    if target is not None:
        chosen = moment(target.last_transition_time or "")
        if known is None or known >= chosen:
            return True
    elif pod.status.phase == "Failed" and pod.status.reason:
        return True
    return pod.deleting and _was_deleted(pod, known)


def _was_deleted(pod: Pod, ended: datetime | None) -> bool:
    grace = pod.metadata.deletion_grace_period_seconds or 0
    if ended is None:
        return grace > 0
    # An API server writes the moment at which the pod ought to be gone.
    due, last = moment(pod.metadata.deletion_timestamp or ""), after(ended, grace)
    return last >= due if grace else last > due
