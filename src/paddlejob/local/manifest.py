"""What a job file brings to this machine: one PaddleJob, and the ConfigMaps and Secrets that its pods refer to.

What an API server would refuse is refused, in its words: the same file must run on a cluster.
"""

from __future__ import annotations

import base64
import binascii
from pathlib import Path

import msgspec

from paddlejob.api import PaddleJob
from paddlejob.api.mistakes import Json, job_of, mistakes
from paddlejob.core.template import mapping
from paddlejob.local.errors import BadFile
from paddlejob.local.reading import Document, only_job, read_file

Data = dict[str, str]


class Manifest(msgspec.Struct, frozen=True):
    path: Path
    job: PaddleJob
    config_maps: dict[str, Data] = {}
    secrets: dict[str, Data] = {}

    @property
    def folder(self) -> Path:
        return self.path.parent


def read_manifest(path: Path) -> Manifest:
    documents = read_file(path)
    return _manifest(path, only_job(path, documents), [one.body for one in documents])


def as_manifest(path: Path, documents: list[Json]) -> Manifest:
    """Documents that were made in Python; `path` names them in messages."""
    job = only_job(path, [Document(one) for one in documents])
    if wrong := mistakes(job):
        raise BadFile("\n".join(f"{path}: {one}" for one in wrong))
    return _manifest(path, job, documents)


def _manifest(path: Path, job: Json, documents: list[Json]) -> Manifest:
    return Manifest(path.resolve(), job_of(job), _maps(documents, "ConfigMap"), _maps(documents, "Secret"))


def _maps(documents: list[Json], kind: str) -> dict[str, Data]:
    found = {}
    for one in documents:
        if mapping(one).get("kind") == kind:
            name = str(mapping(one.get("metadata")).get("name"))
            plain = {**mapping(one.get("stringData" if kind == "Secret" else "data"))}
            coded = mapping(one.get("data")) if kind == "Secret" else {}
            found[name] = {key: _decoded(str(value)) for key, value in coded.items()} | {
                key: str(value) for key, value in plain.items()
            }
    return found


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return text
