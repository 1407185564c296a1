"""The operator's hands: a plan's actions as API calls, all at once within one fair limit.

A create that answers "already exists" succeeded if the object is this job's own. An object of another owner is never
touched. What the API server refuses for good comes back as a `Refusal`; what may pass later is raised.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from functools import partial

import structlog

from paddlejob.api import Job, reasons
from paddlejob.api.names import ANNOTATION_PORTS, LABEL_JOB
from paddlejob.core import Action, Child, Create, Delete, JobEvent, Plan, Pod, Refusal, Touch, Update
from paddlejob.core.children import KindName
from paddlejob.kube.client import Client
from paddlejob.kube.errors import (
    ApiAlreadyExists,
    ApiBadRequest,
    ApiConflict,
    ApiError,
    ApiForbidden,
    ApiInvalid,
    ApiNotFound,
    KubeError,
    delay_asked,
)
from paddlejob.kube.fairness import FairLimiter
from paddlejob.kube.objects import key_of
from paddlejob.kube.tasks import TaskGroup
from paddlejob.operator.adopting import Adopter, Stray, labels_missing, told
from paddlejob.operator.cache import Cache
from paddlejob.operator.events import event_body
from paddlejob.operator.resources import CHILDREN, EVENTS, JOBS, PODS

log = structlog.get_logger()

Gate = Callable[[], None]
Call = Callable[[], Awaitable[Refusal | None]]


class Hands:
    """`gate` is asked right before every write: it raises when this process may not act any more."""

    def __init__(self, client: Client, cache: Cache, limiter: FairLimiter, *, gate: Gate, instance: str) -> None:
        self._client = client
        self._cache = cache
        self._limiter = limiter
        self._gate = gate
        self._instance = instance
        self._adopter = Adopter(client, cache, gate)

    async def apply(
        self, job: Job, planned: Plan, now: datetime, *, heard: Callable[[], None] = lambda: None
    ) -> tuple[Refusal, ...]:
        """What is done to the job and to what it owns. `heard` is told of every answer."""
        calls: list[Call] = [partial(self._do, job, action, now) for action in planned.actions]
        if planned.ports:
            calls.append(partial(self._reserve, job, now))
        if planned.expired:
            calls.append(partial(self._delete_job, job))
        return await self._all(job, calls, heard)

    async def find(self, job: Job, names: Iterable[str], now: datetime) -> None:
        """Ask for pods that are in doubt. Those that are the job's get their labels back; the others are gone."""
        adopted: list[Stray] = []

        async def ask(name: str) -> None:
            if stray := await self._adopter.adopt(job, name):
                adopted.append(stray)

        try:
            await self._all(job, [partial(ask, name) for name in names])
        finally:
            await self.send_events(job, told(job, adopted), now)

    async def send_events(self, job: Job, events: Iterable[JobEvent], now: datetime) -> None:
        await self._all(job, [partial(self._send_event, job, event, now) for event in events])

    async def _all(
        self, job: Job, calls: Sequence[Call], heard: Callable[[], None] = lambda: None
    ) -> tuple[Refusal, ...]:
        """Do everything that can be done; then raise the passing error, if any, that asks for the longest pause."""
        refusals: list[Refusal] = []
        errors: list[KubeError] = []
        left = iter(calls)

        async def work() -> None:
            for call in left:
                async with self._limiter.slot(key_of(job)):
                    try:
                        self._gate()
                        refused = await call()
                    except KubeError as error:
                        errors.append(error)
                    else:
                        refusals.extend([refused] if refused else [])
                heard()

        async with TaskGroup() as tasks:
            # More could not do anything at the same time: a thousand tasks would only take time to begin.
            for _ in range(min(len(calls), self._limiter.limit)):
                tasks.create_task(work())
        if errors:
            raise max(errors, key=delay_asked)
        return tuple(sorted(refusals, key=lambda refusal: (refusal.kind, refusal.name)))

    async def _do(self, job: Job, action: Action, now: datetime) -> Refusal | None:
        match action:
            case Create():
                return await self._create(job, action, now)
            case Delete():
                return await self._delete(job, action, now)
            case Update():
                return await self._update(job, action, now)
            case Touch():
                return await self._touch(job, action, now)

    async def _create(self, job: Job, action: Create, now: datetime) -> Refusal | None:
        try:
            made: Child = await self._client.create(CHILDREN[action.kind], job.metadata.namespace, action.body)
        except ApiAlreadyExists:
            return await self._met(job, action, now)
        except (ApiForbidden, ApiInvalid, ApiBadRequest) as error:
            return _refusal(action.kind, action.name, error, now)
        self._cache.wrote(made)
        log.info("created", job=job.metadata.name, namespace=job.metadata.namespace, kind=action.kind, name=action.name)
        return None

    async def _met(self, job: Job, action: Create, now: datetime) -> Refusal | None:
        """An object of that name exists: ours from before, or somebody else's."""
        key = (job.metadata.namespace, action.name)
        found = self._cache.child(action.kind, key)
        if found is None or found.metadata.controller_uid != job.metadata.uid:
            found = await self._client.get(CHILDREN[action.kind], *key)
        if found.metadata.controller_uid == job.metadata.uid:
            return await self._recognise(job, action, found, now)
        message = "the name is taken by an object that is not this job's: delete it or rename the job"
        return Refusal(action.kind, action.name, reasons.NAME_TAKEN, message, now)

    async def _recognise(self, job: Job, action: Create, found: Child, now: datetime) -> Refusal | None:
        """It is the job's own. Without the label by which we watch, nothing would ever be heard of it again."""
        if found.metadata.labels.get(LABEL_JOB) == job.metadata.name:
            self._cache.wrote(found)
            return None
        if isinstance(found, Pod):
            adopted = await self._adopter.adopt(job, action.name)
            for event in told(job, [adopted] if adopted else []):
                await self._send_event(job, event, now)
            return None
        await self._send_event(job, labels_missing(job, f"{action.kind} {action.name}"), now)
        return await self._update(job, Update(action.kind, action.name, found.metadata.uid, action.body), now)

    async def _update(self, job: Job, action: Update, now: datetime) -> Refusal | None:
        key = (job.metadata.namespace, action.name)
        body = {**action.body, "metadata": {**action.body["metadata"], "uid": action.uid}}
        try:
            made: Child = await self._client.replace(CHILDREN[action.kind], key, body)
        except (ApiNotFound, ApiConflict):
            return None  # another one has come or goes: the watch tells
        except (ApiForbidden, ApiInvalid, ApiBadRequest) as error:
            return _refusal(action.kind, action.name, error, now)
        self._cache.wrote(made)
        log.info("updated", job=job.metadata.name, namespace=job.metadata.namespace, kind=action.kind, name=action.name)
        return None

    async def _delete_job(self, job: Job) -> None:
        with contextlib.suppress(ApiNotFound, ApiConflict):
            await self._client.delete(JOBS, key_of(job), uid=job.metadata.uid)
            log.info("expired", job=job.metadata.name, namespace=job.metadata.namespace)

    async def _delete(self, job: Job, action: Delete, now: datetime) -> Refusal | None:
        key = (job.metadata.namespace, action.name)
        try:
            with self._cache.doubts.expecting(action.uid):
                await self._client.delete(CHILDREN[action.kind], key, uid=action.uid)
        except (ApiNotFound, ApiConflict):
            return None  # gone, or a newer object of the same name that is not meant
        except (ApiForbidden, ApiInvalid, ApiBadRequest) as error:
            return _refusal(action.kind, action.name, error, now)
        self._cache.deleted(action.kind, key, action.uid)
        log.info("deleted", job=job.metadata.name, namespace=job.metadata.namespace, kind=action.kind, name=action.name)
        return None

    async def _reserve(self, job: Job, now: datetime) -> Refusal | None:
        block = self._cache.ports.choose(job)
        if block is None:
            return None
        meta = {"resourceVersion": job.metadata.resource_version, "annotations": {ANNOTATION_PORTS: str(block.first)}}
        try:
            written = await self._client.patch(JOBS, key_of(job), {"metadata": meta})
        except (ApiNotFound, ApiConflict):
            return None  # gone, or changed meanwhile: the change brings a new look, which finds the same block
        except (ApiForbidden, ApiInvalid, ApiBadRequest) as error:
            return _refusal(job.kind, job.metadata.name, error, now)
        self._cache.jobs.wrote(written)
        log.info("reserved", job=job.metadata.name, namespace=job.metadata.namespace, ports=str(block))
        return None

    async def _touch(self, job: Job, action: Touch, now: datetime) -> Refusal | None:
        key = (job.metadata.namespace, action.name)
        body = {"metadata": {"annotations": {action.annotation: action.value}}}
        try:
            touched = await self._client.patch(PODS, key, body)
        except ApiNotFound:
            return None
        except (ApiForbidden, ApiInvalid, ApiBadRequest) as error:
            return _refusal("Pod", action.name, error, now)
        self._cache.wrote(touched)
        return None

    async def _send_event(self, job: Job, event: JobEvent, now: datetime) -> None:
        """Events are a courtesy: a job never waits for one."""
        try:
            await self._client.create(EVENTS, job.metadata.namespace, event_body(job, event, now, self._instance))
        except ApiAlreadyExists:
            pass
        except KubeError as error:
            log.warning("event not sent", job=job.metadata.name, reason=event.reason, error=str(error))


def _refusal(kind: KindName, name: str, error: ApiError, now: datetime) -> Refusal:
    if isinstance(error, ApiForbidden):
        reason = reasons.QUOTA_EXCEEDED if "exceeded quota" in error.message else reasons.FORBIDDEN
    else:
        reason = reasons.INVALID
    return Refusal(kind, name, reason, error.message, now)
