"""Giving a pod of a job its labels back, so that it is watched again.

A pod of this very attempt goes on as if nothing had happened. So do the pods that another operator made, if all of them
have begun: somebody's training is in them. Any other that the job owns gets the label of no attempt: it is removed as
what an earlier attempt left, and made again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec
import structlog

from paddlejob.api import Job, ObjectMeta, reasons
from paddlejob.api.names import ANNOTATION_ADOPTED, ANNOTATION_CONTAINER, LABEL_ATTEMPT, NO_ATTEMPT
from paddlejob.core import JobEvent
from paddlejob.core.children import PodStatus
from paddlejob.core.environment import ENVIRONMENT_KEY, environment_key
from paddlejob.core.pods import labels, slot_named
from paddlejob.kube.client import Client
from paddlejob.kube.errors import ApiConflict, ApiNotFound, KubeError
from paddlejob.kube.objects import Resource
from paddlejob.operator.cache import Cache
from paddlejob.operator.resources import PODS

log = structlog.get_logger()


class _Key(msgspec.Struct, frozen=True):
    key: str = ""


class _Source(msgspec.Struct, frozen=True, rename="camel"):
    config_map_key_ref: _Key = _Key()


class _Variable(msgspec.Struct, frozen=True, rename="camel"):
    value_from: _Source = _Source()


class _Container(msgspec.Struct, frozen=True):
    name: str = ""
    env: tuple[_Variable, ...] = ()


class _Spec(msgspec.Struct, frozen=True):
    containers: tuple[_Container, ...] = ()


class Stray(msgspec.Struct, frozen=True):
    """A pod, with the part of it that says which attempt it was made for: nobody can change that."""

    metadata: ObjectMeta = ObjectMeta()
    spec: _Spec = _Spec()
    status: PodStatus = PodStatus()

    def is_of(self, job: Job) -> bool:
        """Whether it was made for the attempt that the job is in."""
        return environment_key(job) in self._keys

    @property
    def is_foreign(self) -> bool:
        """Whether another operator made it: all of ours ask for a key of their attempt."""
        return not any(key.startswith(ENVIRONMENT_KEY) for key in self._keys)

    @property
    def trains(self) -> str:
        """The container that trains in a pod of another operator: the first."""
        return self.spec.containers[0].name if self.spec.containers else ""

    @property
    def has_begun(self) -> bool:
        """Whether its program was ever started."""
        for one in self.status.container_statuses:
            if one.name == self.trains:
                return bool(one.state.running or one.state.terminated or one.restart_count)
        return self.status.phase in ("Succeeded", "Failed")

    @property
    def _keys(self) -> set[str]:
        return {one.value_from.config_map_key_ref.key for container in self.spec.containers for one in container.env}


STRAYS = Resource("", "v1", "pods", Stray)


class Adopter:
    def __init__(self, client: Client, cache: Cache, gate: Callable[[], None]) -> None:
        self._client = client
        self._cache = cache
        self._gate = gate

    async def find(self, job: Job, name: str) -> Stray | None:
        """Ask for the pod; None: it is gone, or none of the job's."""
        try:
            stray = await self._client.get(STRAYS, job.metadata.namespace, name)
        except ApiNotFound:
            stray = None
        if stray is None or not _is_own(job, stray):
            self._cache.doubts.settle(job, name)
            return None
        return stray

    async def adopt(self, job: Job, stray: Stray, *, runs_on: bool = False) -> Stray | None:
        """Give it its labels, and if it `runs_on` the mark of another operator's pod. None: it is gone."""
        name = stray.metadata.name
        key = (job.metadata.namespace, name)
        wanted = _marks(job, stray, runs_on=runs_on)
        self._gate()  # the answer may have taken its time
        try:
            # The UID makes sure that it is still this pod.
            adopted = await self._client.patch(PODS, key, {"metadata": {"uid": stray.metadata.uid, **wanted}})
        except (ApiNotFound, ApiConflict):
            self._cache.doubts.settle(job, name)
            return None  # gone, or another has come in its place
        if not wanted["labels"].items() <= adopted.metadata.labels.items():
            raise KubeError(
                f"the labels of pod {'/'.join(key)} do not stay: something changes pods on their way, perhaps an"
                f" admission webhook; it must leave {', '.join(wanted['labels'])} alone"
            )
        self._cache.doubts.settle(job, name)
        self._cache.wrote(adopted)
        log.warning("labels put back", job=job.metadata.name, namespace=job.metadata.namespace, pod=name)
        return stray


def all_run_on(job: Job, strays: Sequence[Stray]) -> bool:
    """Whether another operator made all these pods, and each has begun: nothing of ours is among them yet."""
    return job.status.attempt == 0 and bool(strays) and all(one.is_foreign and one.has_begun for one in strays)


def _is_own(job: Job, stray: Stray) -> bool:
    return slot_named(job, stray.metadata.name) is not None and stray.metadata.controller_uid == job.metadata.uid


def _marks(job: Job, stray: Stray, *, runs_on: bool) -> dict[str, dict[str, str]]:
    """The labels that it should have; of another operator's pod also what its annotations should tell."""
    slot = slot_named(job, stray.metadata.name)
    assert slot is not None, "only pods that fill a slot of the job are adopted"
    if stray.is_of(job):
        return {"labels": labels(job, slot)}
    if runs_on:
        return {
            "labels": labels(job, slot),
            "annotations": {ANNOTATION_ADOPTED: "true", ANNOTATION_CONTAINER: stray.trains},
        }
    return {"labels": {**labels(job, slot), LABEL_ATTEMPT: NO_ATTEMPT}}


def labels_missing(job: Job, which: str) -> JobEvent:
    note = f"labels that the operator needs were missing on {which}: it has put them back"
    return JobEvent("Warning", reasons.LABELS_MISSING, note, job.status.attempt)


def told(job: Job, adopted: Sequence[Stray], *, runs_on: bool = False) -> Iterator[JobEvent]:
    """What people are told of pods that were adopted: of each sort once."""
    ours = sorted(one.metadata.name for one in adopted if one.is_of(job))
    others = sorted(one.metadata.name for one in adopted if not one.is_of(job))
    if ours:
        yield labels_missing(job, _which(ours))
    if others and runs_on:
        note = f"{_which(others)} of this job: made by another operator, so left running; a restart makes them anew"
        yield JobEvent("Normal", reasons.ADOPTED, note, job.status.attempt)
    elif others:
        note = f"{_which(others)} of this job: not made for this attempt, so deleted and made again"
        yield JobEvent("Warning", reasons.UNKNOWN_POD, note, job.status.attempt)


def _which(names: list[str]) -> str:
    return f"pod {names[0]}" + (f" and {len(names) - 1} more" if names[1:] else "")
