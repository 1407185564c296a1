"""Which job a name means: one of this machine, one of the cluster, and never silently one of two.

A job is worked upon where it is: `here` with its folder and state, `there` with the cluster and the job.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from paddlejob.cli.errors import BadUse
from paddlejob.cli.where import Place
from paddlejob.local.state import Folder, State, folders, root

if TYPE_CHECKING:
    from paddlejob.api import PaddleJob
    from paddlejob.sdk.cluster import Cluster

R = TypeVar("R")
Here = Callable[[Folder, State], R]
There = Callable[["Cluster", "PaddleJob"], Awaitable[R]]

# So long a cluster may take to say whether it has a job too that was found on this machine.
PATIENCE = 3.0


def at(name: str, place: Place, here: Here[R], there: There[R]) -> R:
    """Do it where the job is."""
    found = None if place.only_there else _on_this_machine(name, place)
    if place.only_here:
        if found is None:
            raise BadUse(_nowhere(name, place))
        return here(*found)
    done = _on_the_cluster(name, place, found is not None, there)
    if done is not None:
        return done[0]
    assert found is not None
    return here(*found)


def _on_this_machine(name: str, place: Place) -> tuple[Folder, State] | None:
    found = [one for one in folders(root(os.environ), place.namespace) if one[1].job.metadata.name == name]
    if len(found) > 1:
        namespaces = ", ".join(state.job.metadata.namespace for _, state in found)
        raise BadUse(f"{name} is on this machine in more than one namespace ({namespaces}): add --local -n NAMESPACE")
    return found[0] if found else None


def _on_the_cluster(name: str, place: Place, is_here: bool, there: There[R]) -> tuple[R] | None:
    """What `there` gave; None when the job is on this machine and, as far as can be known, not on the cluster."""
    from paddlejob.cli.reaching import connect, exit_codes  # noqa: PLC0415 - only who asks a cluster pays for it
    from paddlejob.sdk.errors import NoNamespace, NotFound, PaddleJobError  # noqa: PLC0415 - as above

    async def work() -> tuple[R] | None:
        try:
            cluster = connect(place)
            async with cluster:
                job = await asyncio.wait_for(
                    cluster.get(name, place.namespace or cluster.namespace), PATIENCE if is_here else None
                )
                if not is_here:
                    return (await there(cluster, job),)
        except (NotFound, NoNamespace) as error:
            if is_here:
                return None
            if place.only_there:
                raise
            raise BadUse(f"{error}; there is none of that name on this machine either") from error
        except (PaddleJobError, asyncio.TimeoutError) as error:
            if not is_here:
                raise
            print(f"paddlejob: note: the cluster could not be asked: {str(error) or 'no answer'}", file=sys.stderr)
            return None
        raise BadUse(f"{name} is on this machine and on the cluster: add --local, or -n {job.metadata.namespace}")

    with exit_codes():
        return asyncio.run(work())


def _nowhere(name: str, place: Place) -> str:
    where = f" in namespace {place.namespace}" if place.namespace else ""
    return f"there is no local job {name}{where}: `paddlejob list --local` shows those there are"
