"""A job that calls a Python function: its program and files travel in a ConfigMap that goes with the job.

Every pod copies them into a folder of its own, which is its working directory: relative paths work, and Paddle can
write there. Refuses what a ConfigMap cannot hold.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from paddlejob.api.names import ANNOTATION_PART_OF, ROLES
from paddlejob.errors import CannotShip
from paddlejob.places.place import Description, Json
from paddlejob.sdk.sources import program

PROGRAM = "paddlejob_function.py"
CODE, WORK = "paddlejob-code", "paddlejob-work"
CODE_AT, WORK_AT = "/paddlejob/code", "/paddlejob/work"
# What Kubernetes allows in one ConfigMap.
MOST_BYTES = 1024 * 1024
_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")
_NUMBERED = "file-"


def described_function(
    plain: Description, function: Callable[..., object], arguments: dict[str, Any], files: tuple[str | Path, ...]
) -> Description:
    texts = _files(files)
    modules = {path.partition("/")[0].removesuffix(".py") for path in texts}
    texts[PROGRAM] = program(function, arguments, modules)
    _check_size(texts)
    name = f"{plain.name}-code"
    keys = _keys(texts)
    metadata = {**plain.document["metadata"], "name": name, "annotations": {ANNOTATION_PART_OF: plain.name}}
    data = {keys[path]: text for path, text in texts.items()}
    code: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    items = [{"key": key, "path": path} for path, key in keys.items()]
    hidden = any(path.startswith(".") for path in texts)
    spec = {
        field: _with_code(value, name, items, hidden=hidden) if field in ROLES else value
        for field, value in plain.document["spec"].items()
    }
    return Description({**plain.document, "spec": spec}, (code,), plain.file)


def _keys(paths: Iterable[str]) -> dict[str, str]:
    """By path: its own name where that can be a key, else a number that no name can be taken for."""
    return {
        path: path if _KEY.fullmatch(path) and not path.startswith(_NUMBERED) else f"{_NUMBERED}{number}"
        for number, path in enumerate(sorted(paths))
    }


def _with_code(role: Json, name: str, items: list[Json], *, hidden: bool) -> Json:
    """`hidden`: there are files whose names begin with a dot; those of the kubelet begin with two."""
    pod = role["template"]["spec"]
    (container,) = pod["containers"]
    mounts = [
        *container.get("volumeMounts", ()),
        {"name": CODE, "mountPath": CODE_AT, "readOnly": True},
        {"name": WORK, "mountPath": WORK_AT},
    ]
    files = f'"{CODE_AT}"/*' + (f' "{CODE_AT}"/.[!.]*' if hidden else "")
    command = ["sh", "-c", f'cp -RL {files} "{WORK_AT}" && exec python {PROGRAM}']
    container = {**container, "command": command, "workingDir": WORK_AT, "volumeMounts": mounts}
    volumes = [
        *pod.get("volumes", ()),
        {"name": CODE, "configMap": {"name": name, "items": items}},
        {"name": WORK, "emptyDir": {}},
    ]
    return {**role, "template": {"spec": {**pod, "containers": [container], "volumes": volumes}}}


def _files(said: tuple[str | Path, ...]) -> dict[str, str]:
    """Texts by the path that they will have: a file by its own name, a folder with all that is in it."""
    found: dict[str, str] = {}
    for one in said:
        path = Path(os.path.abspath(one))  # noqa: PTH100 - a link keeps its own name
        if path.is_dir():
            inside = [each for each in sorted(path.rglob("*")) if each.is_file()]
            named = {each.relative_to(path.parent): each for each in inside}
        elif path.is_file():
            named = {Path(path.name): path}
        else:
            raise CannotShip(f"files: there is no {one} in {Path.cwd()}")
        for relative, each in named.items():
            if "__pycache__" in relative.parts:
                continue
            if relative.as_posix() in (PROGRAM, *found):
                raise CannotShip(f"files: two files would be {relative} in the job: rename one")
            found[_name(relative)] = _text(each)
    folders = {parent.as_posix() for path in found for parent in Path(path).parents}
    if both := sorted(folders & found.keys()):
        raise CannotShip(f"files: {both[0]} would be a file and a folder in the job: rename one")
    return found


def _name(path: Path) -> str:
    """What Kubernetes does not take as a path of a volume is refused here, where a person can read why."""
    name = path.as_posix()
    if name.startswith(".."):
        raise CannotShip(f"files: the name of {name} begins with two dots, which a volume cannot have: rename it")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise CannotShip(f"files: the name of {name!r} is not UTF-8: rename it") from error
    return name


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise CannotShip(f"files: {path} is not UTF-8 text: put data on a volume with volumes=") from error


def _check_size(texts: dict[str, str]) -> None:
    sizes = {path: len(text.encode()) for path, text in texts.items()}
    total = sum(sizes.values())
    if total > MOST_BYTES:
        largest = max(sizes, key=lambda path: sizes[path])
        raise CannotShip(
            f"the function and its files are {total} bytes, and a ConfigMap holds {MOST_BYTES}; the largest is"
            f" {largest} ({sizes[largest]}): put data on a volume (volumes=), or build an image (tools/build_docker.sh)"
        )
