"""The log lines of all chosen pods of a job on a cluster, together: those of restarted containers and of later attempts
too, until the job is over.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from paddlejob.api import PaddleJob
from paddlejob.api.names import LABEL_INDEX, LABEL_RES_TYPE
from paddlejob.core.children import Pod
from paddlejob.kube.tasks import cancelled_and_joined
from paddlejob.sdk.cluster import Cluster
from paddlejob.sdk.errors import NotFound
from paddlejob.sdk.place import Line, Wanted


async def cluster_logs(cluster: Cluster, job: PaddleJob, wanted: Wanted) -> AsyncGenerator[Line, None]:
    if wanted.follow:
        following = _Following(cluster, job, wanted)
        async with aclosing(following.lines()) as lines:
            async for line in lines:
                yield line
        return
    for pod in await cluster.pods(job):
        if _chosen(pod, wanted) and _has_started(pod):
            async for text in cluster.logs(pod, tail=wanted.tail):
                yield Line(pod.metadata.name, text)


class _Following:
    """One task per container that has started, one that looks for more, one that waits for the end."""

    def __init__(self, cluster: Cluster, job: PaddleJob, wanted: Wanted) -> None:
        self._cluster = cluster
        self._job = job
        self._wanted = wanted
        self._news: asyncio.Queue[Line | None] = asyncio.Queue()
        self._readers: dict[tuple[str, int], asyncio.Task[None]] = {}

    async def lines(self) -> AsyncGenerator[Line, None]:
        looking = asyncio.ensure_future(self._look())
        ending = asyncio.ensure_future(self._until_over())
        try:
            while line := await self._next(looking, ending):
                yield line
        finally:
            await cancelled_and_joined(looking, ending, *self._readers.values())

    async def _next(self, looking: asyncio.Task[None], ending: asyncio.Task[None]) -> Line | None:
        """The next line, None when there will be none; an error of any task is ours."""
        getting = asyncio.ensure_future(self._news.get())
        try:
            while not getting.done():
                busy = [task for task in (looking, ending, *self._readers.values()) if not task.done()]
                if ending.done() and not any(not task.done() for task in self._readers.values()):
                    return getting.result() if getting.done() else None
                await asyncio.wait({getting, *busy}, return_when=asyncio.FIRST_COMPLETED)
                for task in (looking, ending, *self._readers.values()):
                    if task.done():
                        task.result()
            return getting.result()
        finally:
            await cancelled_and_joined(getting)

    async def _look(self) -> None:
        async for change in self._cluster.watch_pods(self._job):
            if change.after is not None:
                self._read(change.after)

    async def _until_over(self) -> None:
        meta = self._job.metadata
        async for change in self._cluster.watch(meta.namespace, meta.name):
            if change.after is None or change.after.metadata.uid != meta.uid or change.after.status.finished:
                break
        for pod in await self._cluster.pods(self._job):  # those that the other watch has not told of yet
            self._read(pod)

    def _read(self, pod: Pod) -> None:
        key = (pod.metadata.uid, _restarts(pod))
        ours = pod.metadata.controller_uid == self._job.metadata.uid
        if ours and key not in self._readers and _chosen(pod, self._wanted) and _has_started(pod):
            self._readers[key] = asyncio.ensure_future(self._follow(pod))

    async def _follow(self, pod: Pod) -> None:
        try:
            async for text in self._cluster.logs(pod, follow=True, tail=self._wanted.tail):
                self._news.put_nowait(Line(pod.metadata.name, text))
        except NotFound:
            return  # its pod is gone, and its log with it


def _chosen(pod: Pod, wanted: Wanted) -> bool:
    labels = pod.metadata.labels
    of_role = wanted.role in ("all", labels.get(LABEL_RES_TYPE))
    return of_role and (wanted.index is None or labels.get(LABEL_INDEX) == str(wanted.index))


def _has_started(pod: Pod) -> bool:
    return any(one.state.running or one.state.terminated for one in pod.status.container_statuses)


def _restarts(pod: Pod) -> int:
    return max((one.restart_count for one in pod.status.container_statuses), default=0)
