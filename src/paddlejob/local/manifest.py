"""Reading a job file: one PaddleJob, and the ConfigMaps and Secrets that its pods refer to.

Refuses early what the API server would refuse, in its words: the same file must run on a cluster.
"""

from __future__ import annotations

import base64
import binascii
import re
from pathlib import Path
from typing import Any

import msgspec
import yaml

from paddlejob.api import PaddleJob, Role
from paddlejob.api.names import API_VERSION, KIND, LONGEST_NAME, pod_name
from paddlejob.core.template import containers, mapping
from paddlejob.local.errors import BadFile

Data = dict[str, str]
_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


class Manifest(msgspec.Struct, frozen=True):
    path: Path
    job: PaddleJob
    config_maps: dict[str, Data] = {}
    secrets: dict[str, Data] = {}

    @property
    def folder(self) -> Path:
        return self.path.parent


def read_manifest(path: Path) -> Manifest:
    return as_manifest(path, _documents(path))


def as_manifest(path: Path, documents: list[Any]) -> Manifest:
    """Documents that were read or made already; `path` names them in messages."""
    documents = [one for one in documents if one]
    jobs = [one for one in documents if mapping(one).get("kind") == KIND]
    if len(jobs) != 1:
        raise BadFile(f"{path}: it must hold exactly one PaddleJob, and holds {len(jobs)}")
    job = _job(path, jobs[0])
    _check(path, job)
    return Manifest(path.resolve(), job, _maps(documents, "ConfigMap"), _maps(documents, "Secret"))


def _documents(path: Path) -> list[Any]:
    try:
        text = path.read_text()
    except OSError as error:
        raise BadFile(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadFile(f"{path}: is not a text file in UTF-8") from error
    try:
        return list(yaml.load_all(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except yaml.YAMLError as error:
        raise BadFile(f"{path}: is not YAML: {' '.join(str(error).split())}") from error


def _job(path: Path, document: Any) -> PaddleJob:
    if document.get("apiVersion") != API_VERSION:
        raise BadFile(f"{path}: apiVersion is {document.get('apiVersion')!r}: write {API_VERSION}")
    try:
        return msgspec.convert(document, PaddleJob)
    except msgspec.ValidationError as error:
        raise BadFile(f"{path}: {str(error).replace('`$.', '`').replace(' - at', ', at')}") from error


def _check(path: Path, job: PaddleJob) -> None:
    """What the CRD refuses by rules, and no type can."""
    name, spec = job.metadata.name, job.spec
    longest = max((len(pod_name(name, role, max(0, asked.replicas - 1))) for role, asked in spec.roles), default=0)
    problems = {
        "metadata.name must begin with a letter and hold only lower-case letters, digits and '-'": not _NAME.fullmatch(
            name
        ),
        f"metadata.name is too long: a pod's name may have {LONGEST_NAME} characters": longest > LONGEST_NAME,
        "a job without workers never ends: set spec.worker with replicas of 1 or more": spec.worker is None
        or spec.worker.replicas < 1,
        "a role needs a container: give template.spec.containers one named paddle": any(
            not containers(asked.template) for _, asked in spec.roles
        ),
        "heter workers belong to a job with parameter servers: set spec.ps, or remove spec.heter": bool(
            spec.heter and spec.heter.replicas and spec.mode != "PS"
        ),
        "elastic jobs have no parameter servers: remove spec.ps or spec.elastic": bool(spec.ps and spec.elastic),
        **_bounds(spec.worker, elastic=spec.is_elastic),
    }
    for problem, holds in problems.items():
        if holds:
            raise BadFile(f"{path}: {problem}")


def _bounds(worker: Role | None, *, elastic: bool) -> dict[str, bool]:
    if worker is None:
        return {}
    least, most = worker.requests, worker.limits
    return {
        "set worker.requests and worker.limits: the least and the most replicas of an elastic job": elastic
        and (least is None or most is None),
        "requests is the least number of replicas: set it to replicas or below": (least or 0) > worker.replicas,
        "limits is the largest number of replicas: set it to replicas or above": worker.replicas
        > (worker.replicas if most is None else most),
    }


def _maps(documents: list[Any], kind: str) -> dict[str, Data]:
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
