"""Objects of any kind, applied and deleted by the API server's own rules (server-side apply, discovery)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec

from paddlejob.api import Job
from paddlejob.api.names import ANNOTATION_PART_OF, API_VERSION, KIND
from paddlejob.errors import AlreadyExists, NoCRD, NoNamespace, NotFound, PaddleJobError
from paddlejob.kube import Client
from paddlejob.kube.errors import ApiNotFound
from paddlejob.places.place import Json, label
from paddlejob.places.refusals import explained

MANAGER = "paddlejob"
ABSENT = (NotFound, NoNamespace, NoCRD)


class Served(msgspec.Struct, frozen=True):
    name: str
    kind: str
    namespaced: bool = False


class Kinds(msgspec.Struct, frozen=True):
    resources: tuple[Served, ...] = ()


class Applier:
    """Knows where each kind lives after asking once."""

    def __init__(self, client: Client, namespace: str) -> None:
        self._client = client
        self._namespace = namespace
        self._known: dict[str, tuple[Served, ...]] = {}

    async def exists(self, one: Json) -> bool:
        """Asked by trying: whoever may make it need not have the right to read it."""
        try:
            await self._ask("make", one, "POST", params={"dryRun": "All"}, body=one)
        except AlreadyExists:
            return True
        return False

    async def apply(self, one: Json) -> Json:
        """Make it or change it to be so; fields that others set stay theirs."""
        params = {"fieldManager": MANAGER, "force": "true", "fieldValidation": "Strict"}
        kind = "application/apply-patch+yaml"
        found: Json = msgspec.json.decode(
            await self._ask("apply", one, "PATCH", params=params, body=one, content_type=kind)
        )
        return found

    async def own(self, one: Json, owners: list[Json]) -> None:
        body = {"metadata": {"ownerReferences": owners}}
        await self._ask("change", one, "PATCH", body=body, content_type="application/merge-patch+json")

    async def delete(self, one: Json) -> bool:
        """Whether it was there."""
        try:
            await self._ask("delete", one, "DELETE", body={"propagationPolicy": "Foreground"})
        except ABSENT:
            return False
        return True

    async def get(self, one: Json) -> Json | None:
        try:
            found: Json = msgspec.json.decode(await self._ask("get", one, "GET"))
        except ABSENT:
            return None
        return found

    async def _ask(self, tried: str, one: Json, method: str, **request: Any) -> bytes:
        with explained(f"{tried} {label(one)}", name=one["metadata"]["name"], namespace=self._namespace):
            path = await self.path(one)
            return await self._client.request(method, path.rpartition("/")[0] if method == "POST" else path, **request)

    async def path(self, one: Json) -> str:
        version, kind, meta = one["apiVersion"], one["kind"], one["metadata"]
        base = f"/apis/{version}" if "/" in version else f"/api/{version}"
        found = next((each for each in await self._kinds(base) if each.kind == kind and "/" not in each.name), None)
        if found is None:
            raise NotFound(f"the cluster does not know the kind {kind} of {version}: install what provides it")
        if not found.namespaced:
            return f"{base}/{found.name}/{meta['name']}"
        return f"{base}/namespaces/{meta.get('namespace') or self._namespace}/{found.name}/{meta['name']}"

    async def _kinds(self, base: str) -> tuple[Served, ...]:
        if base not in self._known:
            try:
                answer = await self._client.request("GET", base)
            except ApiNotFound:
                return ()
            self._known[base] = msgspec.json.decode(answer, type=Kinds).resources
        return self._known[base]


class Beside:
    """What stands beside a job in its file, in order. Each is made or changed as `kubectl apply` would do it.

    ConfigMaps and Secrets that were not there before, or that other jobs own, become the job's own and go with the last
    of its owners. Everything else stays the person's: a claim must not go with a job.
    """

    def __init__(self, client: Client, namespace: str, documents: Sequence[Json]) -> None:
        self._applier = Applier(client, namespace)
        self._documents = documents
        self._made: list[Json] = []
        self._shared: list[Json] = []

    async def apply(self) -> None:
        try:
            for one in self._documents:
                was_there = await self._applier.exists(one)
                if was_there and ANNOTATION_PART_OF in (one["metadata"].get("annotations") or {}):
                    raise AlreadyExists(f"{label(one)} already exists: delete it, or give this job another name")
                (self._shared if was_there else self._made).append(await self._applier.apply(one))
        except PaddleJobError:
            await self.take_back()
            raise

    async def take_back(self) -> None:
        """The job was refused: what was made for it goes, as far as it may."""
        for one in reversed(self._made):
            with suppress(PaddleJobError):
                await self._applier.delete(one)

    async def adopt(self, job: Job) -> None:
        shared = [one for one in self._shared if any(each["kind"] == KIND for each in _owners(one))]
        for one in (*self._made, *shared):
            if one["kind"] in ("ConfigMap", "Secret") and one["metadata"]["namespace"] == job.metadata.namespace:
                await self._applier.own(one, [*_owners(one), _owner(job)])


def _owners(one: Json) -> list[Json]:
    return one["metadata"].get("ownerReferences") or []


def _owner(job: Job) -> Json:
    meta = job.metadata
    return {"apiVersion": API_VERSION, "kind": KIND, "name": meta.name, "uid": meta.uid}
