"""The operator's hands: a plan's actions as API calls, all at once within one fair limit.

A create that answers "already exists" succeeded if the object is this job's own. An object of another owner is never
touched. What the API server refuses for good comes back as a `Refusal`; what may pass later is raised.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial

import msgspec
import structlog

from paddlejob.api import Job, reasons
from paddlejob.api.names import ANNOTATION_PORTS, FINALIZER_OF_0_3, LABEL_JOB
from paddlejob.core import Action, Child, Create, Delete, JobEvent, Plan, Pod, Refusal, Touch, Update
from paddlejob.core.groups import Group
from paddlejob.core.refusals import Refusable, Sort, Wish, concerns_one
from paddlejob.kube.client import Client
from paddlejob.kube.errors import (
    ApiAlreadyExists,
    ApiBadRequest,
    ApiConflict,
    ApiError,
    ApiForbidden,
    ApiInvalid,
    ApiNotFound,
    ApiServerError,
    KubeError,
    delay_asked,
)
from paddlejob.kube.fairness import FairLimiter
from paddlejob.kube.objects import key_of
from paddlejob.kube.tasks import TaskGroup
from paddlejob.operator.adopting import Adopter, Stray, all_run_on, labels_missing, told
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
        name = job.metadata.name
        wanted: list[tuple[Refusable, Call]] = [
            (action, partial(self._do, job, action, now)) for action in planned.actions
        ]
        if planned.ports:
            wanted.append((Wish("patch", job.kind, name), partial(self._reserve, job)))
        if planned.releases:
            wanted.append((Wish("patch", job.kind, name), partial(self._release, job)))
        if planned.expired:
            wanted.append((Wish("delete", job.kind, name), partial(self._delete_job, job)))
        closed: set[Sort] = set()
        calls = [partial(self._try, asked, call, closed, now) for asked, call in wanted]
        return await self._all(job, calls, heard)

    async def _try(self, asked: Refusable, call: Call, closed: set[Sort], now: datetime) -> Refusal | None:
        """Ask, unless something like it was refused a moment ago: then the next look decides."""
        group = (asked.verb, asked.kind)
        if group in closed:
            return None
        try:
            refused = await call()
        except ApiError as error:
            refused = refusal(asked, error, now)
        if refused is None:
            return None
        if not concerns_one(refused):
            closed.add(group)
        log.warning("refused", verb=asked.verb, kind=asked.kind, name=asked.name, error=refused.message)
        return msgspec.structs.replace(refused, verb=asked.verb)

    async def find(self, job: Job, names: Sequence[str], now: datetime) -> None:
        """Ask for pods that are in doubt. Those that are the job's get their labels back; the others are gone."""
        found: list[Stray] = []
        adopted: list[Stray] = []

        async def ask(name: str) -> None:
            if stray := await self._adopter.find(job, name):
                found.append(stray)

        async def adopt(stray: Stray) -> None:
            if await self._adopter.adopt(job, stray, runs_on=runs_on):
                adopted.append(stray)

        runs_on = False
        try:
            await self._all(job, [partial(ask, name) for name in names])
            # All or none: what has not begun waits for an operator that is gone.
            runs_on = len(found) == len(names) and all_run_on(job, found)
            await self._all(job, [partial(adopt, stray) for stray in found])
        except ApiError as error:
            await self.complain(job, refusal(Wish("patch", Pod.kind, ""), error, now), now)
            raise
        finally:
            await self.send_events(job, told(job, adopted, runs_on=runs_on), now)

    async def complain(self, job: Job, refused: Refusal, now: datetime) -> None:
        """Tell in an event what the status cannot tell. What often passes by itself is not worth one."""
        if refused.reason not in reasons.PASSING:
            what = f"{refused.kind} {refused.name}".strip()
            note = f"{what}: {refused.message}"
            await self.send_events(job, [JobEvent("Warning", refused.reason, note, job.status.attempt)], now)

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
                await self._delete(job, action)
            case Update():
                await self._update(job, action)
            case Touch():
                await self._touch(job, action)
        return None

    async def _create(self, job: Job, action: Create, now: datetime) -> Refusal | None:
        try:
            made: Child = await self._client.create(CHILDREN[action.kind], job.metadata.namespace, action.body)
        except ApiAlreadyExists:
            return await self._met(job, action, now)
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
        if isinstance(found, Group) and found.metadata.controller_uid is None:
            self._cache.wrote(found)  # its user's own
            return None
        message = "the name is taken by an object that is not this job's: delete it or rename the job"
        return Refusal(action.kind, action.name, reasons.NAME_TAKEN, message, now)

    async def _recognise(self, job: Job, action: Create, found: Child, now: datetime) -> Refusal | None:
        """It is the job's own. Without the label by which we watch, nothing would ever be heard of it again."""
        if isinstance(found, Group) or found.metadata.labels.get(LABEL_JOB) == job.metadata.name:
            self._cache.wrote(found)
            return None
        if isinstance(found, Pod):
            stray = await self._adopter.find(job, action.name)
            adopted = await self._adopter.adopt(job, stray) if stray else None
            for event in told(job, [adopted] if adopted else []):
                await self._send_event(job, event, now)
            return None
        await self._send_event(job, labels_missing(job, f"{action.kind} {action.name}"), now)
        await self._update(job, Update(action.kind, action.name, found.metadata.uid, action.body))
        return None

    async def _update(self, job: Job, action: Update) -> None:
        key = (job.metadata.namespace, action.name)
        body = {**action.body, "metadata": {**action.body["metadata"], "uid": action.uid}}
        try:
            made: Child = await self._client.replace(CHILDREN[action.kind], key, body)
        except (ApiNotFound, ApiConflict):
            return  # another one has come or goes: the watch tells
        self._cache.wrote(made)
        log.info("updated", job=job.metadata.name, namespace=job.metadata.namespace, kind=action.kind, name=action.name)

    async def _delete_job(self, job: Job) -> None:
        """As it was read: one that somebody changed meanwhile is looked at anew."""
        meta = job.metadata
        with contextlib.suppress(ApiNotFound, ApiConflict):
            await self._client.delete(JOBS, key_of(job), uid=meta.uid, version=meta.resource_version)
            log.info("expired", job=job.metadata.name, namespace=job.metadata.namespace)

    async def _delete(self, job: Job, action: Delete) -> None:
        key = (job.metadata.namespace, action.name)
        try:
            await self._client.delete(CHILDREN[action.kind], key, uid=action.uid)
        except (ApiNotFound, ApiConflict):
            return  # gone, or a newer object of the same name that is not meant
        self._cache.deleted(action.kind, key, action.uid)
        log.info("deleted", job=job.metadata.name, namespace=job.metadata.namespace, kind=action.kind, name=action.name)

    async def _reserve(self, job: Job) -> None:
        block = self._cache.ports.choose(job)
        if block is not None and await self._change(job, {"annotations": {ANNOTATION_PORTS: str(block.first)}}):
            log.info("reserved", job=job.metadata.name, namespace=job.metadata.namespace, ports=str(block))

    async def _release(self, job: Job) -> None:
        others = [one for one in job.metadata.finalizers if one != FINALIZER_OF_0_3]
        if await self._change(job, {"finalizers": others}):
            log.info("released", job=job.metadata.name, namespace=job.metadata.namespace, finalizer=FINALIZER_OF_0_3)

    async def _change(self, job: Job, meta: dict[str, object]) -> bool:
        """Change the job's metadata. Not done if it is gone, or changed meanwhile: that brings a new look."""
        body = {"metadata": {"resourceVersion": job.metadata.resource_version, **meta}}
        try:
            written = await self._client.patch(JOBS, key_of(job), body)
        except (ApiNotFound, ApiConflict):
            return False
        self._cache.jobs.wrote(written)
        return True

    async def _touch(self, job: Job, action: Touch) -> None:
        key = (job.metadata.namespace, action.name)
        body = {"metadata": {"annotations": {action.annotation: action.value}}}
        try:
            touched = await self._client.patch(PODS, key, body)
        except ApiNotFound:
            return
        self._cache.wrote(touched)

    async def _send_event(self, job: Job, event: JobEvent, now: datetime) -> None:
        """Events are a courtesy: a job never waits for one."""
        try:
            await self._client.create(EVENTS, job.metadata.namespace, event_body(job, event, now, self._instance))
        except ApiAlreadyExists:
            pass
        except KubeError as error:
            log.warning("event not sent", job=job.metadata.name, reason=event.reason, error=str(error))


def refusal(asked: Refusable, error: ApiError, now: datetime) -> Refusal:
    """What is remembered of an answer. What another look settles, or a pause that the server asks for, is raised."""
    match error:
        case ApiForbidden():
            reason = reasons.QUOTA_EXCEEDED if "exceeded quota" in error.message else reasons.FORBIDDEN
        case ApiServerError():
            reason = reasons.WEBHOOK_FAILED if "failed calling webhook" in error.message else reasons.SERVER_ERROR
        case ApiInvalid() | ApiBadRequest():
            reason = reasons.INVALID
        case _:
            raise error
    return Refusal(asked.kind, asked.name, reason, error.message, now + timedelta(seconds=delay_asked(error)))
