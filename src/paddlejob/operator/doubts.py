"""Pods of a job of which the watch tells too little: whether they are gone is not known before they are asked for.

Somebody may take away the labels by which we watch; then a pod that runs looks as if it were deleted. A pod that was
being deleted, or had ended, is gone when the watch says so, and nobody asks for it, nor for one that is known to have
succeeded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
        self._known: set[str] = set()
        self._expected: set[str] = set()
        jobs.subscribe(self._job_changed)
        pods.subscribe(self._pod_changed)

    def new_term(self) -> None:
        """What happened while another led was not seen for certain."""
        self._known.clear()

    def about(self, job: Job) -> tuple[str, ...]:
        """The names of its pods that have to be asked for before anything is decided."""
        uid = job.metadata.uid
        if uid not in self._known:
            self._known.add(uid)
            self._names.setdefault(uid, set()).update(self._at_first_sight(job))
        return tuple(sorted(self._names.get(uid, ())))

    def settle(self, job: Job, name: str) -> None:
        self._names.get(job.metadata.uid, set()).discard(name)

    @contextmanager
    def expecting(self, uid: str) -> Iterator[None]:
        """While we delete a pod ourselves: the watch may tell that it is gone before the answer does."""
        self._expected.add(uid)
        try:
            yield
        finally:
            self._expected.discard(uid)

    def _at_first_sight(self, job: Job) -> Iterator[str]:
        for pod in self._pods.owned_by(job.metadata.uid):
            if _lacks_labels(pod, job.metadata.name):
                yield pod.metadata.name
        if self._has_begun(job):
            namespace, name = job.metadata.key
            done = {n.pod_name(name, "worker", index) for index in succeeded(job)}
            yield from (one for one in pod_names(job) if one not in done and self._pods.get((namespace, one)) is None)

    def _has_begun(self, job: Job) -> bool:
        """Whether pods of it may be there of which nothing is known: of this attempt, or of one before."""
        status, uid = job.status, job.metadata.uid
        if status.finished:
            return False
        told = status.attempt > 0 or status.phase in LAUNCHED or bool(status.launched)
        return told or bool(self._pods.owned_by(uid)) or bool(self._config_maps.owned_by(uid))

    def _pod_changed(self, change: Change[Pod]) -> None:
        pod = change.after or change.before
        assert pod is not None, "a change has two sides, and one of them is something"
        owner = _owner(pod)
        if owner is None:
            return
        if change.after is None:
            certain = pod.deleting or pod.metadata.uid in self._expected
        else:
            certain = not _lacks_labels(pod, owner.name)
        if certain:
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
            self._known.discard(before.metadata.uid)


def _owner(pod: Pod) -> OwnerReference | None:
    for one in pod.metadata.owner_references:
        if one.controller and one.kind == n.KIND:
            return one
    return None


def _lacks_labels(pod: Pod, owner: str) -> bool:
    meta = pod.metadata
    named = (meta.labels.get(n.LABEL_JOB), meta.labels.get(n.LABEL_RES_NAME)) == (owner, meta.name)
    return not ((named and meta.labels.keys() >= LABELS) or pod.deleting)
