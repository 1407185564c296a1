"""The operator's eyes: jobs and their children as the watches tell, and whom a change wakes.

Only objects that carry our job label are watched, so the pods of strangers cost nothing.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import msgspec

from paddlejob.api import Job, ObjectMeta
from paddlejob.api.names import LABEL_JOB
from paddlejob.core import KINDS, Child, Etcd, Observed, Pod, Refusal, Scheduling, Unread, observe
from paddlejob.core.children import ConfigMap, KindName
from paddlejob.core.kind import Kind
from paddlejob.core.kinds import BUILT_IN, GROUP_KINDS
from paddlejob.kube.client import Client
from paddlejob.kube.events import Skipped
from paddlejob.kube.objects import Key, Resource, key_of
from paddlejob.kube.reflector import Reflector
from paddlejob.kube.store import Change, Store
from paddlejob.kube.tasks import TaskGroup
from paddlejob.operator.definitions import is_defined
from paddlejob.operator.doubts import Doubts
from paddlejob.operator.optional import OnError, OptionalWatch
from paddlejob.operator.options import SchedulingFlag
from paddlejob.operator.ports import DEFAULT_RANGE, PortBlocks, PortRange
from paddlejob.operator.resources import CHILDREN, JOBS
from paddlejob.operator.vanished import Vanished

# Events of a large job come in floods, and a look costs a few microseconds per pod: a small job is looked at after
# every event, one of a thousand pods five times a second.
LARGE_JOB = 100
PAUSE_PER_POD = 0.0002

Wake = Callable[[Key, float], None]
OnDefect = Callable[[Key, Exception], None]


class Cache:
    def __init__(
        self,
        wake: Wake,
        port_range: PortRange = DEFAULT_RANGE,
        scheduling: SchedulingFlag = "none",
        *,
        on_defect: OnDefect | None = None,
    ) -> None:
        """`on_defect` is told when something of ours fails at an object that a watch tells of."""
        self._wake = wake
        self._scheduling = Scheduling(by=scheduling)
        self.jobs: Store[Job] = Store(on_error=on_defect)
        self._children: dict[KindName, Store[Any]] = {kind.name: Store(on_error=on_defect) for kind in KINDS}
        # Before anyone is woken by a change, the ports know of it.
        self.ports = PortBlocks(port_range, self.jobs, self._children[Pod.kind], wake)
        self.doubts = Doubts(self.jobs, self._children[Pod.kind], self._children[ConfigMap.kind], wake)
        self._vanished = Vanished(self.jobs, self._children[Pod.kind])
        self._reflectors: list[Reflector[Any]] = []
        self._optional: dict[KindName, OptionalWatch] = {}
        self.jobs.subscribe(self._job_changed)
        for kind in KINDS:
            self._children[kind.name].subscribe(partial(self._child_changed, kind))

    def watch(
        self,
        client: Client,
        namespaces: Iterable[str | None],
        *,
        on_error: Callable[[str, Exception], None],
        on_undecodable: Callable[[Skipped], None],
    ) -> None:
        """Say what to watch: each namespace, or everything for None."""
        scopes = tuple(namespaces)

        def reflect(resource: Resource[Any], store: Store[Any], selector: str, report: OnError) -> list[Reflector[Any]]:
            return [
                Reflector(
                    client,
                    resource,
                    store,
                    namespace=namespace,
                    selector=selector,
                    on_undecodable=on_undecodable,
                    on_error=report,
                )
                for namespace in scopes
            ]

        self._reflectors += reflect(JOBS, self.jobs, "", partial(on_error, JOBS.plural))
        for kind in BUILT_IN:
            store = self._children[kind.name]
            self._reflectors += reflect(CHILDREN[kind.name], store, LABEL_JOB, partial(on_error, kind.plural))

        def reflect_version(kind: Kind[Any], version: str, report: OnError) -> list[Reflector[Any]]:
            resource = dataclasses.replace(CHILDREN[kind.name], version=version)
            return reflect(resource, self._children[kind.name], "", report)

        for kind in GROUP_KINDS:
            self._optional[kind.name] = OptionalWatch(
                kind,
                partial(reflect_version, kind),
                partial(is_defined, client, f"{kind.plural}.{kind.group}"),
                changed=partial(self._wake_those_with, kind),
                on_error=partial(on_error, kind.plural),
            )

    async def run(self) -> None:
        async with TaskGroup() as tasks:
            for reflector in self._reflectors:
                tasks.create_task(reflector.run())
            for watch in self._optional.values():
                tasks.create_task(watch.run())

    @property
    def synced(self) -> bool:
        return bool(self._reflectors) and all(reflector.synced.is_set() for reflector in self._reflectors)

    async def refresh(self) -> None:
        """Wait until everything was read that had been written when this was called; a watch may be behind."""
        self.doubts.new_term()
        for watch in self._optional.values():
            watch.refresh()
        await asyncio.gather(*[reflector.refresh().wait() for reflector in self._reflectors])

    def gather(self, job: Job, refusals: Iterable[Refusal], etcd: Etcd) -> Callable[[], Observed]:
        """What the job owns, and who has the names that it still lacks, as they are now.

        To sort it all is left to the caller: it needs nothing of ours any more and may be done in any thread.
        """
        uid, namespace = job.metadata.uid, job.metadata.namespace
        children: list[Child] = []
        for kind in KINDS:
            if kind.name in self._unread or not kind.wanted_by(job, self._scheduling):
                continue
            store = self._children[kind.name]
            names = {*kind.names(job)}
            own = store.owned_by(uid)
            if kind.type is Pod:
                own += tuple(pod for pod in self._vanished.of(job) if pod.metadata.name in names)
            children += own
            lacking = names.difference(child.metadata.name for child in own)
            children += [child for name in sorted(lacking) if (child := store.get((namespace, name))) is not None]
        scheduling = msgspec.structs.replace(self._scheduling, unread=self._unread)
        look = partial(observe, job, children, tuple(refusals), etcd, self.ports.seen_by(job))
        return lambda: msgspec.structs.replace(look(), scheduling=scheduling)

    @property
    def _unread(self) -> dict[KindName, Unread]:
        return {name: watch.unread for name, watch in self._optional.items() if watch.unread is not None}

    def child(self, kind: KindName, key: Key) -> Child | None:
        found: Child | None = self._children[kind].get(key)
        return found

    def wrote(self, written: Child) -> None:
        self._children[written.kind].wrote(written)

    def deleted(self, kind: KindName, key: Key, uid: str) -> None:
        self._children[kind].mark_deleting(key, uid)

    def _job_changed(self, change: Change[Job]) -> None:
        job = change.after or change.before
        if job is None:
            return
        self._wake(key_of(job), 0.0)
        for kind in GROUP_KINDS:
            if kind.name in self._optional and kind.wanted_by(job, self._scheduling):
                self._optional[kind.name].want()

    def _wake_those_with(self, kind: Kind[Any]) -> None:
        for job in self.jobs:
            if kind.wanted_by(job, self._scheduling):
                self._wake(key_of(job), 0.0)

    def _child_changed(self, kind: Kind[Any], change: Change[Any]) -> None:
        child: Child | None = change.after or change.before
        if child is None or _nothing_new(change):
            return
        # By label, not by owner: a job also waits for names that an earlier job of its name still holds.
        meta = child.metadata
        key = (meta.namespace, kind.by_name(meta.name) if kind.by_name else meta.labels.get(LABEL_JOB, ""))
        job = self.jobs.get(key)
        if job is not None:
            pods = wanted_pods(job)
            self._wake(key, pods * PAUSE_PER_POD if pods > LARGE_JOB else 0.0)


def wanted_pods(job: Job) -> int:
    return sum(role.wanted for _, role in job.spec.roles)


def _nothing_new(change: Change[Any]) -> bool:
    """Whether two versions of a child are the same in all that decisions read."""
    before, after = change.before, change.after
    if before is None or after is None:
        return False
    same = msgspec.structs.replace(before, metadata=after.metadata) == after
    return same and _of_interest(before.metadata) == _of_interest(after.metadata)


def _of_interest(meta: ObjectMeta) -> tuple[object, ...]:
    return (meta.uid, meta.deletion_timestamp, meta.annotations, meta.labels, meta.owner_references)
