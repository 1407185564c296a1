"""`paddlejob delete`: end a job, of this machine or of the cluster, and forget it."""

from __future__ import annotations

from contextlib import aclosing
from typing import Annotated

from cyclopts import Parameter

from paddlejob.cli.errors import BadUse
from paddlejob.cli.where import ANYWHERE, Where, at
from paddlejob.places.place import Found, Place, life


def delete(
    *names: Annotated[str, Parameter(help="The jobs to delete.")],
    where: Where = ANYWHERE,
    force: Annotated[bool, Parameter(help="Kill the pods at once (on this machine only).")] = False,
    wait: Annotated[bool, Parameter(help="Wait until the job is gone.", negative="--no-wait")] = True,
) -> None:
    """Stop jobs and delete them with everything they own, logs on this machine included.

    Example: paddlejob delete wide-and-deep
    """
    if not names:
        raise BadUse("which job? `paddlejob list` lists them all")

    async def work(place: Place, found: Found) -> None:
        await place.delete(found.job, force=force)
        if wait:
            async with aclosing(life(place, found.job)) as changes:
                async for _ in changes:
                    pass
        print(f"{found.key.name} {'deleted' if wait else 'is being deleted'}")

    for name in names:
        at(name, where, work)
