"""Giving a pod of a job its labels back, so that it is watched again.

A pod of this very attempt goes on as if nothing had happened. Any other that the job owns, such as one that an earlier
release made, gets the label of no attempt: it is removed as what an earlier attempt left, and made again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec
import structlog

from paddlejob.api import Job, ObjectMeta, reasons
from paddlejob.api.names import LABEL_ATTEMPT, NO_ATTEMPT
from paddlejob.core import JobEvent
from paddlejob.core.environment import environment_key
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
    env: tuple[_Variable, ...] = ()


class _Spec(msgspec.Struct, frozen=True):
    containers: tuple[_Container, ...] = ()


class Stray(msgspec.Struct, frozen=True):
    """A pod, with the part of it that says which attempt it was made for: nobody can change that."""

    metadata: ObjectMeta = ObjectMeta()
    spec: _Spec = _Spec()

    def is_of(self, job: Job) -> bool:
        """Whether it was made for the attempt that the job is in."""
        wanted = environment_key(job)
        found = (one.value_from.config_map_key_ref.key for container in self.spec.containers for one in container.env)
        return wanted in found


STRAYS = Resource("", "v1", "pods", Stray)


class Adopter:
    def __init__(self, client: Client, cache: Cache, gate: Callable[[], None]) -> None:
        self._client = client
        self._cache = cache
        self._gate = gate

    async def adopt(self, job: Job, name: str) -> Stray | None:
        """Ask for the pod. If it is the job's, give it its labels; None: it is gone, or none of the job's."""
        try:
            found = await self._find(job, name)
        except (ApiNotFound, ApiConflict):
            found = None  # gone, or another has come in its place
        self._cache.doubts.settle(job, name)
        return found

    async def _find(self, job: Job, name: str) -> Stray | None:
        key = (job.metadata.namespace, name)
        stray = await self._client.get(STRAYS, *key)
        wanted = _labels(job, stray)
        if not wanted:
            return None
        self._gate()  # the answer may have taken its time
        # The UID makes sure that it is still this pod.
        body = {"metadata": {"uid": stray.metadata.uid, "labels": wanted}}
        adopted = await self._client.patch(PODS, key, body)
        if not wanted.items() <= adopted.metadata.labels.items():
            raise KubeError(
                f"the labels of pod {'/'.join(key)} do not stay: something changes pods on their way, perhaps an"
                f" admission webhook; it must leave {', '.join(wanted)} alone"
            )
        self._cache.wrote(adopted)
        log.warning("labels put back", job=job.metadata.name, namespace=job.metadata.namespace, pod=name)
        return stray


def _labels(job: Job, stray: Stray) -> dict[str, str]:
    """All labels that it should have; none if it is not the job's."""
    slot = slot_named(job, stray.metadata.name)
    if slot is None or stray.metadata.controller_uid != job.metadata.uid:
        return {}
    return labels(job, slot) if stray.is_of(job) else {**labels(job, slot), LABEL_ATTEMPT: NO_ATTEMPT}


def labels_missing(job: Job, which: str) -> JobEvent:
    note = f"labels that the operator needs were missing on {which}: it has put them back"
    return JobEvent("Warning", reasons.LABELS_MISSING, note, job.status.attempt)


def told(job: Job, adopted: Sequence[Stray]) -> Iterator[JobEvent]:
    """What people are told of pods that were adopted: of each sort once."""
    for ours in (True, False):
        names = sorted(one.metadata.name for one in adopted if one.is_of(job) == ours)
        if not names:
            continue
        which = f"pod {names[0]}" + (f" and {len(names) - 1} more" if names[1:] else "")
        if ours:
            yield labels_missing(job, which)
        else:
            note = f"{which} of this job: not made for this attempt, so deleted and made again"
            yield JobEvent("Warning", reasons.UNKNOWN_POD, note, job.status.attempt)
