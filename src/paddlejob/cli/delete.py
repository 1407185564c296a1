"""`paddlejob delete`: end a job, of this machine or of the cluster, and forget it."""

from __future__ import annotations

from contextlib import aclosing
from typing import Annotated

from cyclopts import Parameter

from paddlejob.cli.errors import BadUse
from paddlejob.cli.where import ANYWHERE, Where, at
from paddlejob.places.place import Found, Place, life


def delete(
    *names: str,
    where: Where = ANYWHERE,
    force: Annotated[bool, Parameter(help="On this machine: do not wait for a graceful end.", negative="")] = False,
    wait: Annotated[bool, Parameter(help="On the cluster: come back when it is gone.")] = True,
) -> None:
    """End jobs and remove them: on this machine with their logs, on the cluster with their pods.

    Example: paddlejob delete wide-and-deep
    """
    if not names:
        raise BadUse("which job? `paddlejob list` shows those there are")

    async def work(place: Place, found: Found) -> None:
        await place.delete(found.job, force=force)
        if wait:
            async with aclosing(life(place, found.job)) as changes:
                async for _ in changes:
                    pass
        print(f"{found.key.name} deleted" + ("" if wait else " as soon as it can be"))

    for name in names:
        at(name, where, work)
