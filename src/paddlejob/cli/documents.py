"""Reading a file of Kubernetes objects, or standard input, for commands that send them on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from paddlejob.api.names import KIND
from paddlejob.cli.errors import BadUse
from paddlejob.cli.output import note
from paddlejob.local.reading import Document, read_file, read_text

Json = dict[str, Any]


def read_objects(path: Path) -> list[Json]:
    """All objects of the file, Lists opened; `-` is standard input. What is to be known of them is printed."""
    where = _named(path)
    found = read_documents(path)
    for one in found:
        for each in one.notes:
            note(f"note: {where}:{one.line}: {each}")
    return [_checked(one, where) for one in found]


def read_documents(path: Path) -> list[Document]:
    where = _named(path)
    if len(where) > 1 and where.startswith("-"):
        # A file may be called -, but no file may begin with it.
        raise BadUse(f"unknown option: {where}: --help lists them all")
    return read_text(sys.stdin.read(), where) if str(path) == "-" else read_file(path)


def _named(path: Path) -> str:
    return "standard input" if str(path) == "-" else str(path)


def is_job(one: Json) -> bool:
    return bool(one["kind"] == KIND)


def jobs_in(objects: list[Json], path: Path) -> list[Json]:
    jobs = [one for one in objects if is_job(one)]
    if not jobs:
        raise BadUse(f"{path}: it contains no PaddleJob")
    return jobs


def _checked(document: Document, where: str) -> Json:
    one, at = document.body, f"{where}:{document.line}"
    meta = one.get("metadata")
    if not isinstance(meta, dict) or not all(isinstance(one.get(key), str) for key in ("apiVersion", "kind")):
        raise BadUse(f"{at}: every object needs apiVersion, kind and metadata")
    if not isinstance(meta.get("name"), str):
        raise BadUse(f"{at}: a {one['kind']} has no metadata.name: give it one")
    return one
