"""From a command to the cluster and back: one connection, one event loop, errors with their exit codes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from paddlejob.cli.errors import BadUse, NoCluster, UserError
from paddlejob.cli.where import Target
from paddlejob.sdk import errors
from paddlejob.sdk.cluster import Cluster

R = TypeVar("R")

REFUSED = (errors.NoCluster, errors.Unauthorized, errors.Forbidden, errors.NoCRD)
MISUSED = (errors.NotFound, errors.NoNamespace, errors.AlreadyExists, errors.Invalid)


@contextmanager
def exit_codes() -> Iterator[None]:
    try:
        yield
    except REFUSED as error:
        raise NoCluster(str(error)) from error
    except MISUSED as error:
        raise BadUse(str(error)) from error
    except errors.PaddleJobError as error:
        raise UserError(str(error)) from error


def on_cluster(target: Target, work: Callable[[Cluster, str], Awaitable[R]]) -> R:
    """Run `work` with the cluster and the namespace that were asked for."""

    async def connected() -> R:
        async with connect(target) as cluster:
            return await work(cluster, target.namespace or cluster.namespace)

    with exit_codes():
        return asyncio.run(connected())


def connect(target: Target) -> Cluster:
    return Cluster.connect(context=target.context, kubeconfig=target.kubeconfig)
