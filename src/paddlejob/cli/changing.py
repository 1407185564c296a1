"""`paddlejob scale`, `suspend` and `resume`: change a job; its operator, or here its runner, does the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from paddlejob.cli.errors import BadUse
from paddlejob.cli.finding import Here, at
from paddlejob.cli.where import ANYWHERE, Place
from paddlejob.local import scaling
from paddlejob.local.errors import CannotScale
from paddlejob.local.state import Folder, State

if TYPE_CHECKING:
    from paddlejob.api import PaddleJob
    from paddlejob.sdk.cluster import Cluster


def scale(
    name: str,
    workers: Annotated[int, Parameter(validator=Number(gte=1))],
    /,
    *,
    place: Place = ANYWHERE,
) -> None:
    """Change the number of workers of an elastic job, between its `requests` and `limits`.

    Example: paddlejob scale resnet-elastic 3
    """

    def here(folder: Folder, state: State) -> None:
        try:
            scaling.ask(folder, state, workers)
        except CannotScale as error:
            raise BadUse(str(error)) from error
        print(f"{name} scaled from {_workers(state.job)} to {workers} workers")

    async def there(cluster: Cluster, job: PaddleJob) -> None:
        _still_goes(job)
        await cluster.scale(name, job.metadata.namespace, workers)
        print(f"{name} scaled from {_workers(job)} to {workers} workers")

    at(name, place, here, there)


def suspend(name: str, /, *, place: Place = ANYWHERE) -> None:
    """Remove all pods of a job and keep the job; `paddlejob resume` starts it afresh.

    Example: paddlejob suspend wide-and-deep
    """
    _set(name, place, suspended=True)


def resume(name: str, /, *, place: Place = ANYWHERE) -> None:
    """Start a suspended job afresh.

    Example: paddlejob resume wide-and-deep
    """
    _set(name, place, suspended=False)


def _set(name: str, place: Place, *, suspended: bool) -> None:
    word = "suspended" if suspended else "resumed"

    async def there(cluster: Cluster, job: PaddleJob) -> None:
        _still_goes(job)
        if job.spec.suspend == suspended:
            print(f"{name} {'is suspended already' if suspended else 'is not suspended'}")
            return
        await cluster.patch(name, job.metadata.namespace, {"spec": {"suspend": suspended}})
        print(f"{name} {word}")

    at(name, place, _not_here(word), there)


def _not_here(word: str) -> Here[None]:
    def here(_: Folder, state: State) -> None:
        name = state.job.metadata.name
        raise BadUse(f"{name} runs on this machine, where jobs cannot be {word}: `paddlejob delete {name}` ends it")

    return here


def _workers(job: PaddleJob) -> int:
    return job.spec.worker.replicas if job.spec.worker else 0


def _still_goes(job: PaddleJob) -> None:
    if job.status.finished:
        raise BadUse(f"{job.metadata.name} has ended ({job.status.phase}): submit it again under another name")
