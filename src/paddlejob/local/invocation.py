"""From a container in a pod to a process: command line, environment and folder, as Kubernetes defines them.

Raises `NotYet`, with a kubelet's reason, while something that the container refers to is not there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from paddlejob.api import reasons
from paddlejob.core.template import mapping, mappings
from paddlejob.local.manifest import Data
from paddlejob.local.processes import Process
from paddlejob.local.volumes import NotYet, Volumes, really

LOG_DIR = "PADDLE_LOG_DIR"
_REFERENCE = re.compile(r"\$(?:\$|\(([^)]*)\))")
_LABEL = re.compile(r"metadata\.(labels|annotations)\['([^']+)'\]")
# Of the shell that starts a job, everything is passed on but what Paddle would mistake for its own.
_PADDLES_OWN = re.compile(
    r"PADDLE_.*|TRAINING_ROLE|POD_IP|TRAINER_ID|TRAINERS|PSERVERS|DISTRIBUTED_TRAINER_ENDPOINTS"
    r"|NNODES|RANK|MASTER_ADDR|MASTER_PORT|TRAINER_INSTANCES|POD_INDEX"
)


class Surroundings(msgspec.Struct, frozen=True):
    """What the person who starts a job decides: its folder for logs and volumes, its command, its volumes, its etcd,
    and where its Python is.
    """

    folder: Path
    inherited: Mapping[str, str]
    command: tuple[str, ...] = ()
    """Replaces command and arguments of the training container."""
    volumes: Mapping[str, Path] = {}
    etcd: str = ""
    programs: str = ""
    """The folder that comes first on the path of every container, whatever that says itself."""

    @property
    def logs(self) -> Path:
        return self.folder / "logs"


class Setting(msgspec.Struct, frozen=True):
    """What a pod finds around it. `folder` is that of the job's file; `life` counts the earlier pods of its name."""

    pod: dict[str, Any]
    address: str
    maps: Mapping[str, Data]
    folder: Path
    around: Surroundings
    life: int = 0

    @property
    def volumes(self) -> Path:
        return self._own("volumes")

    @property
    def log_dir(self) -> Path:
        """Where Paddle's launcher may write what its trainers print."""
        return self._own("launcher")

    def _own(self, what: str) -> Path:
        return self.around.folder / what / f"{self.pod['metadata']['name']}.{self.life}"


def process(container: dict[str, Any], setting: Setting, *, trains: bool) -> Process:
    around = setting.around
    mounts = Volumes(mapping(setting.pod.get("spec")), setting.volumes, around.volumes, setting.maps).mounts(container)
    own = {name: really(value, mounts) for name, value in environment(container, setting).items()}
    command = list(around.command) if trains and around.command else _command(container)
    argv = tuple(really(expand(str(word), own), mounts) for word in command)
    folder = really(str(container.get("workingDir") or setting.folder), mounts)
    if trains and LOG_DIR not in own and not _says_log_dir(argv, folder):
        own[LOG_DIR] = str(setting.log_dir)  # else ./log, the same for all pods: they would overwrite each other
    inherited = {name: value for name, value in around.inherited.items() if not _PADDLES_OWN.fullmatch(name)}
    env = {**inherited, **own}
    if around.programs:
        env["PATH"] = f"{around.programs}:{env.get('PATH', os.defpath)}"
    return Process(argv, env, folder)


def _says_log_dir(argv: tuple[str, ...], folder: str) -> bool:
    """Whether the command, or a script that it names, chooses by itself: the variable would win over its --log_dir."""
    if any("--log_dir" in word for word in argv):
        return True
    scripts = [Path(folder, word) for word in argv if word.endswith(".sh")]
    return any("--log_dir" in one.read_text(errors="replace") for one in scripts if one.is_file())


def _command(container: dict[str, Any]) -> list[str]:
    command, args = container.get("command") or [], container.get("args") or []
    if not command:
        image = container.get("image", "its image")
        raise NotYet(
            f"the entry point of {image} is not known on this machine: give the command after --,"
            " for instance: paddlejob run FILE -- python train.py",
            reasons.NO_COMMAND,
        )
    return [*command, *args]


def environment(container: dict[str, Any], setting: Setting) -> dict[str, str]:
    """What the container declares: sources first, then single values, each of which may refer to those before."""
    made: dict[str, str] = {}
    for source in mappings(container.get("envFrom")):
        prefix = str(source.get("prefix", ""))
        for kind, key in (("ConfigMap", "configMapRef"), ("Secret", "secretRef")):
            if key in source:
                data = _whole(kind, mapping(source[key]), setting)
                made |= {prefix + name: value for name, value in data.items()}
    for one in mappings(container.get("env")):
        value = _value(one, setting, made)
        if value is not None:
            made[str(one.get("name"))] = value
    return made


def _value(one: dict[str, Any], setting: Setting, known: Mapping[str, str]) -> str | None:
    source = mapping(one.get("valueFrom"))
    if not source:
        return expand(str(one.get("value") or ""), known)
    for kind, key in (("ConfigMap", "configMapKeyRef"), ("Secret", "secretKeyRef")):
        if key in source:
            return _key(kind, mapping(source[key]), setting)
    if "fieldRef" in source:
        return _field(str(mapping(source["fieldRef"]).get("fieldPath")), setting)
    raise NotYet(f"env {one.get('name')}: {', '.join(source)} is not known on this machine")


def _whole(kind: str, reference: dict[str, Any], setting: Setting) -> Data:
    name = str(reference.get("name"))
    data = setting.maps.get(f"{kind}/{name}", {} if reference.get("optional") else None)
    if data is None:
        raise NotYet(f'{kind.lower()} "{name}" not found')
    return data


def _key(kind: str, reference: dict[str, Any], setting: Setting) -> str | None:
    data = _whole(kind, reference, setting)
    key = str(reference.get("key"))
    if key in data:
        return data[key]
    if reference.get("optional"):
        return None
    raise NotYet(f"couldn't find key {key} in {kind} {reference.get('name')}")


def _field(path: str, setting: Setting) -> str:
    meta = mapping(setting.pod.get("metadata"))
    if found := _LABEL.fullmatch(path):
        return str(mapping(meta.get(found[1])).get(found[2], ""))
    known = {
        "metadata.name": meta.get("name"),
        "metadata.namespace": meta.get("namespace"),
        "metadata.uid": meta.get("uid"),
        "status.podIP": setting.address,
        "status.podIPs": setting.address,
        "status.hostIP": "127.0.0.1",
        "spec.nodeName": "localhost",
        "spec.serviceAccountName": mapping(setting.pod.get("spec")).get("serviceAccountName", "default"),
    }
    if path not in known:
        raise NotYet(f"fieldRef {path} is not known on this machine")
    return str(known[path] or "")


def expand(text: str, known: Mapping[str, str]) -> str:
    """`$(VAR)` as Kubernetes expands it: unknown names stay, `$$` is a dollar sign."""
    return _REFERENCE.sub(lambda found: "$" if found[1] is None else known.get(found[1], found[0]), text)
