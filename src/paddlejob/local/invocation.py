"""From a container in a pod to a process: command line, environment and folder, as Kubernetes defines them.

Raises `NotYet`, with a kubelet's reason, while something that the container refers to is not there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from paddlejob.api import reasons
from paddlejob.core.template import mapping, mappings
from paddlejob.local.errors import NotYet
from paddlejob.local.manifest import Data
from paddlejob.local.volumes import Mounts, really

LOG_DIR = "PADDLE_LOG_DIR"
_REFERENCE = re.compile(r"\$(?:\$|\(([^)]*)\))")
_LABEL = re.compile(r"metadata\.(labels|annotations)\['([^']+)'\]")
# Of the shell that starts a job, everything is passed on but what Paddle would mistake for its own.
_PADDLES_OWN = re.compile(r"PADDLE_.*|TRAINING_ROLE|POD_IP|TRAINER_ID|TRAINERS|PSERVERS|DISTRIBUTED_TRAINER_ENDPOINTS")


class Setting(msgspec.Struct, frozen=True):
    """What a container finds around it."""

    pod: dict[str, Any]
    address: str
    config_maps: Mapping[str, Data]
    secrets: Mapping[str, Data]
    folder: str
    inherited: Mapping[str, str] = {}
    command: tuple[str, ...] = ()
    """Replaces command and arguments of the training container."""
    log_dir: str = ""
    """Where Paddle's launcher may write what its trainers print: a folder of this pod alone."""


class Process(msgspec.Struct, frozen=True):
    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str


def process(container: dict[str, Any], setting: Setting, mounts: Mounts, *, trains: bool) -> Process:
    own = {name: really(value, mounts) for name, value in environment(container, setting).items()}
    command = list(setting.command) if trains and setting.command else _command(container)
    argv = tuple(really(expand(str(word), own), mounts) for word in command)
    folder = really(str(container.get("workingDir") or setting.folder), mounts)
    if trains and setting.log_dir and LOG_DIR not in own and not _says_log_dir(argv, folder):
        own[LOG_DIR] = setting.log_dir  # else ./log, which is the same for all pods: they would overwrite each other
    inherited = {name: value for name, value in setting.inherited.items() if not _PADDLES_OWN.fullmatch(name)}
    return Process(argv, {**inherited, **own}, folder)


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
            reasons.NO_COMMAND,
            f"the entry point of {image} is not known on this machine: give the command after --,"
            " for instance: paddlejob run FILE -- python train.py",
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
    raise NotYet(
        reasons.CREATE_CONTAINER_CONFIG_ERROR,
        f"env {one.get('name')}: {', '.join(source)} is not known on this machine",
    )


def _whole(kind: str, reference: dict[str, Any], setting: Setting) -> Data:
    name = str(reference.get("name"))
    known = setting.config_maps if kind == "ConfigMap" else setting.secrets
    if name in known:
        return known[name]
    if reference.get("optional"):
        return {}
    raise NotYet(reasons.CREATE_CONTAINER_CONFIG_ERROR, f'{kind.lower()} "{name}" not found')


def _key(kind: str, reference: dict[str, Any], setting: Setting) -> str | None:
    data = _whole(kind, reference, setting)
    key = str(reference.get("key"))
    if key in data:
        return data[key]
    if reference.get("optional"):
        return None
    name = reference.get("name")
    raise NotYet(reasons.CREATE_CONTAINER_CONFIG_ERROR, f"couldn't find key {key} in {kind} {name}")


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
        raise NotYet(reasons.CREATE_CONTAINER_CONFIG_ERROR, f"fieldRef {path} is not known on this machine")
    return str(known[path] or "")


def expand(text: str, known: Mapping[str, str]) -> str:
    """`$(VAR)` as Kubernetes expands it: unknown names stay, `$$` is a dollar sign."""

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name is None:
            return "$"
        return known.get(name, found[0])

    return _REFERENCE.sub(value, text)
