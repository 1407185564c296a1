"""What must hold when trouble is over, or has not touched anything for a while: every job goes on, or says why not."""

from __future__ import annotations

from collections.abc import Iterator

from paddlejob.api.names import ANNOTATION_ENVIRONMENT
from paddlejob.kube.client import TIMEOUT_SECONDS
from tests.chaos.lives import JobLife, seconds
from tests.chaos.model import Complaint, Model

# How long a job may be silent while nothing keeps the operators from their work: they need seconds, but a call that
# trouble has left without an answer holds its job up until it is given up.
SILENCE = TIMEOUT_SECONDS + 10.0
LONGEST_BACKOFF = 370.0
CLEANED_AFTER = {
    "Always": ("Completed", "Failed"),
    "OnCompletion": ("Completed",),
    "OnFailure": ("Failed",),
    "Never": (),
}


def unsettled(model: Model, now: float) -> Iterator[tuple[JobLife, str]]:
    """Jobs that still have to move, and what they are waiting for."""
    for job in model.jobs.values():
        if not job.gone and (why := _why_unsettled(job, now)):
            yield job, why


def _why_unsettled(job: JobLife, now: float) -> str | None:
    if job.deleting:
        return "it is being deleted"
    if job.finished:
        return _why_uncleaned(job, now)
    if job.spec.get("suspend"):
        if job.phase != "Suspended":
            return f"suspended, but {job.phase}"
        return f"suspended, but {job.live[0].name} is there" if job.live else None
    if _waits_openly(job, now):
        return None
    pods = {pod.name: "deleting" if pod.deleting else pod.phase for pod in job.live}
    return f"{job.phase} {job.reason!r} {job.status.get('message', '')!r} {pods}"


def _waits_openly(job: JobLife, now: float) -> bool:
    """For the next attempt, whose time stands in the status, and it says why, unless a stranger made it wait."""
    at = job.next_attempt
    says_why = bool(job.reason) or job.meddled
    return job.phase == "Restarting" and says_why and at is not None and now < at < now + LONGEST_BACKOFF


def _is_up_to_its_nodes(job: JobLife) -> bool:
    """Whether operators have done all they can: every pod that does not run is placed, and has what it waits for."""
    waiting = [pod for pod in job.live if pod.phase == "Pending"]
    named = job.spec.get("intranet") == "Service"
    return job.phase == "Starting" and all(
        pod.body["spec"].get("nodeName")
        and (named or not pod.body["status"].get("podIP") or ANNOTATION_ENVIRONMENT in pod.annotations)
        for pod in waiting
    )


def _why_uncleaned(job: JobLife, now: float) -> str | None:
    ttl, ended = job.spec.get("ttlSecondsAfterFinished"), job.status.get("completionTime")
    if ttl is not None and ended is not None and now > seconds(ended) + ttl:
        return f"it ended at {ended}, but did not delete itself after {ttl} s"
    policy = job.spec.get("cleanPodPolicy") or job.spec.get("cleanPolicy") or "Running"
    if policy == "Never":
        return None
    all_of_them = job.phase in CLEANED_AFTER.get(policy, ())
    left = [pod.name for pod in job.live if all_of_them or pod.phase not in ("Succeeded", "Failed") or pod.deleting]
    return f"{job.phase} with cleanPodPolicy {policy}, but {left} are there" if left else None


def silent(model: Model, now: float, quiet_since: float | None) -> Iterator[Complaint]:
    """Jobs that neither run nor say why, although the operators were left alone for long enough."""
    if quiet_since is None or now - quiet_since < SILENCE:
        return
    for job in model.jobs.values():
        order = model.orders.get(job.name)
        if job.gone or job.deleting or job.finished or job.phase in ("Running", "Suspended") or job.reason:
            continue
        # Nobody can see why a kubelet does not come to a pod, and kwok at times does not for half a minute.
        late = (order is not None and order.fate == "never starts") or _is_up_to_its_nodes(job)
        if late or _waits_openly(job, now):
            continue
        if now - job.changed_at > SILENCE:
            pods = {pod.name: "deleting" if pod.deleting else pod.phase for pod in job.live}
            yield Complaint("a job that does not go on says why", job.name, f"{job.phase or 'no phase'}, {pods}")
