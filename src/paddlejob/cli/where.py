"""Where a job is: the flags that every command about jobs has, and which job a name means.

`--local`: on this machine only. `-n`, `--context` or `--kubeconfig`: on the cluster only. Neither: both are searched,
and a name that is in both is refused.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from cyclopts import Parameter

from paddlejob import errors
from paddlejob.api.meta import Key
from paddlejob.cli.errors import BadUse
from paddlejob.cli.output import note
from paddlejob.places.place import Found, Place
from paddlejob.places.this_machine import ThisMachine

if TYPE_CHECKING:
    from paddlejob.places.cluster import Cluster

R = TypeVar("R")
Enter = Callable[[], Place]

# How long to wait for a cluster to say whether it also has a job that was found on this machine.
PATIENCE = 3.0

JobName = Annotated[str, Parameter(help="The job's name.")]


@Parameter(name="*")
@dataclass(frozen=True)
class Target:
    """A cluster, chosen as with kubectl."""

    context: Annotated[str | None, Parameter(help="Context in the kubeconfig file.")] = None
    kubeconfig: Annotated[str | None, Parameter(help="Path to the kubeconfig file.")] = None

    def cluster(self) -> Cluster:
        from paddlejob.places.cluster import Cluster  # noqa: PLC0415 - only who asks a cluster pays for it

        return Cluster.connect(context=self.context, kubeconfig=self.kubeconfig)


@Parameter(name="*")
@dataclass(frozen=True)
class Where(Target):
    """A cluster or this machine."""

    namespace: Annotated[str | None, Parameter(alias="-n", help="Namespace on the cluster.")] = None
    local: Annotated[bool, Parameter(help="Only on this machine.")] = False

    @property
    def only_here(self) -> bool:
        return self.local or not (self.asks_for_cluster or cluster_is_configured())

    @property
    def only_there(self) -> bool:
        return not self.local and self.asks_for_cluster

    @property
    def asks_for_cluster(self) -> bool:
        return any(one is not None for one in (self.namespace, self.context, self.kubeconfig))

    @property
    def places(self) -> list[Enter]:
        here: list[Enter] = [] if self.only_there else [ThisMachine]
        return here if self.only_here else [*here, self.cluster]


CLUSTER = Target()
ANYWHERE = Where()


def cluster_is_configured() -> bool:
    """Whether there is a cluster to ask: a kubeconfig, or the pod that we are in."""
    env = os.environ
    return bool(
        env.get("KUBECONFIG") or env.get("KUBERNETES_SERVICE_HOST") or Path("~/.kube/config").expanduser().exists()
    )


def run(work: Coroutine[Any, Any, R]) -> R:
    """Run the coroutine and return its result, if possible without an event loop.

    A command that only reads this machine's files never waits, and loading asyncio takes as long as reading them. Code
    that needs a loop must first await `places.place.loop`, which suspends the coroutine: then asyncio runs the rest.
    """
    try:
        work.send(None)
    except StopIteration as done:
        made: R = done.value
        return made
    from asyncio import run  # noqa: PLC0415 - to load it takes as long as a look at this machine

    return run(work)


def on_cluster(target: Target, work: Callable[[Cluster], Awaitable[R]]) -> R:
    async def connected() -> R:
        async with target.cluster() as cluster:
            return await work(cluster)

    return run(connected())


def at(name: str, where: Where, work: Callable[[Place, Found], Awaitable[R]]) -> R:
    """Find the job by its name, here or on the cluster, and do `work` with it there."""

    async def found() -> R:
        near = None if where.only_there else await _near(name, where)
        async with AsyncExitStack() as stack:
            far = None if where.only_here else await _far(name, where, stack, is_here=near is not None)
            if near and far:
                raise BadUse(f"{name} is on this machine and on the cluster: add --local or -n {far[1].key.namespace}")
            place, job = far or (ThisMachine(), near)
            if job is None:
                within = f" in namespace {where.namespace}" if where.namespace else ""
                raise BadUse(f"there is no job {name} on this machine{within}: `paddlejob list --local` lists all jobs")
            return await work(place, job)

    return run(found())


async def _near(name: str, where: Where) -> Found | None:
    found = [one for one in await ThisMachine().list(where.namespace) if one.key.name == name]
    if len(found) > 1:
        namespaces = ", ".join(one.key.namespace for one in found)
        raise BadUse(f"{name} is on this machine in several namespaces ({namespaces}): add --local -n NAMESPACE")
    return found[0] if found else None


async def _far(name: str, where: Where, stack: AsyncExitStack, *, is_here: bool) -> tuple[Place, Found] | None:
    """The cluster and the job there; None when it is on this machine and, as far as can be known, not there."""
    try:
        cluster = await stack.enter_async_context(where.cluster())
        from asyncio import wait_for  # noqa: PLC0415 - there is a loop now

        key = Key(where.namespace or cluster.namespace, name)
        return cluster, await wait_for(cluster.get(key), PATIENCE if is_here else None)
    except (errors.NotFound, errors.NoNamespace) as error:
        if is_here:
            return None
        if where.only_there:
            raise
        raise BadUse(f"{error}; it is not on this machine either") from error
    except (errors.PaddleJobError, _timeout()) as error:
        if not is_here:
            raise
        note(f"note: the cluster could not be checked: {str(error) or 'no answer'}")
        return None


def _timeout() -> type[Exception]:
    from asyncio import TimeoutError  # noqa: PLC0415 - Python 3.10 has one of its own there

    return TimeoutError
