"""The client's side of a cluster: jobs, their pods, events and logs, for one person with a kubeconfig.

Owns the calls. Refuses to guess and to retry, except where something is followed: a watch or a log goes on after a cut
connection. Every error is a `PaddleJobError`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from types import TracebackType
from typing import Any, TypeVar

import msgspec

from paddlejob.api import ObjectMeta, PaddleJob
from paddlejob.api.names import API_VERSION, KIND, LABEL_INDEX, LABEL_JOB, LABEL_RES_TYPE, ROLES
from paddlejob.core.children import Pod
from paddlejob.kube import Change, Client, Reflector, Resource, Store, load_config
from paddlejob.kube import errors as kube
from paddlejob.kube.events import Page, decode
from paddlejob.kube.objects import Object
from paddlejob.kube.tasks import cancelled_and_joined
from paddlejob.operator.resources import JOBS, PODS
from paddlejob.sdk.log_lines import log_lines
from paddlejob.sdk.refusals import explained, explanation, no_namespace

T = TypeVar("T", bound=Object)
Json = dict[str, Any]
# What going on and asking again cannot mend.
_FINAL = (kube.ConfigError, kube.Unauthorized, kube.Forbidden, kube.NotFound)


class About(msgspec.Struct, frozen=True):
    kind: str = ""
    name: str = ""


class Event(msgspec.Struct, frozen=True, rename="camel"):
    """What happened to a job, as Kubernetes keeps it for an hour."""

    metadata: ObjectMeta = ObjectMeta()
    type: str = "Normal"
    reason: str = ""
    message: str = ""
    event_time: str | None = None
    last_timestamp: str | None = None
    involved_object: About = About()

    @property
    def at(self) -> str:
        return self.last_timestamp or self.event_time or self.metadata.creation_timestamp or ""


EVENTS = Resource("", "v1", "events", Event)


class Cluster:
    """`async with Cluster.connect() as cluster: ...`"""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.namespace = client.config.namespace

    @classmethod
    def connect(cls, context: str | None = None, kubeconfig: str | None = None) -> Cluster:
        """As kubectl finds it: the given file, $KUBECONFIG, ~/.kube/config, or the pod that we are in."""
        with explained("connect"):
            return cls(Client(load_config(kubeconfig, context), user_agent="paddlejob"))

    async def __aenter__(self) -> Cluster:
        await self.client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.client.__aexit__(kind, error, trace)

    async def create(self, manifest: Mapping[str, Any], namespace: str | None = None) -> PaddleJob:
        """Submit a job. A field that the cluster does not know is refused, not dropped."""
        meta = manifest.get("metadata") or {}
        name, into = str(meta.get("name", "")), namespace or meta.get("namespace") or self.namespace
        body = {**manifest, "metadata": {**meta, "namespace": into}}
        with explained(f"submit job {name} to namespace {into}", name=name, namespace=into):
            params = {"fieldValidation": "Strict"}
            return _job(await self.client.request("POST", JOBS.path(into), params=params, body=body))

    async def get(self, name: str, namespace: str) -> PaddleJob:
        return _job(await self._read(name, namespace))

    async def document(self, name: str, namespace: str) -> Json:
        """The job with all its fields, as the API server has it."""
        return _document(await self._read(name, namespace))

    async def _read(self, name: str, namespace: str) -> bytes:
        tried = f"get job {name} of namespace {namespace}"
        with explained(tried, name=name, namespace=namespace):
            try:
                return await self.client.request("GET", JOBS.path(namespace, name))
            except kube.NotFound as error:
                if error.details.kind and not await self.has_namespace(namespace):
                    raise no_namespace(tried, namespace) from error
                raise

    async def list(self, namespace: str | None) -> tuple[PaddleJob, ...]:
        """The jobs of a namespace, of all for None; in order of namespace and name."""
        return tuple(msgspec.convert(one, PaddleJob) for one in await self.documents(namespace))

    async def documents(self, namespace: str | None) -> tuple[Json, ...]:
        """The same with all their fields."""
        tried = f"list the jobs of {f'namespace {namespace}' if namespace else 'all namespaces'}"
        found: tuple[Json, ...] = ()
        with explained(tried, namespace=namespace or ""):
            token = ""
            while True:
                params = {"limit": "500", **({"continue": token} if token else {})}
                page = msgspec.json.decode(await self.client.request("GET", JOBS.path(namespace), params=params))
                found += tuple({"apiVersion": API_VERSION, "kind": KIND, **one} for one in page["items"])
                token = page["metadata"].get("continue", "")
                if not token:
                    break
            if not found and namespace and not await self.has_namespace(namespace):
                raise no_namespace(tried, namespace)
        return found

    async def has_namespace(self, namespace: str) -> bool:
        """Whether it is there; who may not know is told yes."""
        try:
            await self.client.request("GET", f"/api/v1/namespaces/{namespace}")
        except kube.NotFound:
            return False
        except kube.Forbidden:
            return True
        return True

    def watch(self, namespace: str | None, name: str | None = None) -> AsyncGenerator[Change[PaddleJob], None]:
        """Every change from now on, beginning with what is there; goes on whatever the network does.

        A job that is named and is not there is told as one change from None to None.
        """
        what = f"job {name}" if name else "jobs"
        tried = f"watch {what} of {f'namespace {namespace}' if namespace else 'all namespaces'}"
        fields = f"metadata.name={name}" if name else ""
        return self._watch(JOBS, namespace, tried, fields=fields)

    def watch_pods(self, job: PaddleJob) -> AsyncGenerator[Change[Pod], None]:
        """Every change of the job's pods, those of later attempts too."""
        namespace, name = job.metadata.namespace, job.metadata.name
        tried = f"watch the pods of job {name} in namespace {namespace}"
        return self._watch(PODS, namespace, tried, selector=f"{LABEL_JOB}={name}")

    async def _watch(
        self, resource: Resource[T], namespace: str | None, tried: str, *, selector: str = "", fields: str = ""
    ) -> AsyncGenerator[Change[T], None]:
        news: asyncio.Queue[Change[T] | kube.KubeError] = asyncio.Queue()
        store: Store[T] = Store()
        store.subscribe(news.put_nowait)

        def failed(error: Exception) -> None:
            hopeless = isinstance(error, _FINAL) or (
                isinstance(error, kube.Unreachable) and not reflector.synced.is_set()
            )
            if isinstance(error, kube.KubeError) and hopeless:
                news.put_nowait(error)

        reflector = Reflector(
            self.client, resource, store, namespace=namespace, selector=selector, fields=fields, on_error=failed
        )
        running = asyncio.ensure_future(reflector.run())
        if fields:
            absent = asyncio.ensure_future(_tell_absence(reflector, store, news))
        try:
            while True:
                told = await news.get()
                if isinstance(told, kube.KubeError):
                    raise explanation(told, tried, namespace=namespace or "") from told
                yield told
        finally:
            await cancelled_and_joined(running, *([absent] if fields else []))

    async def pods(self, job: PaddleJob) -> tuple[Pod, ...]:
        """The job's own pods, servers first."""
        namespace, name = job.metadata.namespace, job.metadata.name
        with explained(f"list the pods of job {name} in namespace {namespace}", namespace=namespace):
            found = await self._all(PODS, namespace, selector=f"{LABEL_JOB}={name}")
        own = (pod for pod in found if pod.metadata.controller_uid == job.metadata.uid)
        return tuple(sorted(own, key=place))

    async def events(self, job: PaddleJob) -> tuple[Event, ...]:
        """What happened to the job, oldest first."""
        namespace, name = job.metadata.namespace, job.metadata.name
        with explained(f"list the events of job {name} in namespace {namespace}", namespace=namespace):
            found = await self._all(EVENTS, namespace, fields=f"involvedObject.uid={job.metadata.uid}")
        return tuple(sorted(found, key=lambda one: one.at))

    async def _all(
        self, resource: Resource[T], namespace: str, *, selector: str = "", fields: str = ""
    ) -> tuple[T, ...]:
        found: tuple[T, ...] = ()
        token = ""
        while True:
            page: Page[T] = await self.client.list_page(
                resource, namespace, selector=selector, fields=fields, continue_token=token
            )
            found += page.items
            token = page.continue_token
            if not token:
                return found

    async def logs(
        self,
        pod: Pod,
        *,
        follow: bool = False,
        tail: int | None = None,
        since: float | None = None,
        container: str | None = None,
    ) -> AsyncGenerator[str, None]:
        """The lines of one container, by default the one that trains; `since`: of the last so many seconds."""
        meta = pod.metadata
        with explained(f"read the log of pod {meta.name} in namespace {meta.namespace}", namespace=meta.namespace):
            lines = log_lines(self.client, pod, follow=follow, tail=tail, since=since, container=container)
            async with aclosing(lines):
                async for line in lines:
                    yield line

    async def patch(self, name: str, namespace: str, body: Mapping[str, Any]) -> PaddleJob:
        with explained(f"change job {name} of namespace {namespace}", name=name, namespace=namespace):
            return await self.client.patch(JOBS, (namespace, name), body)

    async def scale(self, name: str, namespace: str, n: int) -> None:
        with explained(f"scale job {name} of namespace {namespace} to {n}", name=name, namespace=namespace):
            await self.client.request(
                "PATCH",
                JOBS.path(namespace, name, "scale"),
                body={"spec": {"replicas": n}},
                content_type="application/merge-patch+json",
            )

    async def delete(self, name: str, namespace: str) -> None:
        """Ask for its end; its pods, services and ConfigMap go with it."""
        with explained(f"delete job {name} of namespace {namespace}", name=name, namespace=namespace):
            await self.client.delete(JOBS, (namespace, name), propagation="Background")

    async def create_beside(self, job: PaddleJob, document: Mapping[str, Any]) -> None:
        """A ConfigMap or Secret that is the job's own, and goes when the job goes."""
        kind, meta, namespace = str(document["kind"]), document["metadata"], job.metadata.namespace
        owned = {**meta, "namespace": namespace, "ownerReferences": [_owner(job)]}
        with explained(
            f"create {kind} {meta['name']} in namespace {namespace}", name=meta["name"], namespace=namespace
        ):
            await self.client.request(
                "POST", f"/api/v1/namespaces/{namespace}/{kind.lower()}s", body={**document, "metadata": owned}
            )


async def _tell_absence(reflector: Reflector[T], store: Store[T], news: asyncio.Queue[Any]) -> None:
    await reflector.synced.wait()
    if not len(store) and news.empty():
        news.put_nowait(Change(None, None))


def place(pod: Pod) -> tuple[int, int, str]:
    """Sorts pods by role, servers first, then by index."""
    labels = pod.metadata.labels
    role = next((i for i, one in enumerate(ROLES) if one == labels.get(LABEL_RES_TYPE)), len(ROLES))
    index = labels.get(LABEL_INDEX, "")
    return (role, int(index) if index.isdigit() else 0, pod.metadata.name)


def _job(body: bytes) -> PaddleJob:
    return decode(JOBS, body, "read the job")


def _document(body: bytes) -> Json:
    found: Json = msgspec.json.decode(body)
    return found


def _owner(job: PaddleJob) -> Json:
    meta = job.metadata
    return {"apiVersion": API_VERSION, "kind": KIND, "name": meta.name, "uid": meta.uid}


__all__ = ["Change", "Cluster", "Event", "place"]
