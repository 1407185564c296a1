"""`PaddleJob`: a job for scripts and notebooks. Every method waits for the one of the same name of `AsyncPaddleJob`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from paddlejob.api import Progress, Status
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
        """A job that was submitted before, perhaps from another notebook."""
        found = AsyncPaddleJob.get(job_name, namespace, local=local, context=context, kubeconfig=kubeconfig)
        aio = blocking(found)
        made = cls._of(aio.description)
        made.aio = aio
        return made

    @property
    def namespace(self) -> str | None:
        """The job's namespace; None until submitted if it is to be your kubeconfig's."""
        return self.aio.namespace

    def submit(
        self,
        *,
        local: bool = False,
        volumes: Mapping[str, str | Path] | None = None,
        context: str | None = None,
        kubeconfig: str | Path | None = None,
    ) -> PaddleJob:
        """Submit it to the cluster of your kubeconfig, or with `local=True` run it on this machine.

        Returns when the job is accepted; it keeps running even when this program ends. `volumes` says where the data
        of a volume is on this machine, by the name of the volume or of its claim.
        """
        blocking(self.aio.submit(local=local, volumes=volumes, context=context, kubeconfig=kubeconfig))
        return self

    @property
    def status(self) -> Status:
        """The current status."""
        return blocking(self.aio.status())

    @property
    def progress(self) -> Progress | None:
        """How far it is, as its own output says it: steps, loss, speed and when it will be at the end; or None."""
        return blocking(self.aio.progress())

    def wait(self, timeout: float | None = None) -> Status:
        """Wait until the job has ended. Raises JobFailed if it failed or was stopped, Timeout if it takes too long."""
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
        """Delete its pods but keep the job; `resume` starts it again from the beginning."""
        blocking(self.aio.suspend())

    def resume(self) -> None:
        blocking(self.aio.resume())

    def delete(self) -> None:
        """Delete it, with its pods and logs."""
        blocking(self.aio.delete())

    def __repr__(self) -> str:
        return f"PaddleJob({self.job_name!r})"

    def _repr_html_(self) -> str:
        return blocking(table(self.aio))
