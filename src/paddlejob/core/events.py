"""Events: what happened to a job, from the difference between the status before and after.

What stands in a written status has had its event; so each comes once, and a restarted operator repeats none.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddlejob.api import Job, Status, reasons
from paddlejob.core.actions import JobEvent
from paddlejob.core.avoiding import avoiding_event
from paddlejob.core.stalls import spec_stall


def events(job: Job, after: Status) -> tuple[JobEvent, ...]:
    return tuple(_events(job, job.status, after))


def _events(job: Job, before: Status, after: Status) -> Iterator[JobEvent]:
    attempt = after.attempt
    if before.phase in (None, "Suspended") and after.phase != "Suspended" and _makes_pods(job, after):
        pods = " and ".join(f"{role.replicas} {name}" for name, role in job.spec.roles)
        yield JobEvent("Normal", reasons.CREATED, f"creating {pods} pods in {after.mode} mode", attempt)
    stall = after.condition("Stalled")
    if stall and _stall_reason(after) and _stall_reason(after) != _stall_reason(before):
        yield JobEvent("Warning", stall.reason, stall.message, attempt)
    if _count(after) != _count(before):
        whole = after.attempt != before.attempt
        note = after.message or "replacing a lost worker; the others keep running"
        yield JobEvent("Warning", reasons.RESTARTED if whole else reasons.REPLACED, note, _count(after))
    yield from avoiding_event(before, after, _count(after))
    if after.phase == before.phase:
        return
    match after.phase:
        case "Running":
            yield JobEvent("Normal", reasons.STARTED, "all pods are running", attempt)
        case "Scaling" if job.spec.worker and after.world:
            note = f"from {after.world.replicas} to {job.spec.worker.wanted} workers"
            yield JobEvent("Normal", reasons.SCALING, note, after.world.scalings)
        case "Completed":
            yield JobEvent("Normal", reasons.COMPLETED, after.message, attempt)
        case "Failed":
            yield JobEvent("Warning", reasons.FAILED, after.message, attempt)
        case "Suspended":
            yield JobEvent("Normal", reasons.SUSPENDED, "the job has no pods until it is resumed", attempt)
        case _:
            pass


def _makes_pods(job: Job, after: Status) -> bool:
    """Whether no stall forbids it from the beginning."""
    return spec_stall(job) is None and after.elastic != "ERROR"


def _count(status: Status) -> int:
    """Tells one restart from the next: a replaced pod begins no new attempt."""
    return status.restarts + status.disruptions + status.hangs + (status.world.comebacks if status.world else 0)


def _stall_reason(status: Status) -> str:
    condition = status.condition("Stalled")
    return condition.reason if condition and condition.status == "True" else ""
