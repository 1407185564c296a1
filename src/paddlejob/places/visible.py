"""The namespaces of a cluster whose jobs a person may list: all of them at best, else those that do not refuse."""

from __future__ import annotations

import asyncio

import msgspec

from paddlejob.kube import Client
from paddlejob.kube import errors as kube
from paddlejob.operator.resources import JOBS
from paddlejob.places.refusals import explained

# How many namespaces are asked at once.
ABREAST = 8


class _Name(msgspec.Struct, frozen=True):
    name: str


class _Namespace(msgspec.Struct, frozen=True):
    metadata: _Name


class _Namespaces(msgspec.Struct, frozen=True):
    items: tuple[_Namespace, ...] = ()


async def visible_namespaces(client: Client, own: str) -> tuple[str | None, ...]:
    """None stands for all. `own` is that of the person's kubeconfig: it is named even if it refuses."""
    with explained("list the jobs in all namespaces"):
        if await _lists(client, None):
            return (None,)
        try:
            answer = await client.request("GET", "/api/v1/namespaces")
        except kube.ApiForbidden:
            return (own,)
        names = [one.metadata.name for one in msgspec.json.decode(answer, type=_Namespaces).items]
        turns = asyncio.Semaphore(ABREAST)

        async def asked(name: str) -> bool:
            async with turns:
                return await _lists(client, name)

        allowed = await asyncio.gather(*map(asked, names))
    found = tuple(name for name, may in zip(names, allowed, strict=True) if may)
    return found or (own,)


async def _lists(client: Client, namespace: str | None) -> bool:
    """Asked by trying: rights may come from anywhere."""
    try:
        await client.request("GET", JOBS.path(namespace), params={"limit": "1"})
    except kube.ApiForbidden:
        return False
    return True
