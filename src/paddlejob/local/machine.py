"""Pods on this machine: does with processes what `plan` asks for, and shows what is there.

The local counterpart of an API server with its nodes. It decides nothing.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterator

import msgspec

from paddlejob.api import Job
from paddlejob.core import Action, Child, Create, Delete, Etcd, Observed, Scheduling, Touch, Update, observe
from paddlejob.core.actions import Body
from paddlejob.core.children import KindName
from paddlejob.core.config_maps import CONFIG_MAPS
from paddlejob.core.kinds import BY_NAME
from paddlejob.core.pods import PODS
from paddlejob.core.template import mapping
from paddlejob.local.invocation import Setting, Surroundings
from paddlejob.local.manifest import Manifest
from paddlejob.local.pod import LocalPod
from paddlejob.local.processes import ProcessEvent, Supervisor


class Machine:
    def __init__(
        self,
        manifest: Manifest,
        surroundings: Surroundings,
        addresses: Iterator[str],
        *,
        supervisor: Supervisor,
        changed: Callable[[], None],
    ) -> None:
        self._folder = manifest.folder
        self._around = surroundings
        self._addresses = addresses
        self._supervisor = supervisor
        self._changed = changed
        self._maps = dict(manifest.maps)
        self._kept: dict[tuple[KindName, str], Child] = {}
        self._lives: Counter[str] = Counter()
        self._given: dict[tuple[str, int], str] = {}
        self.pods: dict[str, LocalPod] = {}
        surroundings.logs.mkdir(parents=True, exist_ok=True)

    def observe(self, job: Job, etcd: Etcd) -> Observed:
        for name in [name for name, pod in self.pods.items() if pod.gone]:
            self.pods.pop(name).forget()
        pods = tuple(pod.snapshot() for pod in self.pods.values())
        seen = observe(job, (*pods, *self.kept), etcd=etcd)
        return msgspec.structs.replace(seen, scheduling=Scheduling(local=True))

    @property
    def kept(self) -> tuple[Child, ...]:
        """What the job owns besides pods."""
        return tuple(self._kept.values())

    def do(self, action: Action) -> None:
        match action:
            case Create(kind=PODS.name, name=name, body=body):
                self._create_pod(name, body)
            case Create(kind=kind, name=name, body=body) | Update(kind=kind, name=name, body=body):
                self._keep(kind, name, body)
            case Delete(kind=PODS.name, name=name, uid=uid):
                if (pod := self.pods.get(name)) and pod.meta.uid == uid:
                    pod.delete()
            case Delete(kind=kind, name=name, uid=uid):
                if (kept := self._kept.get((kind, name))) and kept.metadata.uid == uid:
                    del self._kept[kind, name]
            case Touch(name=name):
                self._touch(name, action)

    def _keep(self, kind: KindName, name: str, body: Body) -> None:
        """Objects other than pods are only stored; a new ConfigMap may let waiting pods start."""
        known = {**body, "metadata": {**body["metadata"], "uid": str(uuid.uuid4())}}
        self._kept[kind, name] = msgspec.convert(known, BY_NAME[kind].type)
        if kind == CONFIG_MAPS.name:
            self._maps[f"{kind}/{name}"] = body["data"]
            for pod in self.pods.values():
                pod.advance()

    def _create_pod(self, name: str, body: dict[str, object]) -> None:
        # A real kubelet fills these in; they are also what a container may ask for.
        body = {**body, "metadata": {**mapping(body["metadata"]), "uid": str(uuid.uuid4())}}
        life = self._lives[name]
        self._lives[name] += 1
        setting = Setting(body, self._address(name, life), self._maps, self._folder, self._around, life)
        pod = LocalPod(setting, supervisor=self._supervisor, changed=self._changed)
        self.pods[name] = pod
        pod.advance()

    def _address(self, name: str, life: int) -> str:
        """Not the address of the last pod of this name; two addresses per name are used in turn."""
        key = (name, life % 2)
        if key not in self._given:
            self._given[key] = next(self._addresses)
        return self._given[key]

    def _touch(self, name: str, action: Touch) -> None:
        if pod := self.pods.get(name):
            annotations = {**pod.meta.annotations, action.annotation: action.value}
            pod.meta = msgspec.structs.replace(pod.meta, annotations=annotations)
            pod.advance()

    def handle(self, event: ProcessEvent) -> None:
        for pod in self.pods.values():
            pod.handle(event)
        self._changed()

    def stop(self) -> None:
        """Ask every pod to end."""
        for pod in self.pods.values():
            pod.delete()

    def kill(self) -> None:
        for pod in self.pods.values():
            pod.kill()

    @property
    def empty(self) -> bool:
        return not any(one.running for pod in self.pods.values() for one in pod.containers)

    def close(self) -> None:
        for pod in self.pods.values():
            pod.close()
