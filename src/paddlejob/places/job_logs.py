"""The output of all pods of a job together, of later attempts and restarted containers too.

Owns which logs are open. Following ends when the job has ended or is gone, after the last lines.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

import msgspec

from paddlejob.api import Job
from paddlejob.api.names import LABEL_ATTEMPT, LABEL_INDEX, LABEL_RES_TYPE
from paddlejob.core.children import Pod
from paddlejob.errors import Invalid, NotFound, PaddleJobError
from paddlejob.kube.tasks import cancelled_and_joined
from paddlejob.places.log_lines import log_lines, main_container
from paddlejob.places.place import Heading, Line, Wanted, life
from paddlejob.places.refusals import explained

if TYPE_CHECKING:
    from paddlejob.places.cluster import Cluster

# What a pod said last arrives after its end; a pod that runs on after the job's end is not waited for.
LAST_LINES_SECONDS = 5.0

# Lines that are read before anybody has taken the ones before them: whoever is slow slows down the reading.
MOST_AHEAD = 1000

News = asyncio.Queue[Line | PaddleJobError | None]
Key = tuple[str, int]  # a pod's UID, a container's restarts


def takes(wanted: Wanted, pod: Pod) -> bool:
    labels = pod.metadata.labels
    return wanted.role in ("all", labels.get(LABEL_RES_TYPE)) and (
        wanted.index is None or labels.get(LABEL_INDEX) == str(wanted.index)
    )


async def job_logs(cluster: Cluster, job: Job, wanted: Wanted) -> AsyncGenerator[Line, None]:
    """What the pods have said until now, pod by pod."""
    for pod in await cluster.pods(job):
        if takes(wanted, pod) and _key(pod):
            async with aclosing(_of_pod(cluster, pod, wanted)) as lines:
                async for line in lines:
                    yield line


async def follow_job_logs(cluster: Cluster, job: Job, wanted: Wanted) -> AsyncGenerator[Line, None]:
    """What the pods have said and say, as it comes, until the job has ended."""
    news: News = asyncio.Queue(MOST_AHEAD)
    following = asyncio.ensure_future(_follow(cluster, job, wanted, news))
    try:
        while (told := await news.get()) is not None:
            if isinstance(told, PaddleJobError):
                raise told
            yield told
    finally:
        await cancelled_and_joined(following)


async def _follow(cluster: Cluster, job: Job, wanted: Wanted, news: News) -> None:
    opened: dict[Key, asyncio.Task[None]] = {}
    whole = msgspec.structs.replace(wanted, tail=None, since=None)  # of a pod that began after we did, everything

    async def read(pod: Pod, how: Wanted) -> None:
        try:
            async with aclosing(_of_pod(cluster, pod, how)) as lines:
                async for line in lines:
                    await news.put(line)
        except PaddleJobError as error:
            await news.put(error)

    async def look() -> None:
        first = {_key(pod) for pod in await cluster.pods(job)}
        async for _, pod in cluster.watch_pods(job):
            if pod is None or not takes(wanted, pod):
                continue
            key = _key(pod)
            if key is not None and key not in opened:
                opened[key] = asyncio.ensure_future(read(pod, wanted if key in first else whole))

    looking = asyncio.ensure_future(look())
    ending = asyncio.ensure_future(_end(cluster, job))
    try:
        await asyncio.wait({looking, ending}, return_when=asyncio.FIRST_COMPLETED)
        for one in (looking, ending):
            if one.done():
                one.result()
        await _catch_up(cluster, job, wanted, opened, news)
    except PaddleJobError as error:
        await news.put(error)
    finally:
        await cancelled_and_joined(looking, ending, *opened.values())
    await news.put(None)


async def _end(cluster: Cluster, job: Job) -> None:
    """Returns when the job has ended, is gone, or is another of the same name."""
    async with aclosing(life(cluster, job)) as changes:
        async for now in changes:
            if now.over:
                return


async def _catch_up(
    cluster: Cluster, job: Job, wanted: Wanted, opened: dict[Key, asyncio.Task[None]], news: News
) -> None:
    """The job has ended: pods that ended with it may have been opened late or not at all."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + LAST_LINES_SECONDS
    while loop.time() < deadline:
        begun = {_key(pod) for pod in await cluster.pods(job) if takes(wanted, pod)} - {None}
        if begun <= opened.keys():
            break
        await asyncio.sleep(0.1)
    while pending := {one for one in opened.values() if not one.done()}:
        await asyncio.wait(pending, timeout=max(0.1, deadline - loop.time()))
        # Whoever listens may be slower than the pods were: what is read already is not dropped.
        if loop.time() >= deadline and news.empty():
            return


async def _of_pod(cluster: Cluster, pod: Pod, wanted: Wanted) -> AsyncGenerator[Line, None]:
    """The lines of the container that trains."""
    namespace, name = pod.metadata.key
    if wanted.attempts:
        yield Heading(name, str(_number(pod)))
    try:
        with explained(f"read the log of pod {name} in namespace {namespace}", namespace=namespace):
            async with aclosing(log_lines(cluster.client, pod, wanted)) as lines:
                async for text in lines:
                    yield Line(name, text)
    except NotFound:
        return  # it is gone, and its log with it
    except Invalid as error:
        if "is waiting to start" not in str(error):
            raise


def _number(pod: Pod) -> int:
    """Which log of a pod of this name it is: later attempts and restarted containers have later ones."""
    attempt = pod.metadata.labels.get(LABEL_ATTEMPT, "")
    key = _key(pod)
    return 1 + (int(attempt) if attempt.isdecimal() else 0) + (key[1] if key else 0)


def _key(pod: Pod) -> Key | None:
    """One log: that of a container which has begun, in this pod, after so many restarts."""
    name = main_container(pod)
    found = next((one for one in pod.containers if one.name == name), None)
    if found is None or not (found.state.running or found.state.terminated):
        return None
    return (pod.metadata.uid, found.restart_count)
