"""`paddlejob scale`: another number of workers; the job's operator, or here its runner, does the rest."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from paddlejob.cli.where import ANYWHERE, JobName, Where, at
from paddlejob.places.place import Found, Place


def scale(
    name: JobName,
    workers: Annotated[int, Parameter(help="The new number of workers.", validator=Number(gte=1))],
    /,
    *,
    where: Where = ANYWHERE,
) -> None:
    """Change the number of workers of an elastic job, within its requests and limits.

    Example: paddlejob scale resnet-elastic 3
    """

    async def work(place: Place, found: Found) -> None:
        worker = found.job.spec.worker
        await place.scale(found.job, workers)
        print(f"{name} scaled from {worker.replicas if worker else 0} to {workers} workers")

    at(name, where, work)
