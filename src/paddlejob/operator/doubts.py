"""Pods of a job of which the watch tells too little: whether they are gone is not known before they are asked for.

Somebody may take away the labels by which we watch; then a pod that runs looks as if it were gone. But an API server
lets no pod go before it has told that no second of grace is left to it: for such a one nobody asks, nor for one that is
known to have succeeded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from paddlejob.api import Job
from paddlejob.api import names as n
from paddlejob.api.meta import OwnerReference
from paddlejob.core import Pod
from paddlejob.core.children import ConfigMap
from paddlejob.core.pods import pod_names
from paddlejob.core.sorting import succeeded
from paddlejob.kube.objects import Key
from paddlejob.kube.store import Change, Store

LABELS = frozenset({n.LABEL_RES_TYPE, n.LABEL_INDEX, n.LABEL_ATTEMPT})
# Every pod of such a job has existed: one that is not there would be called lost.
LAUNCHED = ("Starting", "Running", "Scaling")


class Doubts:
    def __init__(
        self, jobs: Store[Job], pods: Store[Pod], config_maps: Store[ConfigMap], wake: Callable[[Key, float], None]
    ) -> None:
        self._jobs = jobs
        self._pods = pods
        self._config_maps = config_maps
        self._wake = wake
        self._names: dict[str, set[str]] = {}
        """By the UID of the job."""
        self._seen: set[str] = set()
        """Jobs that were looked at in this term."""
        self._complete: set[str] = set()
        """Those of which every pod was seen or asked for in this term: what leaves the watch since then is noticed."""
        jobs.subscribe(self._job_changed)
        pods.subscribe(self._pod_changed)

    def new_term(self) -> None:
        """What happened while another led was not seen for certain."""
        self._seen.clear()
        self._complete.clear()

    def about(self, job: Job) -> tuple[str, ...]:
        """The names of its pods that have to be asked for before anything is decided."""
        uid = job.metadata.uid
        names = self._names.setdefault(uid, set())
        if uid not in self._seen:
            names.update(pod.metadata.name for pod in self._owned(job) if _lacks_labels(pod, job.metadata.name))
        if uid not in self._complete and self._may_have_others(job):
            self._complete.add(uid)
            names.update(self._missing(job))
        self._seen.add(uid)
        return tuple(sorted(names))

    def settle(self, job: Job, name: str) -> None:
        self._names.get(job.metadata.uid, set()).discard(name)

    def _may_have_others(self, job: Job) -> bool:
        """Whether pods of it may be there of which nothing is known: of this attempt, or of one before.

        What appears later in a term is our own work, unless a pod was found that had lost its labels.
        """
        status, uid = job.status, job.metadata.uid
        if status.finished:
            return False
        told = status.attempt > 0 or status.phase in LAUNCHED or bool(status.launched) or status.is_of_another
        if told or self._names[uid]:
            return True
        return uid not in self._seen and bool(self._owned(job) or self._config_maps.owned_by(uid))

    def _missing(self, job: Job) -> Iterator[str]:
        """Pods that it wants and that no watch has told of; of those that have succeeded nothing is wanted any more."""
        namespace, name = job.metadata.key
        done = {n.pod_name(name, "worker", index) for index in succeeded(job)}
        return (one for one in pod_names(job) if one not in done and self._pods.get((namespace, one)) is None)

    def _owned(self, job: Job) -> tuple[Pod, ...]:
        return self._pods.owned_by(job.metadata.uid)

    def _pod_changed(self, change: Change[Pod]) -> None:
        pod = change.after or change.before
        assert pod is not None, "a change has two sides, and one of them is something"
        owner = _owner(pod)
        if owner is None:
            return
        if _may_go(pod) if change.after is None else not _lacks_labels(pod, owner.name):
            return
        key = (pod.metadata.namespace, owner.name)
        job = self._jobs.get(key)
        if job is None or job.metadata.uid != owner.uid or job.metadata.deletion_timestamp is not None:
            return
        if change.after is None and job.status.finished:
            return  # whatever became of it, nothing is decided any more
        self._names.setdefault(owner.uid, set()).add(pod.metadata.name)
        self._wake(key, 0.0)

    def _job_changed(self, change: Change[Job]) -> None:
        before, after = change.before, change.after
        if before is not None and (after is None or before.metadata.uid != after.metadata.uid):
            self._names.pop(before.metadata.uid, None)
            self._seen.discard(before.metadata.uid)
            self._complete.discard(before.metadata.uid)


def _owner(pod: Pod) -> OwnerReference | None:
    for one in pod.metadata.owner_references:
        if one.controller and one.kind == n.KIND:
            return one
    return None


def _may_go(pod: Pod) -> bool:
    """Whether the API server removes it as soon as it can: then that it left the watch means that it is gone."""
    return pod.metadata.deletion_grace_period_seconds == 0 and not pod.metadata.finalizers


def _lacks_labels(pod: Pod, owner: str) -> bool:
    meta = pod.metadata
    named = (meta.labels.get(n.LABEL_JOB), meta.labels.get(n.LABEL_RES_NAME)) == (owner, meta.name)
    return not ((named and meta.labels.keys() >= LABELS) or pod.deleting)
