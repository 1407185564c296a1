"""`AsyncPaddleJob`: a job to await. The one implementation; `PaddleJob` waits for what is written here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from paddlejob.api import PaddleJob as ApiJob
from paddlejob.api import Status, reasons
from paddlejob.api.names import API_VERSION, KIND, RoleName
from paddlejob.sdk import parameters as check
from paddlejob.sdk.description import Description
from paddlejob.sdk.errors import JobFailed, NotSubmitted, Timeout
from paddlejob.sdk.place import Happening, Key, Line, Place, Wanted
from paddlejob.sdk.written import Written
from paddlejob.terminal import lines


class Submitted(NamedTuple):
    place: Place
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
        """A job that somebody submitted before."""
        place = _place(local=local, context=context, kubeconfig=kubeconfig)
        key = Key(namespace or await place.namespace(), job_name)
        found = await place.get(key)
        metadata = {"name": job_name, "namespace": key.namespace}
        made = cls._of(Description(_document(found, metadata)))
        made.submitted = Submitted(place, key)
        return made

    @property
    def namespace(self) -> str | None:
        """Where it is, or is to be; None: where your kubeconfig points."""
        return self.submitted.key.namespace if self.submitted else self.description.namespace

    @property
    def where(self) -> str:
        return self._known().place.where

    async def submit(
        self,
        *,
        local: bool = False,
        volumes: Mapping[str, str | Path] | None = None,
        context: str | None = None,
        kubeconfig: str | Path | None = None,
    ) -> AsyncPaddleJob:
        """Hand it to the cluster of your kubeconfig, or with `local=True` to this machine's processes.

        `volumes` says where a volume's data is on this machine, by the volume's name or its claim's.
        """
        place = _place(local=local, volumes=volumes, context=context, kubeconfig=kubeconfig)
        made = await place.submit(self.description)
        self.submitted = Submitted(place, Key(made.metadata.namespace, made.metadata.name))
        return self

    async def status(self) -> Status:
        place, key = self._known()
        return (await place.get(key)).status

    async def wait(self, timeout: float | None = None) -> Status:
        """Until the job has ended. Raises JobFailed when it did not end well, Timeout when it takes too long."""
        try:
            last = await asyncio.wait_for(self._last(), timeout)
        except asyncio.TimeoutError as error:
            now = await self.status()
            said = ": ".join(filter(None, (now.phase or "Pending", now.reason, now.message)))
            raise Timeout(f"{self.job_name} has not ended within {timeout:g} s: it is {said}") from error
        if last.status.phase != "Completed":
            raise JobFailed(_failure(self.job_name, last.status))
        return last.status

    async def _last(self) -> ApiJob:
        place, key = self._known()
        async for job in place.watch(key):
            last = job
        return last

    def logs(
        self,
        *,
        follow: bool = False,
        role: RoleName | Literal["all"] = "worker",
        index: int | None = None,
        tail: int | None = None,
    ) -> AsyncGenerator[Line, None]:
        """What the pods print, to be iterated with `async for`; with `follow=True` until the job ends."""
        if role not in ("ps", "worker", "heter", "all"):
            raise ValueError(f"role must be 'worker', 'ps', 'heter' or 'all', not {role!r}")
        index = None if index is None else check.count("index", index, 0)
        tail = None if tail is None else check.count("tail", tail, 1)
        place, key = self._known()
        return place.logs(key, Wanted(follow, role, index, tail))

    async def events(self) -> tuple[Happening, ...]:
        """What happened to it, oldest first."""
        place, key = self._known()
        return await place.events(key)

    async def scale(self, trainers: int) -> None:
        """Change how many trainers an elastic job has."""
        place, key = self._known()
        await place.scale(key, check.count("trainers", trainers, 1))

    async def suspend(self) -> None:
        """Take its pods away and keep the job; `resume` starts it afresh."""
        place, key = self._known()
        await place.change(key, {"suspend": True})

    async def resume(self) -> None:
        place, key = self._known()
        await place.change(key, {"suspend": False})

    async def delete(self) -> None:
        """End it and remove it, with its pods and logs."""
        place, key = self._known()
        await place.delete(key)

    def _known(self) -> Submitted:
        if self.submitted is None:
            raise NotSubmitted(f"{self.job_name} was not submitted: call submit() first, or get() to find an old one")
        return self.submitted


def _place(
    *,
    local: bool,
    volumes: Mapping[str, str | Path] | None = None,
    context: str | None = None,
    kubeconfig: str | Path | None = None,
) -> Place:
    """Loaded when needed: whoever trains inside a job, or runs one here, needs no HTTP client."""
    if local:
        if context or kubeconfig:
            raise ValueError("local=True runs on this machine: context and kubeconfig have no meaning there")
        from paddlejob.sdk.here import Here  # noqa: PLC0415 - see above

        return Here(volumes)
    if volumes:
        raise ValueError("volumes says where data is on this machine: use it with local=True")
    from paddlejob.sdk.on_cluster import OnCluster  # noqa: PLC0415 - see above

    return OnCluster(context, kubeconfig)


def _document(job: ApiJob, metadata: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": msgspec.to_builtins(job.spec)}


def _failure(name: str, status: Status) -> str:
    if status.phase != "Failed":
        while_ = "" if status.reason == reasons.STOPPED else f", while it was {status.phase}"
        return f"{name} was stopped before its end{while_}"
    said = f"{name} failed: {status.message}"
    if (failure := status.failure) is None:
        return said
    code = "" if failure.exit_code is None else f" with exit code {failure.exit_code}"
    last = "; its last lines:\n" + "\n".join(lines(failure.message)) if failure.message else ""
    return f"{said}\n{failure.pod} ended{code}{last}"
