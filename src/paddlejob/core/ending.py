"""What the pods' ends mean: all workers succeeded, a pod failed by itself, or something outside took one away.

Parameter servers never exit by themselves: they count for failure, never for success.
"""

from __future__ import annotations

import msgspec

from paddlejob.api import Failure, Job, reasons
from paddlejob.core.children import Pod, Terminated
from paddlejob.core.disruption import is_disrupted
from paddlejob.core.gang import is_queued
from paddlejob.core.intranet import has_names
from paddlejob.core.observe import Observed, Slot
from paddlejob.core.verdict import targeted

# How Paddle's launcher ends when another member is gone.
AFTER_A_PEER = frozenset({241, 250})


class Completed(msgspec.Struct, frozen=True):
    pass


class Failed(msgspec.Struct, frozen=True):
    """A pod failed by itself."""

    failure: Failure


class Disrupted(msgspec.Struct, frozen=True):
    """A pod was ended, or taken away, by something outside its program."""

    failure: Failure


class Hung(msgspec.Struct, frozen=True):
    """Nothing moves any more, and the job wants to be started over then."""

    failure: Failure


def judge(job: Job, observed: Observed) -> Completed | Failed | Disrupted | None:
    """The end that the world shows, None while there is none.

    A disruption comes before failures: peers of a pod that is taken away fall after it.
    """
    workers = observed.of_role("worker")
    if workers and all(slot.state == "succeeded" for slot in workers):
        return Completed()
    failed = [slot.pod for slot in observed.slots if slot.pod and slot.state == "failed"]
    if disrupted := [pod for pod in failed if is_disrupted(pod)]:
        return Disrupted(describe(min(disrupted, key=_order)))
    lost = [slot for slot in observed.slots if is_lost(job, observed, slot)]
    if lost:
        return Disrupted(_loss(lost[0].name, lost[0].pod))
    return Failed(describe(min(failed, key=_order))) if failed else None


def first_cause(job: Job, observed: Observed) -> Failure | None:
    """Of a failed job: the reported failure, or that of another pod which turns out to have failed before."""
    if job.status.failure and job.status.failure.reason == reasons.HANGING:
        return job.status.failure  # how its pods end now is our own doing
    failed = {pod.metadata.name: pod for pod in observed.pods if pod.state == "failed"}
    known = failed.get(job.status.failure.pod) if job.status.failure else None
    if known is None:
        return job.status.failure
    first = min(failed.values(), key=_order)
    # That the pod is deleted now does not explain how it fell then.
    at, _, _ = _order(known)
    return describe(first) if _order(first)[:2] < (at, _after_a_peer(known)) else job.status.failure


def launched(job: Job, observed: Observed) -> bool:
    """Whether all pods of this attempt have existed: from then on a missing pod is a lost pod."""
    if job.status.phase in ("Starting", "Running") or job.status.launched or job.status.adopted:
        return True
    if job.status.phase == "Restarting" and has_names(job):
        return all((counted := job.status.role(role)) and not counted.pending for role, _ in job.spec.roles)
    # By address, the ConfigMap is written only when every pod has one.
    return not has_names(job) and observed.config_map is not None


def is_lost(job: Job, observed: Observed, slot: Slot) -> bool:
    gone = slot.pod is None or (slot.pod.deleting and not slot.pod.ended)
    # By name, it may have met the others before all of them have existed.
    met = slot.pod is not None and (slot.pod.state == "running" or is_queued(job, observed))
    return gone and not slot.succeeded and (met or launched(job, observed))


def launches(job: Job, observed: Observed) -> bool:
    """By name, pods run while others still wait for a node: whether all have existed since, which no phase tells."""
    if not has_names(job) or job.status.phase in ("Starting", "Running"):
        return False
    pods = [slot.pod for slot in observed.slots if slot.pod]
    meet = len(pods) == len(observed.slots) and any(pod.state == "running" or pod.ended for pod in pods)
    return bool(job.status.launched) or meet


def describe(pod: Pod) -> Failure:
    """What a person wants to know of a failed pod."""
    ended = _failed_container(pod)
    if ended is None and pod.deleting:
        return _loss(pod.metadata.name, pod)
    target = targeted(pod)
    causes = (pod.status.reason, target and target.reason, ended and ended.reason, reasons.ERROR)
    messages = (pod.status.message, target and target.message, ended and ended.message)
    return Failure(
        pod=pod.metadata.name,
        exit_code=ended.exit_code if ended else None,
        reason=next(one for one in causes if one),
        message=next((one for one in messages if one), "").strip(),
    )


def _loss(name: str, pod: Pod | None) -> Failure:
    target = targeted(pod) if pod else None
    if target:
        return Failure(pod=name, reason=target.reason or reasons.POD_LOST, message=target.message)
    return Failure(pod=name, reason=reasons.POD_LOST, message=f"pod {name} was deleted while the job was running")


def _failed_container(pod: Pod) -> Terminated | None:
    """Its training container; where that never ran, the first one that failed."""
    own = pod.training.state.terminated
    if own is not None:
        return own if own.exit_code else None
    ended = (container.state.terminated for container in pod.containers)
    return min((end for end in ended if end and end.exit_code != 0), key=_finished_at, default=None)


def _finished_at(end: Terminated) -> str:
    return end.finished_at or "~"  # an unknown time sorts after every known one


def _order(pod: Pod) -> tuple[str, bool, str]:
    """Who fell first. Of those that fell in the same second, one that a lost peer or a deletion can explain is last."""
    ended = _failed_container(pod)
    if ended is None:
        return ("~", pod.deleting, pod.metadata.name)
    return (_finished_at(ended), pod.deleting or _after_a_peer(pod), pod.metadata.name)


def _after_a_peer(pod: Pod) -> bool:
    ended = _failed_container(pod)
    return ended is not None and ended.exit_code in AFTER_A_PEER
