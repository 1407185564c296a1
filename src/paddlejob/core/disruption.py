"""Disruptions told from failures: a pod that something outside its program ended.

A node lost or shut down, an eviction, a preemption, a kubelet without room, somebody's `kubectl delete pod`.
"""

from __future__ import annotations

from paddlejob.api import reasons
from paddlejob.core.children import Pod, PodCondition


def is_disrupted(pod: Pod) -> bool:
    """Whether something outside the program ended the pod, or is about to."""
    reason = pod.status.reason
    if targeted(pod) or pod.deleting or reason in reasons.DISRUPTIONS or reason.startswith(reasons.OUT_OF):
        return True
    # A kubelet also evicts a pod that fills its disk beyond its own limit: that is the program's doing.
    return reason == reasons.EVICTED and "exceed" not in pod.status.message


def targeted(pod: Pod) -> PodCondition | None:
    """What Kubernetes says of a disruption of its own."""
    return next((one for one in pod.status.conditions if one.type == "DisruptionTarget" and one.status == "True"), None)
