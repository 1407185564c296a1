"""The log of one container as lines, each once: a connection that is cut while following is taken up where it ended.

The kubelet is asked for time stamps, which say what has been told already; they are not shown. That an answer ends is
no sign that the container has: behind the API server a cut connection looks the same. So a log is complete when it was
read to its end after the container's.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Literal

from paddlejob.api.names import CONTAINER
from paddlejob.core.children import ContainerStatus, Pod
from paddlejob.kube import Client
from paddlejob.kube.errors import ApiNotFound, ApiServerError, Unreachable
from paddlejob.operator.resources import PODS
from paddlejob.places.place import Wanted
from paddlejob.terminal import newest

# A program may compute for minutes without a word: then the connection may be dead, and asking again costs little.
SILENCE_SECONDS = 120.0
PAUSE = 0.5
# Bytes after which a line that does not end is told in parts.
LONGEST_LINE = 1024 * 1024


def main_container(pod: Pod) -> str:
    names = [one.name for one in pod.status.container_statuses]
    return CONTAINER if CONTAINER in names or not names else names[0]


async def log_lines(client: Client, pod: Pod, wanted: Wanted) -> AsyncGenerator[str, None]:
    path = PODS.path(*pod.metadata.key, "log")
    name = main_container(pod)
    params = {"container": name, "timestamps": "true"}
    if wanted.tail is not None:
        params["tailLines"] = str(wanted.tail)
    if wanted.since is not None:
        params["sinceSeconds"] = str(max(1, round(wanted.since)))
    last_time = not wanted.follow
    told = taken_up_at = ""
    while True:
        try:
            asked = params if last_time else {**params, "follow": "true"}
            async with aclosing(_stamped(client, path, asked)) as lines:
                async for at, line in lines:
                    # Within one answer nothing is dropped: two lines may have the same time.
                    if not at or at > taken_up_at:
                        told = at or told
                        yield line
            if last_time:
                return
        except (Unreachable, ApiServerError):
            if not wanted.follow:
                raise
        await asyncio.sleep(PAUSE)
        state = await _state(client, pod, name)
        if state == "gone":
            return
        last_time = state == "ended"
        if told:
            params = {"container": name, "timestamps": "true", "sinceTime": told}
            taken_up_at = told


async def _state(client: Client, pod: Pod, container: str) -> Literal["goes on", "ended", "gone"]:
    """How the container is whose log we read; a later one in its place is not it."""
    try:
        found = await client.get(PODS, *pod.metadata.key)
    except ApiNotFound:
        return "gone"
    except (Unreachable, ApiServerError):
        return "goes on"
    before, now = _status(pod, container), _status(found, container)
    if found.metadata.uid != pod.metadata.uid or (before and now and before.restart_count != now.restart_count):
        return "gone"
    return "ended" if found.finished or (now and now.state.terminated) else "goes on"


def _status(pod: Pod, container: str) -> ContainerStatus | None:
    return next((one for one in pod.containers if one.name == container), None)


async def _stamped(client: Client, path: str, params: dict[str, str]) -> AsyncGenerator[tuple[str, str], None]:
    """Time stamp and line; a last line without an end counts too."""
    rest = b""
    async with client.chunks(path, params=params, silence=SILENCE_SECONDS) as chunks:
        async for chunk in chunks:
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                yield _split(line)
            if len(rest) > LONGEST_LINE:
                yield _split(rest)
                rest = b""
    if rest:
        yield _split(rest)


def _split(line: bytes) -> tuple[str, str]:
    text = line.decode(errors="replace")
    at, space, said = text.partition(" ")
    return (at, newest(said)) if space and at[:4].isdigit() and "T" in at else ("", newest(text))
