"""Volumes without a container: where a pod's mounts really lie on this machine.

There is no file system of its own for a pod, so mount paths that differ from the real ones are replaced wherever a
command, an argument, a value or a working directory names them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paddlejob.api import reasons
from paddlejob.api.names import SHARED_MEMORY, SHARED_MEMORY_VOLUME
from paddlejob.core.template import mapping, mappings
from paddlejob.local.manifest import Data

Mounts = tuple[tuple[str, str], ...]
"""Mount paths and the real paths behind them, longest mount first."""


class NotYet(Exception):
    """What a container needs is not there for now. Carries the reason that a kubelet would give."""

    def __init__(self, message: str, reason: str = reasons.CREATE_CONTAINER_CONFIG_ERROR) -> None:
        super().__init__(message)
        self.reason = reason


class Volumes:
    """The volumes of one pod. `mapped` is what the user said by --volume NAME=PATH."""

    def __init__(
        self, spec: dict[str, Any], folder: Path, mapped: Mapping[str, Path], maps: Mapping[str, Data]
    ) -> None:
        self._volumes = {str(one.get("name")): one for one in mappings(spec.get("volumes"))}
        self._folder = folder
        self._mapped = mapped
        self._maps = maps

    def mounts(self, container: dict[str, Any]) -> Mounts:
        found = []
        for one in mappings(container.get("volumeMounts")):
            at = str(one.get("mountPath")).rstrip("/")
            path = self._path(str(one.get("name")), at)
            if one.get("subPath"):
                path = _within(path, str(one["subPath"]))
                if not path.is_file():
                    path.mkdir(parents=True, exist_ok=True)
            if str(path) != at:
                found.append((at, str(path)))
        return tuple(sorted(found, key=lambda pair: -len(pair[0])))

    def _path(self, name: str, at: str) -> Path:
        volume = self._volumes.get(name)
        if volume is None:
            raise NotYet(f"volume {name} is mounted but not defined in the template")
        claim = str(mapping(volume.get("persistentVolumeClaim")).get("claimName", name))
        for said in (name, claim):
            if said in self._mapped:
                return self._mapped[said]
        if "hostPath" in volume:
            return Path(str(mapping(volume["hostPath"]).get("path")))
        if "emptyDir" in volume:
            return self._empty(name, at, mapping(volume["emptyDir"]))
        for key, kind, field in (("configMap", "ConfigMap", "name"), ("secret", "Secret", "secretName")):
            if key in volume:
                source = mapping(volume[key])
                return self._files(name, kind, str(source.get(field)), source)
        kind = next((key for key in volume if key != "name"), "nothing")
        said = f"volume {name} ({kind}) is not on this machine: say where with --volume {name}=PATH"
        raise NotYet(said, reasons.VOLUME_NOT_MAPPED)

    def _empty(self, name: str, at: str, source: dict[str, Any]) -> Path:
        # The operator's own volume stands for what every machine has already, if it has it at all.
        if at == SHARED_MEMORY and (name == SHARED_MEMORY_VOLUME or _is_in_memory(source)):
            return Path(SHARED_MEMORY)
        path = self._folder / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def _files(self, volume: str, kind: str, name: str, source: dict[str, Any]) -> Path:
        data = self._maps.get(f"{kind}/{name}", {} if source.get("optional") else None)
        if data is None:
            raise NotYet(f'{kind.lower()} "{name}" not found: put it into the job\'s file')
        (self._folder / volume).mkdir(parents=True, exist_ok=True)
        items = {str(one.get("key")): str(one.get("path")) for one in mappings(source.get("items"))}
        for key, text in data.items():
            if not items or key in items:
                path = _within(self._folder / volume, items.get(key, key))
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        return self._folder / volume


def _is_in_memory(source: dict[str, Any]) -> bool:
    return source.get("medium") == "Memory" and Path(SHARED_MEMORY).is_dir()


def _within(volume: Path, said: str) -> Path:
    if Path(said).is_absolute() or ".." in Path(said).parts:
        raise NotYet(f"{said} leads out of its volume: write a path without .. that does not begin with /")
    return volume / said


def really(text: str, mounts: Mounts) -> str:
    """The text with mount paths replaced by what is behind them; only whole path components count."""
    for at, path in mounts:
        text = re.sub(rf"(?<![\w./-]){re.escape(at)}(?![\w.-])", path.replace("\\", r"\\"), text)
    return text
