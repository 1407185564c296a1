"""Disruptions told from failures: a pod that something outside its program ended.

A node lost or shut down, an eviction, a preemption, a kubelet without room, somebody's `kubectl delete pod`.
"""

from __future__ import annotations

from paddlejob.core.children import Pod, PodCondition

# What a kubelet writes on a pod that it ends, or does not take in, for reasons of its node.
REASONS = frozenset(
    {
        "NodeAffinity",
        "NodeLost",
        "NodePorts",
        "NodeShutdown",
        "Preempting",
        "Shutdown",
        "Terminated",
        "UnexpectedAdmissionError",
    }
)


def is_disrupted(pod: Pod) -> bool:
    """Whether something outside the program ended the pod, or is about to."""
    reason = pod.status.reason
    if targeted(pod) or pod.deleting or reason in REASONS or reason.startswith("OutOf"):
        return True
    # A kubelet also evicts a pod that fills its disk beyond its own limit: that is the program's doing.
    return reason == "Evicted" and "exceed" not in pod.status.message


def targeted(pod: Pod) -> PodCondition | None:
    """What Kubernetes says of a disruption of its own."""
    return next((one for one in pod.status.conditions if one.type == "DisruptionTarget" and one.status == "True"), None)
