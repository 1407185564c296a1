"""`paddlejob logs`: what the pods of a job print, all workers together or chosen ones."""

from __future__ import annotations

from contextlib import aclosing
from typing import Annotated, Literal

from cyclopts import Parameter

from paddlejob.cli.durations import seconds
from paddlejob.cli.output import Lines, console, note
from paddlejob.cli.where import ANYWHERE, Where, at
from paddlejob.places.place import Bar, Found, Place, Wanted

Role = Literal["ps", "worker", "heter", "all"]


def logs(
    name: str,
    /,
    *,
    where: Where = ANYWHERE,
    follow: Annotated[bool, Parameter(name=["--follow", "-f"], help="Go on until the job ends.", negative="")] = False,
    role: Annotated[Role, Parameter(help="Of which role.")] = "worker",
    index: Annotated[int | None, Parameter(help="Of one pod only.")] = None,
    tail: Annotated[int | None, Parameter(help="Only the last so many lines of each pod.")] = None,
    since: Annotated[float | None, Parameter(converter=seconds, help="Only the last 30s, 10m, 2h.")] = None,
) -> None:
    """Print the output of a job's pods, all workers together; with -f also of those that take their places.

    Example: paddlejob logs -f wide-and-deep
    """
    wanted = Wanted(follow=follow, role=role, index=index, tail=tail, since=since, bars=follow)
    at(name, where, lambda place, found: print_logs(place, found, wanted))


async def print_logs(place: Place, found: Found, wanted: Wanted) -> None:
    to = Lines(console())
    try:
        async with aclosing(place.logs(found.job, wanted)) as lines:
            async for line in lines:
                (to.show_bar if isinstance(line, Bar) else to.show)(line.pod, line.text)
    finally:
        to.close()
    if not to.any and not wanted.follow:
        name = found.key.name
        note(f"no output of {name} yet: `paddlejob describe {name}{found.flag}` says how its pods are")
