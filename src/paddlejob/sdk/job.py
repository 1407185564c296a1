"""`PaddleJob`: a job for scripts and notebooks. Every method waits for the one of the same name of `AsyncPaddleJob`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from paddlejob.api import Status
from paddlejob.places.place import Description, Event, Line, LogsOf
from paddlejob.sdk.aio import AsyncPaddleJob
from paddlejob.sdk.blocking import blocking, iterating
from paddlejob.sdk.html import table
from paddlejob.sdk.written import Written


class PaddleJob(Written):
    """A training job, on a cluster or on this machine.

    >>> job = PaddleJob(job_name="hello", entry_point="echo hello", cpu_nums=1, runtime_image="any", pservers=0)
    >>> job.submit(local=True).wait(timeout=60).phase
    'Completed'
    >>> for line in job.logs(index=2):
    ...     print(line)
    [hello-worker-2] hello
    >>> job.delete()
    """

    def _write(self, description: Description) -> None:
        super()._write(description)
        self.aio = AsyncPaddleJob._of(description)

    @classmethod
    def get(
        cls,
        job_name: str,
        namespace: str | None = None,
        *,
        local: bool = False,
        context: str | None = None,
        kubeconfig: str | Path | None = None,
    ) -> PaddleJob:
        """A job that somebody submitted before, perhaps from another notebook."""
        found = AsyncPaddleJob.get(job_name, namespace, local=local, context=context, kubeconfig=kubeconfig)
        aio = blocking(found)
        made = cls._of(aio.description)
        made.aio = aio
        return made

    @property
    def namespace(self) -> str | None:
        """Where it is, or is to be; None: where your kubeconfig points."""
        return self.aio.namespace

    def submit(
        self,
        *,
        local: bool = False,
        volumes: Mapping[str, str | Path] | None = None,
        context: str | None = None,
        kubeconfig: str | Path | None = None,
    ) -> PaddleJob:
        """Hand it to the cluster of your kubeconfig, or with `local=True` to this machine's processes.

        Returns when it is accepted; the job goes on by itself, also when this program ends. `volumes` says where a
        volume's data is on this machine, by the volume's name or its claim's.
        """
        blocking(self.aio.submit(local=local, volumes=volumes, context=context, kubeconfig=kubeconfig))
        return self

    @property
    def status(self) -> Status:
        """How it stands now."""
        return blocking(self.aio.status())

    def wait(self, timeout: float | None = None) -> Status:
        """Until the job has ended. Raises JobFailed when it did not end well, Timeout when it takes too long."""
        return blocking(self.aio.wait(timeout))

    def logs(
        self,
        *,
        follow: bool = False,
        role: LogsOf = "worker",
        index: int | None = None,
        tail: int | None = None,
    ) -> Iterator[Line]:
        """What the pods print, line by line; with `follow=True` until the job ends."""
        return iterating(self.aio.logs(follow=follow, role=role, index=index, tail=tail))

    def events(self) -> tuple[Event, ...]:
        """What happened to it, oldest first."""
        return blocking(self.aio.events())

    def scale(self, trainers: int) -> None:
        """Change how many trainers an elastic job has."""
        blocking(self.aio.scale(trainers))

    def suspend(self) -> None:
        """Take its pods away and keep the job; `resume` starts it afresh."""
        blocking(self.aio.suspend())

    def resume(self) -> None:
        blocking(self.aio.resume())

    def delete(self) -> None:
        """End it and remove it, with its pods and logs."""
        blocking(self.aio.delete())

    def __repr__(self) -> str:
        return f"PaddleJob({self.job_name!r})"

    def _repr_html_(self) -> str:
        return blocking(table(self.aio))
