"""What a job says, as documents: the PaddleJob and what stands beside it. Made from parameters or from YAML.

Resources are per pod. Servers and workers run the same command in the same image, as Paddle's role makers expect; only
workers get GPUs.
"""

from __future__ import annotations

import re
import shlex
import warnings
from collections.abc import Mapping
from pathlib import Path

import msgspec
import yaml

from paddlejob.api.mistakes import Mistake, mistakes, shown
from paddlejob.api.names import API_VERSION, CONTAINER, KIND, ROLES
from paddlejob.errors import Invalid
from paddlejob.local.reading import Document, only_job, read_file, read_text
from paddlejob.places.place import Description, Json
from paddlejob.sdk.volumes import Volume, mount, named

GPU = "nvidia.com/gpu"
INSIDE = "RUNNING_ON_CLOUD"
# What only a shell understands; without it, the program itself is the container's first process and hears signals.
_FOR_A_SHELL = re.compile(r"[|&;<>()$`*?\[\]{}~!#\n]|^\s*\w+=")
_OF_THE_SHELL = frozenset(("exec", ".", "source", "cd", "export", "set", "ulimit", "umask", "eval", "trap"))
# By which a person gave what stands at these places of the document.
_PARAMETERS = {"metadata.name": "job_name", "spec.worker.replicas": "trainers", "spec.ps.replicas": "pservers"}


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
    if wrong := mistakes(document):
        raise ValueError("\n".join(_by_parameter(one) for one in wrong))
    return Description(document)


def _by_parameter(wrong: Mistake) -> str:
    path = shown(wrong.path)
    return wrong.about(_PARAMETERS.get(path, path))


def other_fields(parameter: str, value: object) -> Json:
    """Further fields of the resource's spec, such as backoffLimit."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{parameter} must be a mapping, not {type(value).__name__}")
    for role in ROLES:
        if role in value:
            raise ValueError(f"{parameter}: {role} is made from the other parameters: remove it")
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
    try:
        if isinstance(source, str) and "\n" in source:
            return _described(read_text(source, "the YAML"), "the YAML")
        return _described(read_file(Path(source)), str(source))
    except Invalid as error:
        raise ValueError(str(error)) from error


def _described(documents: list[Document], source: str) -> Description:
    job = only_job(source, documents)
    for each in (note for one in documents for note in one.notes):
        warnings.warn(f"{source}: {each}", stacklevel=4)
    beside = tuple(one.body for one in documents if one.body is not job)
    return Description(job, beside, str(Path(source).resolve()))
