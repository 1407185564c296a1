"""`paddlejob suspend` and `resume`: take a job's pods away, and start it afresh."""

from __future__ import annotations

from paddlejob.cli.where import ANYWHERE, JobName, Where, at
from paddlejob.places.place import Found, Place


def suspend(name: JobName, /, *, where: Where = ANYWHERE) -> None:
    """Delete a job's pods but keep the job; `paddlejob resume` starts it again.

    Example: paddlejob suspend wide-and-deep
    """
    _set(name, where, suspended=True)


def resume(name: JobName, /, *, where: Where = ANYWHERE) -> None:
    """Start a suspended job again, from the beginning.

    Example: paddlejob resume wide-and-deep
    """
    _set(name, where, suspended=False)


def _set(name: str, where: Where, *, suspended: bool) -> None:
    async def work(place: Place, found: Found) -> None:
        await place.change(found.job, {"suspend": suspended})
        same = "is suspended already" if suspended else "is not suspended"
        print(f"{name} {same if found.job.spec.suspend == suspended else 'suspended' if suspended else 'resumed'}")

    at(name, where, work)
