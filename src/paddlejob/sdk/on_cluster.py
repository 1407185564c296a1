"""Jobs on a cluster, through `Cluster`. A connection lasts as long as one call: nothing has to be closed by the user.

What stands beside a job is made after it, so that it is the job's own and goes with it; pods wait for it. What cannot
be made completely is taken back.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

from paddlejob.api import PaddleJob
from paddlejob.sdk.cluster import Cluster
from paddlejob.sdk.description import Description
from paddlejob.sdk.errors import NotFound, PaddleJobError
from paddlejob.sdk.job_logs import Wanted as Pods
from paddlejob.sdk.job_logs import follow_job_logs, job_logs
from paddlejob.sdk.place import Happening, Key, Line, Wanted


class OnCluster:
    where = "on the cluster"

    def __init__(self, context: str | None = None, kubeconfig: str | Path | None = None) -> None:
        self._context = context
        self._kubeconfig = None if kubeconfig is None else str(kubeconfig)

    def connect(self) -> Cluster:
        return Cluster.connect(self._context, self._kubeconfig)

    async def namespace(self) -> str:
        async with self.connect() as cluster:
            return cluster.namespace

    async def submit(self, description: Description) -> PaddleJob:
        async with self.connect() as cluster:
            made = await cluster.create(description.document)
            try:
                for one in description.beside:
                    await cluster.create_beside(made, one)
            except PaddleJobError:
                await cluster.delete(made.metadata.name, made.metadata.namespace)
                raise
            return made

    async def get(self, key: Key) -> PaddleJob:
        async with self.connect() as cluster:
            return await cluster.get(key.name, key.namespace)

    async def watch(self, key: Key) -> AsyncGenerator[PaddleJob, None]:
        async with self.connect() as cluster:
            changes = cluster.watch(key.namespace, key.name)
            async with aclosing(changes):
                async for change in changes:
                    if change.after is None:
                        was = "was deleted" if change.before else "is not there"
                        raise NotFound(f"job {key.name} {was} in namespace {key.namespace}: submit it again")
                    yield change.after
                    if change.after.status.finished:
                        return

    async def logs(self, key: Key, wanted: Wanted) -> AsyncGenerator[Line, None]:
        async with self.connect() as cluster:
            job = await cluster.get(key.name, key.namespace)
            pods = Pods(role=None if wanted.role == "all" else wanted.role, index=wanted.index, tail=wanted.tail)
            async with aclosing((follow_job_logs if wanted.follow else job_logs)(cluster, job, pods)) as lines:
                async for pod, text in lines:
                    yield Line(pod, text)

    async def events(self, key: Key) -> tuple[Happening, ...]:
        async with self.connect() as cluster:
            job = await cluster.get(key.name, key.namespace)
            return tuple(Happening(one.at, one.type, one.reason, one.message) for one in await cluster.events(job))

    async def change(self, key: Key, spec: Mapping[str, Any]) -> PaddleJob:
        async with self.connect() as cluster:
            return await cluster.patch(key.name, key.namespace, {"spec": dict(spec)})

    async def scale(self, key: Key, trainers: int) -> None:
        async with self.connect() as cluster:
            await cluster.scale(key.name, key.namespace, trainers)

    async def delete(self, key: Key) -> None:
        async with self.connect() as cluster:
            await cluster.delete(key.name, key.namespace)
