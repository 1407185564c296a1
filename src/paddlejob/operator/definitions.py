"""Waiting for a CustomResourceDefinition to come, by a watch of that one object: nothing is asked again and again."""

from __future__ import annotations

import asyncio

import msgspec

from paddlejob.api import ObjectMeta
from paddlejob.kube.client import Client
from paddlejob.kube.errors import ApiForbidden
from paddlejob.kube.objects import Resource
from paddlejob.kube.reflector import Reflector
from paddlejob.kube.store import Change, Store
from paddlejob.kube.tasks import cancelled_and_joined


class DefinitionCondition(msgspec.Struct, frozen=True):
    type: str = ""
    status: str = ""


class DefinitionStatus(msgspec.Struct, frozen=True):
    conditions: tuple[DefinitionCondition, ...] = ()


class Definition(msgspec.Struct, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    status: DefinitionStatus = DefinitionStatus()

    @property
    def established(self) -> bool:
        return DefinitionCondition("Established", "True") in self.status.conditions


DEFINITIONS = Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions", Definition)


async def is_defined(client: Client, name: str) -> bool:
    """Returns when the API server serves what the definition of this name defines; False if we may not watch it."""
    answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def settle(known: bool) -> None:
        if not answer.done():
            answer.set_result(known)

    def changed(change: Change[Definition]) -> None:
        if change.after is not None and change.after.established:
            settle(True)

    def failed(error: Exception) -> None:
        if isinstance(error, ApiForbidden):
            settle(False)

    store: Store[Definition] = Store()
    store.subscribe(changed)
    reflector = Reflector(client, DEFINITIONS, store, fields=f"metadata.name={name}", on_error=failed)
    watching = asyncio.ensure_future(reflector.run())
    try:
        return await answer
    finally:
        await cancelled_and_joined(watching)
