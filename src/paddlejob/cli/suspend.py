"""`paddlejob suspend` and `resume`: take a job's pods away, and start it afresh."""

from __future__ import annotations

from paddlejob.cli.where import ANYWHERE, Where, at
from paddlejob.places.place import Found, Place


def suspend(name: str, /, *, where: Where = ANYWHERE) -> None:
    """Remove all pods of a job and keep the job; `paddlejob resume` starts it afresh.

    Example: paddlejob suspend wide-and-deep
    """
    _set(name, where, suspended=True)


def resume(name: str, /, *, where: Where = ANYWHERE) -> None:
    """Start a suspended job afresh.

    Example: paddlejob resume wide-and-deep
    """
    _set(name, where, suspended=False)


def _set(name: str, where: Where, *, suspended: bool) -> None:
    async def work(place: Place, found: Found) -> None:
        await place.change(found.job, {"suspend": suspended})
        same = "is suspended already" if suspended else "is not suspended"
        print(f"{name} {same if found.job.spec.suspend == suspended else 'suspended' if suspended else 'resumed'}")

    at(name, where, work)
