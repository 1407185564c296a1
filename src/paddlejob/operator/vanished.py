"""Pods of a living job that ended and are gone, for as long as its status does not say how they ended.

A watch may tell both in one breath, and somebody may delete a pod before a status is written: then this is all that is
known of a worker that succeeded. To the plan such a pod looks as if it were still there. If this is lost too, the pod
counts as lost. An elastic worker's exit says nothing by itself: its launcher tells etcd.
"""

from __future__ import annotations

from paddlejob.api import Job
from paddlejob.api.names import LABEL_ATTEMPT, LABEL_JOB, LABEL_RES_TYPE
from paddlejob.core import Pod
from paddlejob.core.disruption import is_disrupted
from paddlejob.core.pods import slot_named
from paddlejob.core.sorting import succeeded
from paddlejob.kube.store import Change, Store


class Vanished:
    def __init__(self, jobs: Store[Job], pods: Store[Pod]) -> None:
        self._jobs = jobs
        self._pods: dict[str, dict[str, Pod]] = {}
        """By the UID of the job, and by name."""
        jobs.subscribe(self._job_changed)
        pods.subscribe(self._pod_changed)

    def of(self, job: Job) -> tuple[Pod, ...]:
        return tuple(self._pods.get(job.metadata.uid, {}).values())

    def _pod_changed(self, change: Change[Pod]) -> None:
        pod = change.after or change.before
        assert pod is not None, "a change has two sides, and one of them is something"
        owner = pod.metadata.controller_uid or ""
        if change.after is not None:
            self._forget(owner, pod.metadata.name)
            return
        job = self._jobs.get((pod.metadata.namespace, pod.metadata.labels.get(LABEL_JOB, "")))
        if job is None or job.metadata.uid != owner or job.spec.is_elastic:
            return
        if _has_a_verdict(pod) and not _is_told(job, pod):
            self._pods.setdefault(owner, {})[pod.metadata.name] = pod

    def _job_changed(self, change: Change[Job]) -> None:
        before, after = change.before, change.after
        if before is not None and (after is None or before.metadata.uid != after.metadata.uid):
            self._pods.pop(before.metadata.uid, None)
        if after is not None:
            for pod in self.of(after):
                if _is_told(after, pod):
                    self._forget(after.metadata.uid, pod.metadata.name)

    def _forget(self, owner: str, name: str) -> None:
        known = self._pods.get(owner, {})
        known.pop(name, None)
        if not known:
            self._pods.pop(owner, None)


def _has_a_verdict(pod: Pod) -> bool:
    """Of one that something took away nothing is to be remembered, nor of a server that exited 0: it is lost."""
    if pod.state == "succeeded":
        return pod.metadata.labels.get(LABEL_RES_TYPE) == "worker"
    return pod.state == "failed" and not is_disrupted(pod)


def _is_told(job: Job, pod: Pod) -> bool:
    """Whether the status has taken into account how the pod ended."""
    status, slot = job.status, slot_named(job, pod.metadata.name)
    if status.finished or pod.metadata.labels.get(LABEL_ATTEMPT) != str(status.attempt):
        return True
    counted = pod.metadata.uid in status.replacing
    return counted or slot is None or (slot.role == "worker" and slot.index in succeeded(job))
