"""Reading a file of Kubernetes objects, or standard input, for commands that send them on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml

from paddlejob.api.names import API_VERSION, KIND
from paddlejob.cli.errors import BadUse

Json = dict[str, Any]


def read_objects(path: Path) -> list[Json]:
    """All objects of the file, Lists opened; `-` is standard input."""
    where = "standard input" if str(path) == "-" else str(path)
    if len(where) > 1 and where.startswith("-"):
        raise BadUse(f"unknown option: {where}: --help shows all")  # a file may be called -, nothing else may begin so
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text()
        found = list(yaml.load_all(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except OSError as error:
        raise BadUse(f"{where}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BadUse(f"{where}: is not a text file in UTF-8") from error
    except yaml.YAMLError as error:
        raise BadUse(f"{where}: is not YAML: {' '.join(str(error).split())}") from error
    return [_checked(one, where) for document in found if document for one in _opened(document)]


def is_job(one: Json) -> bool:
    return bool(one["kind"] == KIND)


def jobs_in(objects: list[Json], path: Path) -> list[Json]:
    jobs = [one for one in objects if is_job(one)]
    if not jobs:
        raise BadUse(f"{path}: it holds no PaddleJob")
    for one in jobs:
        if one["apiVersion"] != API_VERSION:
            raise BadUse(f"{path}: apiVersion is {one['apiVersion']!r}: write {API_VERSION}")
    return jobs


def _opened(document: Any) -> list[Any]:
    if isinstance(document, dict) and document.get("kind") == "List":
        return list(document.get("items") or [])
    return [document]


def _checked(one: Any, where: str) -> Json:
    meta = one.get("metadata") if isinstance(one, dict) else None
    if not isinstance(meta, dict) or not all(isinstance(one.get(key), str) for key in ("apiVersion", "kind")):
        raise BadUse(f"{where}: every object needs apiVersion, kind and metadata")
    if not isinstance(meta.get("name"), str):
        raise BadUse(f"{where}: a {one['kind']} has no metadata.name: give it one")
    return dict(one)
