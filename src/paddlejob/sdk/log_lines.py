"""The log of one container as lines, each once: a connection that is cut while following is taken up where it ended.

The kubelet is asked for time stamps, which say what has been told already; they are not shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from paddlejob.api.names import CONTAINER
from paddlejob.core.children import Pod
from paddlejob.kube import Client
from paddlejob.kube.errors import NotFound, ServerError, Unreachable
from paddlejob.kube.objects import Resource

# A program may compute for minutes without a word: then the connection may be dead, and asking again costs little.
SILENCE_SECONDS = 120.0
PAUSE = 1.0

_PODS = Resource("", "v1", "pods", Pod)


def main_container(pod: Pod) -> str:
    names = [one.name for one in pod.status.container_statuses]
    return CONTAINER if CONTAINER in names or not names else names[0]


async def log_lines(
    client: Client,
    pod: Pod,
    *,
    follow: bool,
    tail: int | None,
    since: float | None,
    container: str | None,
) -> AsyncGenerator[str, None]:
    path = _PODS.path(pod.metadata.namespace, pod.metadata.name, "log")
    params = {"container": container or main_container(pod), "timestamps": "true"}
    if follow:
        params["follow"] = "true"
    if tail is not None:
        params["tailLines"] = str(tail)
    if since is not None:
        params["sinceSeconds"] = str(max(1, round(since)))
    told = taken_up_at = ""
    while True:
        try:
            async with aclosing(_stamped(client, path, params)) as lines:
                async for at, line in lines:
                    # Within one answer nothing is dropped: two lines may have the same time.
                    if not at or at > taken_up_at:
                        told = at or told
                        yield line
            return
        except (Unreachable, ServerError):
            if not follow:
                raise
        await asyncio.sleep(PAUSE)
        if not await _same(client, pod):
            return
        if told:
            params = {key: value for key, value in params.items() if key not in ("tailLines", "sinceSeconds")}
            params["sinceTime"] = taken_up_at = told


async def _same(client: Client, pod: Pod) -> bool:
    """Whether the pod is still there, and not another of its name."""
    try:
        found = await client.get(_PODS, pod.metadata.namespace, pod.metadata.name)
    except NotFound:
        return False
    except (Unreachable, ServerError):
        return True
    return found.metadata.uid == pod.metadata.uid


async def _stamped(client: Client, path: str, params: dict[str, str]) -> AsyncGenerator[tuple[str, str], None]:
    """Time stamp and line; a last line without an end counts too."""
    rest = b""
    async with client.chunks(path, params=params, silence=SILENCE_SECONDS) as chunks:
        async for chunk in chunks:
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                yield _split(line)
    if rest:
        yield _split(rest)


def _split(line: bytes) -> tuple[str, str]:
    text = line.decode(errors="replace")
    at, space, said = text.partition(" ")
    return (at, said) if space and at[:4].isdigit() and "T" in at else ("", text)
