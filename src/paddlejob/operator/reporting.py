"""Writing the status: once per change, only what changed, and mere counts ever more rarely.

A conflict means that the cache is behind: nothing is forced, the watch brings the newer job and with it a new look.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from paddlejob.api import Job, Status
from paddlejob.api.names import ROLES
from paddlejob.api.status import as_json
from paddlejob.kube.client import Client
from paddlejob.kube.errors import ApiConflict, ApiNotFound
from paddlejob.kube.fairness import FairLimiter
from paddlejob.kube.objects import key_of
from paddlejob.kube.store import Store
from paddlejob.operator.apply import Gate
from paddlejob.operator.memory import Memory
from paddlejob.operator.resources import JOBS

# A conflict is answered by the watch; this only guards against a watch that is slow to tell.
CONFLICT_PAUSE = 1.0


class Reporter:
    def __init__(
        self,
        client: Client,
        jobs: Store[Job],
        limiter: FairLimiter,
        memory: Memory,
        *,
        gate: Gate,
        clock: Callable[[], float],
    ) -> None:
        self._client = client
        self._jobs = jobs
        self._limiter = limiter
        self._memory = memory
        self._gate = gate
        self._clock = clock

    async def report(self, job: Job, status: Status) -> float | None:
        """Write the status if it changed. A number asks to look again after so many seconds."""
        # A status that was never written is not the same as one that says zero.
        before = as_json(job.status) if job.status.phase else {}
        patch = difference(before, as_json(status))
        if not patch:
            return None
        quiet = only_counts(job.status, status)
        if quiet and (pause := self._pause(job, status)) > 0:
            return pause
        async with self._limiter.slot(key_of(job)):
            self._gate()
            return await self._write(job, patch, quiet)

    def _pause(self, job: Job, status: Status) -> float:
        if status.phase != "Running" and all(job.status.role(role) == status.role(role) for role in ROLES):
            return self._memory.pause_before_words(job, self._clock())
        # While a job starts, its next phase tells the counts too. Of a worker that succeeded and is deleted, the status
        # alone knows.
        patient = status.phase != "Running" and _succeeded(job.status) == _succeeded(status)
        return self._memory.pause_before_counts(job, self._clock(), patient=patient)

    async def _write(self, job: Job, patch: dict[str, Any], quiet: bool) -> float | None:
        body = {"metadata": {"resourceVersion": job.metadata.resource_version}, "status": patch}
        try:
            written = await self._client.patch(JOBS, key_of(job), body, subresource="status")
        except ApiNotFound:
            return None  # deleted meanwhile
        except ApiConflict:
            return CONFLICT_PAUSE
        self._memory.status_written(job, self._clock(), only_counts=quiet)
        self._jobs.wrote(written)
        return None


def only_counts(before: Status, after: Status) -> bool:
    """Whether nothing changed that a person waits for, nor anything that later decisions rest on."""
    quiet = msgspec.structs.replace(
        after,
        message=before.message,
        conditions=before.conditions,
        succeeded_indexes=before.succeeded_indexes,
        **{role: before.role(role) for role in ROLES},
    )
    return quiet == before and _stall(before) == _stall(after)


def _stall(status: Status) -> tuple[str, str] | None:
    """What holds it up, also after its end."""
    found = status.condition("Stalled")
    return (found.status, found.reason) if found else None


def _succeeded(status: Status) -> int:
    return status.worker.succeeded if status.worker else 0


def difference(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """A JSON merge patch that makes `after` of `before`."""
    patch: dict[str, Any] = {name: None for name in before if name not in after}
    for name, value in after.items():
        old = before.get(name)
        if isinstance(value, dict) and isinstance(old, dict):
            if inner := difference(old, value):
                patch[name] = inner
        elif value != old:
            patch[name] = value
    return patch
