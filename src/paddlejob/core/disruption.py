"""Disruptions told from failures: a pod that something outside its program ended.

A node lost or shut down, an eviction, a preemption, a kubelet without room, somebody's `kubectl delete pod`. Which
words of a kubelet mean what stands in `api/reasons`, each with its source.
"""

from __future__ import annotations

from paddlejob.api import reasons
from paddlejob.core.children import Pod
from paddlejob.core.verdict import targeted


def is_disrupted(pod: Pod) -> bool:
    """Whether something outside the program ended the pod, or is about to."""
    return targeted(pod) is not None or pod.deleting or _was_ended(pod)


def is_of_its_node(pod: Pod) -> bool:
    """Whether the node is why the pod was disrupted. That something more important took its place, that the node was
    drained or that somebody deleted the pod says nothing about the node."""
    target = targeted(pod)
    return target.reason in reasons.TARGETS_OF_NODES if target else _was_ended(pod)


def _was_ended(pod: Pod) -> bool:
    """By what its kubelet, or a controller, wrote on it."""
    if reason := pod.status.reason:
        return _is_of_the_node(reason, pod.status.message)
    end = pod.training.state.terminated
    if end is not None:
        return (end.reason, end.exit_code) in reasons.LOST_CONTAINERS
    ends = (one.state.terminated for one in pod.status.init_container_statuses)
    return any(end and (end.reason, end.exit_code) in reasons.LOST_CONTAINERS for end in ends)


def _is_of_the_node(reason: str, message: str) -> bool:
    if reason == reasons.EVICTED:
        return not any(words in message for words in reasons.OWN_LIMITS)
    return reason in reasons.DISRUPTIONS or reason.startswith(reasons.OUT_OF)
