"""The client's side of a cluster: jobs, their pods, events and logs, for one person with a kubeconfig.

Owns the calls. Refuses to guess and to retry, except where something is followed: a watch or a log goes on after a cut
connection. Every error is a `PaddleJobError`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, TypeVar

import msgspec

from paddlejob.api import Job, ObjectMeta, reasons
from paddlejob.api.meta import Key
from paddlejob.api.names import API_VERSION, KIND, LABEL, LABEL_INDEX, LABEL_JOB, LABEL_RES_TYPE, ROLES, is_label
from paddlejob.api.stored import bare_metadata, read_job
from paddlejob.core.children import Pod
from paddlejob.errors import Invalid, PaddleJobError
from paddlejob.kube import Client, Reflector, Resource, Store, load_config
from paddlejob.kube import errors as kube
from paddlejob.kube import store as kube_store
from paddlejob.kube.events import Skipped
from paddlejob.kube.objects import Object
from paddlejob.kube.tasks import cancelled_and_joined
from paddlejob.operator.resources import JOBS, PODS
from paddlejob.places.applying import Beside
from paddlejob.places.job_logs import follow_job_logs, job_logs
from paddlejob.places.place import Change, Description, Event, Found, Json, Line, PodChange, Wanted, loop
from paddlejob.places.refusals import explained, explanation, no_namespace
from paddlejob.places.visible import visible_namespaces

# How long a cluster that works may take to say which one it is.
ANSWER_SECONDS = 10.0

T = TypeVar("T", bound=Object)
# What going on and asking again cannot mend.
_FINAL = (kube.ConfigError, kube.ApiUnauthorized, kube.ApiForbidden, kube.ApiNotFound)


class _Event(msgspec.Struct, frozen=True, rename="camel"):
    """What happened to a job, as Kubernetes keeps it for an hour."""

    metadata: ObjectMeta = ObjectMeta()
    type: str = "Normal"
    reason: str = ""
    message: str = ""
    event_time: str | None = None
    last_timestamp: str | None = None

    @property
    def at(self) -> str:
        return self.last_timestamp or self.event_time or self.metadata.creation_timestamp or ""


_EVENTS = Resource("", "v1", "events", _Event)


class Cluster:
    """`async with Cluster.connect() as cluster: ...`"""

    where = "the cluster"

    def __init__(self, client: Client) -> None:
        self.client = client
        self.namespace = self.listed = client.config.namespace

    @classmethod
    def connect(cls, context: str | None = None, kubeconfig: str | None = None) -> Cluster:
        """As kubectl finds it: the given file, $KUBECONFIG, ~/.kube/config, or the pod that we are in."""
        with explained("connect"):
            return cls(Client(load_config(kubeconfig, context), user_agent="paddlejob"))

    async def __aenter__(self) -> Cluster:
        await loop()
        await self.client.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.client.__aexit__(None, None, None)

    async def answers(self) -> None:
        """A watch goes on whatever the network does, and does not say that it hears nothing."""
        with explained("reach the cluster"):
            await self.client.request("GET", "/version", timeout=ANSWER_SECONDS)

    async def submit(self, description: Description) -> Found:
        """What stands beside the job comes first, so that no pod waits for it (docs/decisions/020)."""
        namespace, _ = _named(Key(description.namespace or self.namespace, description.name))
        beside = Beside(self.client, namespace, description.beside)
        await beside.apply()
        try:
            made = await self._create(description.document, namespace)
        except PaddleJobError:
            await beside.take_back()
            raise
        await beside.adopt(made.job)
        return made

    async def check(self, description: Description) -> None:
        namespace, _ = _named(Key(description.namespace or self.namespace, description.name))
        await self._create(description.document, namespace, dryRun="All")

    async def _create(self, document: Mapping[str, Any], into: str, **options: str) -> Found:
        """A field that the cluster does not know is refused, not dropped."""
        meta = document["metadata"]
        body = {**document, "metadata": {**meta, "namespace": into}}
        with explained(f"submit job {meta['name']} to namespace {into}", name=meta["name"], namespace=into):
            params = {"fieldValidation": "Strict", **options}
            return self._decoded(await self.client.request("POST", JOBS.path(into), params=params, body=body))

    async def get(self, key: Key) -> Found:
        namespace, name = _named(key)
        tried = f"get job {name} in namespace {namespace}"
        with explained(tried, name=name, namespace=namespace):
            try:
                return self._decoded(await self.client.request("GET", JOBS.path(namespace, name)))
            except kube.ApiNotFound as error:
                if error.details.kind and not await self.has_namespace(namespace):
                    raise no_namespace(tried, namespace) from error
                raise

    async def list(self, namespace: str | None) -> tuple[Found, ...]:
        if namespace is not None:
            _named(Key(namespace, "any"))
        tried = f"list the jobs in {f'namespace {namespace}' if namespace else 'all namespaces'}"
        with explained(tried, namespace=namespace or ""):
            found = await self._all(JOBS, namespace)
            if not found and namespace and not await self.has_namespace(namespace):
                raise no_namespace(tried, namespace)
        documents = ({"apiVersion": API_VERSION, "kind": KIND, **one} for one in found)
        return tuple(map(self._read, documents))

    def _decoded(self, body: bytes) -> Found:
        return self._read(msgspec.json.decode(body))

    def _read(self, document: Json) -> Found:
        """One that cannot be read can still be shown as such, and deleted."""
        try:
            return self._found(read_job(document), document)
        except msgspec.ValidationError as error:
            found = self._found(Job(metadata=bare_metadata(document)), document)
            said = f"this version of paddlejob cannot read it: {error}"
            return msgspec.structs.replace(found, phase=reasons.UNREADABLE, why=said)

    def _found(self, job: Job, document: Json | None = None) -> Found:
        return Found(
            job=job,
            where=self.where,
            phase="Terminating" if job.metadata.deletion_timestamp else job.status.phase or "Pending",
            over=job.status.finished,
            about=(("Where", f"cluster {self.client.config.server}"),),
            flag=f" -n {job.metadata.namespace}",
            document=document,
        )

    async def namespaces(self) -> tuple[str | None, ...]:
        return await visible_namespaces(self.client, self.namespace)

    async def has_namespace(self, namespace: str) -> bool:
        """Whether it is there; who may not know is told yes."""
        try:
            await self.client.request("GET", f"/api/v1/namespaces/{namespace}")
        except kube.ApiNotFound:
            return False
        except kube.ApiForbidden:
            return True
        return True

    async def watch(self, namespace: str | None, name: str | None = None) -> AsyncGenerator[Change, None]:
        """Goes on whatever the network does."""
        what = f"job {name}" if name else "jobs"
        tried = f"watch {what} in {f'namespace {namespace}' if namespace else 'all namespaces'}"
        changes = self._watch(JOBS, namespace, tried, fields=f"metadata.name={name}" if name else "")
        async with aclosing(changes):
            async for one in changes:
                known = one.after or one.before
                key = known.metadata.key if known else Key(namespace or "", name or "")
                yield key, self._found(one.after) if one.after else None

    async def watch_pods(self, job: Job) -> AsyncGenerator[PodChange, None]:
        namespace, name = job.metadata.key
        tried = f"watch the pods of job {name} in namespace {namespace}"
        async with aclosing(self._watch(PODS, namespace, tried, selector=f"{LABEL_JOB}={name}")) as changes:
            async for one in changes:
                known = one.after or one.before
                if known is not None and known.metadata.controller_uid == job.metadata.uid:
                    yield known.metadata.uid, one.after

    async def _watch(
        self, resource: Resource[T], namespace: str | None, tried: str, *, selector: str = "", fields: str = ""
    ) -> AsyncGenerator[kube_store.Change[T], None]:
        news: asyncio.Queue[kube_store.Change[T] | kube.KubeError] = asyncio.Queue()
        store: Store[T] = Store()
        store.subscribe(news.put_nowait)

        def failed(error: Exception) -> None:
            hopeless = isinstance(error, _FINAL) or (
                isinstance(error, kube.Unreachable) and not reflector.synced.is_set()
            )
            if isinstance(error, kube.KubeError) and hopeless:
                news.put_nowait(error)

        def unreadable(skipped: Skipped) -> None:
            if fields:
                news.put_nowait(skipped.error)

        reflector = Reflector(
            self.client,
            resource,
            store,
            namespace=namespace,
            selector=selector,
            fields=fields,
            on_error=failed,
            on_undecodable=unreadable,
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

    async def pods(self, job: Job) -> tuple[Pod, ...]:
        """The job's own pods, servers first."""
        namespace, name = job.metadata.key
        with explained(f"list the pods of job {name} in namespace {namespace}", namespace=namespace):
            found = await self._all(PODS, namespace, labelSelector=f"{LABEL_JOB}={name}")
        pods = (msgspec.convert(one, Pod) for one in found)
        return tuple(sorted((pod for pod in pods if pod.metadata.controller_uid == job.metadata.uid), key=_order))

    async def events(self, job: Job) -> tuple[Event, ...]:
        namespace, name = job.metadata.key
        with explained(f"list the events of job {name} in namespace {namespace}", namespace=namespace):
            found = await self._all(_EVENTS, namespace, fieldSelector=f"involvedObject.uid={job.metadata.uid}")
        told = (msgspec.convert(one, _Event) for one in found)
        return tuple(sorted(Event(one.at, one.type, one.reason, one.message) for one in told))

    async def _all(self, resource: Resource[Any], namespace: str | None, **params: str) -> tuple[Json, ...]:
        found: tuple[Json, ...] = ()
        asked = {"limit": "500", **params}
        while True:
            page = msgspec.json.decode(await self.client.request("GET", resource.path(namespace), params=asked))
            found += tuple(page["items"] or ())
            if not (token := page["metadata"].get("continue")):
                return found
            asked["continue"] = token

    def logs(self, job: Job, wanted: Wanted) -> AsyncGenerator[Line, None]:
        return (follow_job_logs if wanted.follow else job_logs)(self, job, wanted)

    async def change(self, job: Job, spec: Mapping[str, Any]) -> None:
        namespace, name = _still_going(job)
        with explained(f"change job {name} in namespace {namespace}", name=name, namespace=namespace):
            body = {"metadata": {"uid": job.metadata.uid}, "spec": dict(spec)}  # this very job, or a conflict
            await self.client.patch(JOBS, (namespace, name), body)

    async def scale(self, job: Job, workers: int) -> None:
        namespace, name = _still_going(job)
        with explained(f"scale job {name} in namespace {namespace} to {workers}", name=name, namespace=namespace):
            await self.client.request(
                "PATCH",
                JOBS.path(namespace, name, "scale"),
                body={"metadata": {"uid": job.metadata.uid}, "spec": {"replicas": workers}},
                content_type="application/merge-patch+json",
            )

    async def delete(self, job: Job, *, force: bool = False) -> None:  # noqa: ARG002 - its kubelets see to that
        namespace, name = job.metadata.key
        with explained(f"delete job {name} in namespace {namespace}", name=name, namespace=namespace):
            await self.client.delete(JOBS, (namespace, name), uid=job.metadata.uid, propagation="Background")


def _named(key: Key) -> Key:
    """A part of a path: without a name it would mean all jobs, and with dots it would lead elsewhere."""
    for what, said, parts in (("namespace", key.namespace, [key.namespace]), ("job", key.name, key.name.split("."))):
        if not all(map(is_label, parts)):
            raise Invalid(f"no {what} can be called {said!r}: {LABEL}")
    return key


def _still_going(job: Job) -> Key:
    if job.status.finished:
        raise Invalid(f"{job.metadata.name} has ended ({job.status.phase}): submit it again under another name")
    return job.metadata.key


async def _tell_absence(reflector: Reflector[T], store: Store[T], news: asyncio.Queue[Any]) -> None:
    await reflector.synced.wait()
    if not len(store) and news.empty():
        news.put_nowait(kube_store.Change(None, None))


def _order(pod: Pod) -> tuple[int, int, str]:
    """Sorts pods by role, servers first, then by index."""
    labels = pod.metadata.labels
    role = next((i for i, one in enumerate(ROLES) if one == labels.get(LABEL_RES_TYPE)), len(ROLES))
    index = labels.get(LABEL_INDEX, "")
    return (role, int(index) if index.isdigit() else 0, pod.metadata.name)
