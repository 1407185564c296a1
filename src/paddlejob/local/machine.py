"""This machine as a place for pods: does with processes what `plan` asks for, and shows what is there.

The local counterpart of an API server with its nodes. It decides nothing.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from paddlejob.api import ObjectMeta, PaddleJob
from paddlejob.core import (
    Action,
    ConfigMap,
    Create,
    Delete,
    Etcd,
    Observed,
    Touch,
    Update,
    observe,
)
from paddlejob.core.template import mapping
from paddlejob.local.invocation import Setting
from paddlejob.local.manifest import Data, Manifest
from paddlejob.local.pod import LocalPod, Place
from paddlejob.local.processes import Event, Supervisor
from paddlejob.local.volumes import Volumes


class Surroundings(msgspec.Struct, frozen=True):
    """What the person who starts a job decides: its folder for logs and volumes, its command, its volumes, its etcd."""

    folder: Path
    inherited: Mapping[str, str]
    command: tuple[str, ...] = ()
    volumes: Mapping[str, Path] = {}
    etcd: str = ""

    @property
    def logs(self) -> Path:
        return self.folder / "logs"


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
        self._manifest = manifest
        self._around = surroundings
        self._addresses = addresses
        self._supervisor = supervisor
        self._changed = changed
        self._config_maps: dict[str, Data] = dict(manifest.config_maps)
        self._environment: ConfigMap | None = None
        self._lives: Counter[str] = Counter()
        self._given: dict[tuple[str, int], str] = {}
        self.pods: dict[str, LocalPod] = {}
        surroundings.logs.mkdir(parents=True, exist_ok=True)

    def observe(self, job: PaddleJob, etcd: Etcd) -> Observed:
        for name in [name for name, pod in self.pods.items() if pod.gone]:
            self.pods.pop(name).forget()
        pods = tuple(pod.snapshot() for pod in self.pods.values())
        return observe(job, (*pods, *((self._environment,) if self._environment else ())), etcd=etcd)

    def do(self, action: Action) -> None:
        match action:
            case Create(kind="Pod", name=name, body=body):
                self._create_pod(name, body)
            case Create(kind="ConfigMap", name=name, body=body) | Update(name=name, body=body):
                self._config_maps[name] = body["data"]
                meta = msgspec.convert({**body["metadata"], "uid": str(uuid.uuid4())}, ObjectMeta)
                self._environment = ConfigMap(metadata=meta)
                self._advance()
            case Create():
                raise AssertionError("by address there are no services")
            case Delete(name=name, uid=uid):
                if (pod := self.pods.get(name)) and pod.meta.uid == uid:
                    pod.delete()
            case Touch(name=name):
                self._touch(name, action)

    def _create_pod(self, name: str, body: dict[str, object]) -> None:
        # A real kubelet fills these in; they are also what a container may ask for.
        body = {**body, "metadata": {**mapping(body["metadata"]), "uid": str(uuid.uuid4())}}
        life = self._lives[name]
        self._lives[name] += 1
        address = self._address(name, life)
        place = Place(self._around.logs, self._around.folder / "volumes" / f"{name}.{life}", life)
        maps = {"ConfigMap": self._config_maps, "Secret": self._manifest.secrets}
        volumes = Volumes(mapping(body["spec"]), place.volumes, self._around.volumes, maps)

        def setting() -> Setting:
            return Setting(
                pod=body,
                address=address,
                config_maps=self._config_maps,
                secrets=self._manifest.secrets,
                folder=str(self._manifest.folder),
                inherited=self._around.inherited,
                command=self._around.command,
                log_dir=str(self._around.folder / "launcher" / f"{name}.{life}"),
            )

        pod = LocalPod(body, setting, volumes, place, supervisor=self._supervisor, changed=self._changed)
        self.pods[name] = pod
        pod.advance()

    def _address(self, name: str, life: int) -> str:
        """Another than the last pod of this name had, and the same as the one before that: two are enough."""
        place = (name, life % 2)
        if place not in self._given:
            self._given[place] = next(self._addresses)
        return self._given[place]

    def _touch(self, name: str, action: Touch) -> None:
        if pod := self.pods.get(name):
            annotations = {**pod.meta.annotations, action.annotation: action.value}
            pod.meta = msgspec.structs.replace(pod.meta, annotations=annotations)
            pod.advance()

    def _advance(self) -> None:
        for pod in self.pods.values():
            pod.advance()

    def handle(self, event: Event) -> None:
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
