"""What a job says, as documents: the PaddleJob and what stands beside it. Made from parameters or from YAML.

Resources are per pod. Servers and workers run the same command in the same image, as Paddle's role makers expect; only
workers get GPUs.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

import msgspec
import yaml

from paddlejob.api import PaddleJob
from paddlejob.api.names import API_VERSION, CONTAINER, KIND
from paddlejob.api.spec import PaddleJobSpec
from paddlejob.places.place import Description, Json
from paddlejob.sdk.volumes import Volume, mount, named

GPU = "nvidia.com/gpu"
INSIDE = "RUNNING_ON_CLOUD"
# What only a shell understands; without it, the program itself is the container's first process and hears signals.
_FOR_A_SHELL = re.compile(r"[|&;<>()$`*?\[\]{}~!#\n]|^\s*\w+=")
_OF_THE_SHELL = frozenset(("exec", ".", "source", "cd", "export", "set", "ulimit", "umask", "eval", "trap"))
_ROLES = ("ps", "worker", "heter")


class Parameters(msgspec.Struct, frozen=True, kw_only=True):
    """What `PaddleJob(...)` was given, checked."""

    job_name: str
    namespace: str | None
    entry_point: str
    runtime_image: str
    package: str | None
    cpus: int
    memory: str | None
    gpus: int
    pservers: int
    trainers: int
    volumes: tuple[Volume, ...]
    env: dict[str, str]
    spec: Json


def as_yaml(description: Description) -> str:
    return yaml.safe_dump_all([*description.beside, description.document], sort_keys=False, allow_unicode=True)


def describe(said: Parameters) -> Description:
    roles: Json = {"ps": _role(said, said.pservers, gpus=0)} if said.pservers else {}
    roles["worker"] = _role(said, said.trainers, gpus=said.gpus)
    metadata = {"name": said.job_name, **({"namespace": said.namespace} if said.namespace else {})}
    document = {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": {**said.spec, **roles}}
    return Description(document)


def other_fields(parameter: str, value: object) -> Json:
    """Further fields of the resource's spec, such as backoffLimit, checked as the API server would."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{parameter} must be a mapping, not {type(value).__name__}")
    known = {field.encode_name for field in msgspec.structs.fields(PaddleJobSpec)} - set(_ROLES)
    for name in value:
        if name not in known:
            raise ValueError(f"{parameter}: {name!r} is not one of {', '.join(sorted(known))}")
    try:
        msgspec.convert(value, PaddleJobSpec)
    except msgspec.ValidationError as error:
        raise ValueError(f"{parameter}: {str(error).replace('`$.', '`')}") from error
    return dict(value)


def command(entry_point: str) -> list[str]:
    """The words of a plain command; what needs a shell gets one.

    >>> command("python train.py --epochs 3")
    ['python', 'train.py', '--epochs', '3']
    >>> command("cd word2vec && python train.py")
    ['sh', '-c', 'cd word2vec && python train.py']
    """
    if not _FOR_A_SHELL.search(entry_point):
        words = shlex.split(entry_point)
        if words[0] not in _OF_THE_SHELL:
            return words
    return ["sh", "-c", entry_point]


def _role(said: Parameters, replicas: int, *, gpus: int) -> Json:
    volumes = named(said.volumes)
    env = {INSIDE: "YES", **said.env}
    container: Json = {
        "name": CONTAINER,
        "image": said.runtime_image,
        "command": command(said.entry_point),
        "env": [{"name": name, "value": value} for name, value in env.items()],
        "resources": _resources(said, gpus),
    }
    if said.package:
        container["workingDir"] = said.package
    pod: Json = {"containers": [container]}
    if volumes:
        container["volumeMounts"] = [mount(name, one) for name, one in volumes]
        pod["volumes"] = [{"name": name, **one.source()} for name, one in volumes]
    return {"replicas": replicas, "template": {"spec": pod}}


def _resources(said: Parameters, gpus: int) -> Json:
    """No CPU limit: it would only slow the pod down. Memory beyond what was asked for endangers other pods."""
    requests: Json = {"cpu": said.cpus, **({"memory": said.memory} if said.memory else {})}
    limits: Json = {**({"memory": said.memory} if said.memory else {}), **({GPU: gpus} if gpus else {})}
    return {"requests": requests, **({"limits": limits} if limits else {})}


def read(source: str | Path) -> Description:
    """From a file, or from the text itself: a string of several lines is no file name."""
    if isinstance(source, str) and "\n" in source:
        return _described(source, "the YAML", str(Path.cwd()))
    path = Path(source)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not a text file in UTF-8") from error
    return _described(text, str(path), str(path.resolve().parent))


def _described(text: str, source: str, folder: str) -> Description:
    try:
        documents = [one for one in yaml.safe_load_all(text) if one]
    except yaml.YAMLError as error:
        raise ValueError(f"{source} is not YAML: {' '.join(str(error).split())}") from error
    jobs = [one for one in documents if isinstance(one, dict) and one.get("kind") == KIND]
    if len(jobs) != 1:
        raise ValueError(f"{source} must hold exactly one PaddleJob, and holds {len(jobs)}")
    beside = [one for one in documents if one is not jobs[0]]
    for one in beside:
        kind = one.get("kind") if isinstance(one, dict) else None
        if not isinstance(kind, str) or not isinstance(one.get("apiVersion"), str):
            raise ValueError(f"{source}: what stands beside a PaddleJob needs apiVersion, kind and metadata")
        if not isinstance(one.get("metadata"), dict) or not one["metadata"].get("name"):
            raise ValueError(f"{source}: metadata.name of the {kind} is missing")
    _checked(jobs[0], source)
    return Description(jobs[0], tuple(beside), folder)


def _checked(job: Json, source: str) -> None:
    if job.get("apiVersion") != API_VERSION:
        raise ValueError(f"{source}: apiVersion is {job.get('apiVersion')!r}: write {API_VERSION}")
    try:
        name = msgspec.convert(job, PaddleJob).metadata.name
    except msgspec.ValidationError as error:
        raise ValueError(f"{source}: {str(error).replace('`$.', '`')}") from error
    if not name:
        raise ValueError(f"{source}: metadata.name is missing")
