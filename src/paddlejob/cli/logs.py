"""`paddlejob logs`: what the pods of a job print, all workers together or chosen ones."""

from __future__ import annotations

from contextlib import aclosing
from typing import Annotated

from cyclopts import Parameter

from paddlejob.cli.durations import seconds
from paddlejob.cli.output import Lines, console, note
from paddlejob.cli.where import ANYWHERE, JobName, Where, at
from paddlejob.places.place import Bar, Found, LogsOf, Place, Wanted


def logs(
    name: JobName,
    /,
    *,
    where: Where = ANYWHERE,
    follow: Annotated[bool, Parameter(alias="-f", help="Keep printing until the job has finished.")] = False,
    role: Annotated[LogsOf, Parameter(help="Which pods to show.")] = "worker",
    index: Annotated[int | None, Parameter(help="Show only the pod with this index.")] = None,
    tail: Annotated[int | None, Parameter(help="Show only this many lines from the end of each log.")] = None,
    since: Annotated[
        float | None, Parameter(converter=seconds, help="Show only lines newer than this: 30s, 10m, 2h.")
    ] = None,
) -> None:
    """Print the logs of a job's pods, by default of all workers. -f also follows the pods that replace them.

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
        note(f"{name} has printed nothing yet: `paddlejob describe {name}{found.flag}` shows its pods")
