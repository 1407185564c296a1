"""`AsyncPaddleJob`: a job to await. The one implementation; `PaddleJob` waits for what is written here."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from paddlejob.api import Job, Progress, Status, reasons
from paddlejob.api.meta import Key
from paddlejob.api.names import API_VERSION, KIND, ROLES
from paddlejob.errors import Invalid, JobFailed, NotFound, NotSubmitted, Timeout
from paddlejob.places.place import Description, Event, Line, LogsOf, Place, Wanted, life
from paddlejob.sdk import parameters as check
from paddlejob.sdk.written import Written
from paddlejob.terminal import lines


class Submitted(NamedTuple):
    """A place is entered anew for every question: nothing has to be closed by the user."""

    place: Callable[[], Place]
    where: str
    key: Key


class AsyncPaddleJob(Written):
    """A job whose methods are awaited; the parameters are those of `PaddleJob`.

    >>> import asyncio
    >>> async def main() -> str:
    ...     job = AsyncPaddleJob(
    ...         job_name="hello", entry_point="echo hello", cpu_nums=1, runtime_image="any", trainers=2, pservers=0
    ...     )
    ...     await job.submit(local=True)
    ...     status = await job.wait(timeout=60)
    ...     lines = [line.text async for line in job.logs()]
    ...     await job.delete()
    ...     return f"{status.phase}: {lines}"
    >>> asyncio.run(main())
    "Completed: ['hello', 'hello']"
    """

    def _write(self, description: Description) -> None:
        super()._write(description)
        self.submitted: Submitted | None = None

    @classmethod
    async def get(
        cls,
        job_name: str,
        namespace: str | None = None,
        *,
        local: bool = False,
        context: str | None = None,
        kubeconfig: str | Path | None = None,
    ) -> AsyncPaddleJob:
        """A job that was submitted before."""
        enter = _place(local=local, context=context, kubeconfig=kubeconfig)
        async with enter() as place:
            found = await place.get(Key(namespace or place.namespace, job_name))
        metadata = {"name": job_name, "namespace": found.key.namespace}
        made = cls._of(Description(_document(found.job, metadata)))
        made.submitted = Submitted(enter, place.where, found.key)
        return made

    @property
    def namespace(self) -> str | None:
        """The job's namespace; None until submitted if it is to be your kubeconfig's."""
        return self.submitted.key.namespace if self.submitted else self.description.namespace

    @property
    def where(self) -> str:
        return f"on {self._known().where}"

    async def submit(
        self,
        *,
        local: bool = False,
        volumes: Mapping[str, str | Path] | None = None,
        context: str | None = None,
        kubeconfig: str | Path | None = None,
    ) -> AsyncPaddleJob:
        """Submit it to the cluster of your kubeconfig, or with `local=True` run it on this machine.

        `volumes` says where a volume's data is on this machine, by the volume's name or its claim's.
        """
        enter = _place(local=local, volumes=volumes, context=context, kubeconfig=kubeconfig)
        async with enter() as place:
            try:
                made = await place.submit(self.description)
            except Invalid as error:
                said = re.sub(r"--volume (\S+)=PATH", r"submit(local=True, volumes={'\1': PATH})", str(error))
                raise Invalid(said) from error
        self.submitted = Submitted(enter, place.where, made.key)
        return self

    @asynccontextmanager
    async def _at_its_place(self) -> AsyncGenerator[tuple[Place, Job], None]:
        known = self._known()
        async with known.place() as place:
            yield place, (await place.get(known.key)).job

    async def status(self) -> Status:
        async with self._at_its_place() as (_, job):
            return job.status

    async def progress(self) -> Progress | None:
        """How far it is, as its own output says it: steps, loss, speed and when it will be at the end; or None."""
        return (await self.status()).progress

    async def wait(self, timeout: float | None = None) -> Status:
        """Wait until the job has ended. Raises JobFailed if it failed or was stopped, Timeout if it takes too long."""
        try:
            last = await asyncio.wait_for(self._last(), timeout)
        except asyncio.TimeoutError as error:
            now = await self.status()
            said = ": ".join(filter(None, (now.phase or "Pending", now.reason, now.message)))
            raise Timeout(f"{self.job_name} has not ended after {timeout:g} s: it is {said}") from error
        if last.phase != "Completed":
            raise JobFailed(_failure(self.job_name, last))
        return last

    async def _last(self) -> Status:
        async with self._at_its_place() as (place, job), aclosing(life(place, job)) as changes:
            last = job.status
            async for now in changes:
                last = now.job.status
                if now.over:
                    return last
        if last.finished:
            return last
        raise NotFound(f"job {self.job_name} was deleted in namespace {job.metadata.namespace}: submit it again")

    def logs(
        self,
        *,
        follow: bool = False,
        role: LogsOf = "worker",
        index: int | None = None,
        tail: int | None = None,
    ) -> AsyncGenerator[Line, None]:
        """The lines that the pods print, for `async for`; with `follow=True` until the job ends."""
        if role not in (*ROLES, "all"):
            raise ValueError(f"role must be one of {', '.join(ROLES)} and all, not {role!r}")
        index = None if index is None else check.count("index", index, 0)
        tail = None if tail is None else check.count("tail", tail, 1)
        self._known()
        return self._lines(Wanted(follow=follow, role=role, index=index, tail=tail))

    async def _lines(self, wanted: Wanted) -> AsyncGenerator[Line, None]:
        async with self._at_its_place() as (place, job), aclosing(place.logs(job, wanted)) as lines:
            async for line in lines:
                yield line

    async def events(self) -> tuple[Event, ...]:
        """What happened to it, oldest first."""
        async with self._at_its_place() as (place, job):
            return await place.events(job)

    async def scale(self, trainers: int) -> None:
        """Change how many trainers an elastic job has."""
        check.count("trainers", trainers, 1)
        async with self._at_its_place() as (place, job):
            await place.scale(job, trainers)

    async def suspend(self) -> None:
        """Delete its pods but keep the job; `resume` starts it again from the beginning."""
        async with self._at_its_place() as (place, job):
            await place.change(job, {"suspend": True})

    async def resume(self) -> None:
        async with self._at_its_place() as (place, job):
            await place.change(job, {"suspend": False})

    async def delete(self) -> None:
        """Delete it, with its pods and logs."""
        async with self._at_its_place() as (place, job):
            await place.delete(job)

    def _known(self) -> Submitted:
        if self.submitted is None:
            raise NotSubmitted(f"{self.job_name} was not submitted: call submit() first, or get() for an existing job")
        return self.submitted


def _place(
    *,
    local: bool,
    volumes: Mapping[str, str | Path] | None = None,
    context: str | None = None,
    kubeconfig: str | Path | None = None,
) -> Callable[[], Place]:
    """Loaded when needed: whoever trains inside a job, or runs one here, needs no HTTP client."""
    if local:
        if context or kubeconfig:
            raise ValueError("local=True runs on this machine: context and kubeconfig do not apply there")
        from paddlejob.places.this_machine import ThisMachine  # noqa: PLC0415 - who trains in a job needs no runner

        return partial(ThisMachine, _folders(volumes or {}), Path(sys.executable))
    if volumes:
        raise ValueError("volumes says where data is on this machine: use it with local=True")
    from paddlejob.places.cluster import Cluster  # noqa: PLC0415 - who runs a job here needs no HTTP client

    return partial(Cluster.connect, context, None if kubeconfig is None else str(kubeconfig))


def _folders(volumes: Mapping[str, str | Path]) -> dict[str, Path]:
    found = {name: Path(path).resolve() for name, path in volumes.items()}
    for name, path in found.items():
        if not path.is_dir():
            raise ValueError(f"volumes: {name} is mapped to {path}, but there is no such folder")
    return found


def _document(job: Job, metadata: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": msgspec.to_builtins(job.spec)}


def _failure(name: str, status: Status) -> str:
    if status.phase != "Failed":
        while_ = "" if status.reason == reasons.STOPPED else f", while it was {status.phase}"
        return f"{name} was stopped before it ended{while_}"
    said = f"{name} failed: {status.message}"
    if (failure := status.failure) is None:
        return said
    code = "" if failure.exit_code is None else f" with exit code {failure.exit_code}"
    last = "; its last lines:\n" + "\n".join(lines(failure.message)) if failure.message else ""
    return f"{said}\n{failure.pod} ended{code}{last}"
