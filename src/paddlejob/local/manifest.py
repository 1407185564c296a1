"""What a job file brings to this machine: one PaddleJob, and the ConfigMaps and Secrets that its pods refer to.

What an API server would refuse is refused, in its words: the same file must run on a cluster.
"""

from __future__ import annotations

import base64
import binascii
from pathlib import Path

import msgspec

from paddlejob.api import Job
from paddlejob.api.mistakes import Json, job_of, mistakes
from paddlejob.core.template import mapping
from paddlejob.errors import Invalid
from paddlejob.local.reading import Document, only_job, read_file

Data = dict[str, str]


class Manifest(msgspec.Struct, frozen=True):
    path: Path
    job: Job
    maps: dict[str, Data] = {}
    """What pods may refer to, by kind and name: ConfigMap/settings."""
    notes: tuple[str, ...] = ()
    """What the person should know of how the file was read."""

    @property
    def folder(self) -> Path:
        return self.path.parent


def read_manifest(path: Path) -> Manifest:
    documents = read_file(path)
    made = _manifest(path, only_job(path, documents), [one.body for one in documents])
    return msgspec.structs.replace(made, notes=tuple(note for one in documents for note in one.notes))


def as_manifest(path: Path, documents: list[Json]) -> Manifest:
    """Documents that were made in Python; `path` names them in messages."""
    job = only_job(path, [Document(one) for one in documents])
    if wrong := mistakes(job):
        raise Invalid("\n".join(f"{path}: {one}" for one in wrong))
    return _manifest(path, job, documents)


def _manifest(path: Path, job: Json, documents: list[Json]) -> Manifest:
    maps = {_key(one): _data(one) for one in documents if one.get("kind") in ("ConfigMap", "Secret")}
    return Manifest(path.resolve(), job_of(job), maps)


def _key(one: Json) -> str:
    return f"{one['kind']}/{mapping(one.get('metadata')).get('name')}"


def _data(one: Json) -> Data:
    data = {key: str(value) for key, value in mapping(one.get("data")).items()}
    if one["kind"] == "ConfigMap":
        return data
    plain = {key: str(value) for key, value in mapping(one.get("stringData")).items()}
    return {key: _decoded(value) for key, value in data.items()} | plain


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return text
