"""Whether a job has ended, and how: all workers succeeded, or a pod failed or was lost.

Parameter servers never exit by themselves: they count for failure, never for success.
"""

from __future__ import annotations

import msgspec

from paddlejob.api import Failure, PaddleJob
from paddlejob.core.children import Pod, Terminated
from paddlejob.core.observe import Observed, Slot


class Completed(msgspec.Struct, frozen=True):
    pass


class Failed(msgspec.Struct, frozen=True):
    failure: Failure


def judge(job: PaddleJob, observed: Observed) -> Completed | Failed | None:
    """The end that the world shows, None while there is none."""
    workers = observed.of_role("worker")
    missing_but_done = forgotten(job, observed)
    if workers and sum(slot.state == "succeeded" for slot in workers) + missing_but_done >= len(workers):
        return Completed()
    failed = [pod for slot in observed.slots if (pod := slot.pod) and pod.state == "failed"]
    if failed:
        return Failed(describe(min(failed, key=_order)))
    lost = [slot for slot in observed.slots if is_lost(job, observed, slot)]
    if len(lost) > missing_but_done:
        return Failed(
            Failure(
                pod=lost[0].name,
                reason="PodLost",
                message=f"pod {lost[0].name} was deleted while the job ran",
            )
        )
    return None


def launched(job: PaddleJob, observed: Observed) -> bool:
    """Whether all pods of this attempt have existed: from then on a missing pod is a lost pod."""
    if job.status.phase in ("Starting", "Running"):
        return True
    # By address, the ConfigMap is written only when every pod has one.
    return job.spec.network != "Service" and observed.config_map is not None


def is_lost(job: PaddleJob, observed: Observed, slot: Slot) -> bool:
    gone = slot.pod is None or (slot.pod.deleting and not slot.pod.finished)
    return gone and launched(job, observed)


def forgotten(job: PaddleJob, observed: Observed) -> int:
    """Workers that were seen to succeed and then deleted by someone: the status remembers how many.

    Such a worker is counted twice there, as succeeded and, its pod being gone, as unknown: by so much the counts
    exceed the replicas. Without that, a worker that succeeds later could not be told from the one that is gone.
    """
    before = job.status.worker
    if before is None or not launched(job, observed):
        return 0
    workers = observed.of_role("worker")
    seen = sum(slot.state == "succeeded" for slot in workers)
    missing = sum(is_lost(job, observed, slot) for slot in workers)
    remembered = max(0, before.total - len(workers))
    vanished = max(0, before.succeeded - remembered - seen)
    return min(missing, remembered + vanished)


def describe(pod: Pod) -> Failure:
    """What a person wants to know of a failed pod."""
    ended = _first_failed_container(pod)
    return Failure(
        pod=pod.metadata.name,
        exit_code=ended.exit_code if ended else None,
        reason=pod.status.reason or (ended.reason if ended else "") or "Error",
        message=(pod.status.message or (ended.message if ended else "")).strip(),
    )


def _first_failed_container(pod: Pod) -> Terminated | None:
    ended = (one.state.terminated for one in pod.containers)
    return min((end for end in ended if end and end.exit_code != 0), key=_finished_at, default=None)


def _finished_at(end: Terminated) -> str:
    return end.finished_at or "~"  # an unknown time sorts after every known one


def _order(pod: Pod) -> tuple[str, str]:
    ended = _first_failed_container(pod)
    return (_finished_at(ended) if ended else "~", pod.metadata.name)
