"""Objects of any kind, applied and deleted by the API server's own rules (server-side apply, discovery)."""

from __future__ import annotations

from typing import Any

import msgspec

from paddlejob.kube import Client
from paddlejob.kube.errors import NotFound as Missing
from paddlejob.sdk.errors import NotFound
from paddlejob.sdk.refusals import explained

Json = dict[str, Any]
MANAGER = "paddlejob"


class Kind(msgspec.Struct, frozen=True):
    name: str
    kind: str
    namespaced: bool = False


class Kinds(msgspec.Struct, frozen=True):
    resources: tuple[Kind, ...] = ()


class Applier:
    """Knows where each kind lives after asking once."""

    def __init__(self, client: Client, namespace: str) -> None:
        self._client = client
        self._namespace = namespace
        self._known: dict[str, tuple[Kind, ...]] = {}

    async def apply(self, one: Json) -> None:
        """Make it or change it to be so; fields that others set stay theirs."""
        with explained(f"apply {label(one)}", name=one["metadata"]["name"], namespace=self._namespace):
            await self._client.request(
                "PATCH",
                await self.path(one),
                params={"fieldManager": MANAGER, "force": "true", "fieldValidation": "Strict"},
                body=one,
                content_type="application/apply-patch+yaml",
            )

    async def delete(self, one: Json) -> bool:
        """Whether it was there."""
        with explained(f"delete {label(one)}", name=one["metadata"]["name"], namespace=self._namespace):
            try:
                await self._client.request("DELETE", await self.path(one), body={"propagationPolicy": "Foreground"})
            except (Missing, NotFound):
                return False
        return True

    async def get(self, one: Json) -> Json | None:
        with explained(f"get {label(one)}", name=one["metadata"]["name"], namespace=self._namespace):
            try:
                found: Json = msgspec.json.decode(await self._client.request("GET", await self.path(one)))
            except (Missing, NotFound):
                return None
        return found

    async def path(self, one: Json) -> str:
        version, kind, meta = one["apiVersion"], one["kind"], one["metadata"]
        base = f"/apis/{version}" if "/" in version else f"/api/{version}"
        found = next((each for each in await self._kinds(base) if each.kind == kind and "/" not in each.name), None)
        if found is None:
            raise NotFound(f"the cluster does not know the kind {kind} of {version}: install what brings it")
        if not found.namespaced:
            return f"{base}/{found.name}/{meta['name']}"
        return f"{base}/namespaces/{meta.get('namespace') or self._namespace}/{found.name}/{meta['name']}"

    async def _kinds(self, base: str) -> tuple[Kind, ...]:
        if base not in self._known:
            try:
                answer = await self._client.request("GET", base)
            except Missing:
                return ()
            self._known[base] = msgspec.json.decode(answer, type=Kinds).resources
        return self._known[base]


def label(one: Json) -> str:
    return f"{one['kind']} {one['metadata']['name']}"
