"""Jobs from functions with odd files and odd arguments: files keep their names, arguments are data and never code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from paddlejob import PaddleJob
from paddlejob.errors import CannotShip
from paddlejob.sdk.functions import PROGRAM
from tests.sdk.shipping import run, shipped


def doubled(value: int) -> int:
    return 2 * value


ODD_FILES = (
    "file-0",
    "file-1",
    "a/b.py",
    "a__b.py",
    "a-b.py",
    "a.b",
    ".env",
    ".config/settings.toml",
    "a/.hidden",
    "name with spaces.txt",
    'it\'s "quoted".txt',
    "$(touch gone)",
    "-rf",
    "größe.txt",
    "a\nb.txt",
)


def pods_files(job: PaddleJob, folder: Path) -> dict[str, str]:
    """What the command of a pod finds in its working directory, by the shell that a pod has."""
    (code,) = job.description.beside
    pod = job.description.document["spec"]["worker"]["template"]["spec"]
    items = next(one for one in pod["volumes"] if "configMap" in one)["configMap"]["items"]
    mounted, real, work = folder / "code", folder / "code" / "..2026_05_04", folder / "work"
    work.mkdir(parents=True)
    for item in items:
        path = real / item["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(code["data"][item["key"]].encode())
    (mounted / "..data").symlink_to(real.name)  # as a kubelet mounts a ConfigMap
    for top in {Path(item["path"]).parts[0] for item in items}:
        (mounted / top).symlink_to(f"..data/{top}")
    command = pod["containers"][0]["command"][2].replace("/paddlejob/code", str(mounted))
    command = command.replace("/paddlejob/work", str(work)).replace("exec python", "exec true")
    subprocess.run(["sh", "-c", command], cwd=work, check=True)
    return {path.relative_to(work).as_posix(): path.read_bytes().decode() for path in work.rglob("*") if path.is_file()}


def test_every_file_travels_under_its_own_name_whatever_that_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here := tmp_path / "here").mkdir()
    monkeypatch.chdir(here)
    for name in ODD_FILES:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(f"this is {name}\r\n".encode())
    job = shipped(doubled, arguments={"value": 1}, files=[*{Path(name).parts[0]: None for name in ODD_FILES}])
    (code,) = job.description.beside
    assert len(code["data"]) == len(ODD_FILES) + 1
    assert all(re.fullmatch(r"[-._a-zA-Z0-9]{1,253}", key) and not key.startswith("..") for key in code["data"])
    found = pods_files(job, tmp_path / "pod")
    assert found.pop(PROGRAM) == code["data"][PROGRAM]
    assert found == {name: f"this is {name}\r\n" for name in ODD_FILES}


FOLDERS: dict[str, tuple[str, str, str]] = {
    "a dot": ("project", ".", "project/model.py"),
    "two dots": ("project/inner", "..", "project/model.py"),
    "a path with a slash at its end": (".", "project/", "project/model.py"),
    "a path that goes up and down": ("project", "../project", "project/model.py"),
    "a link": (".", "link", "link/model.py"),
}


@pytest.mark.parametrize(("start", "said", "expected"), FOLDERS.values(), ids=FOLDERS)
def test_a_folder_travels_by_its_name_given_as(
    start: str, said: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project" / "inner").mkdir(parents=True)
    (tmp_path / "project" / "model.py").write_text("")
    (tmp_path / "link").symlink_to("project")
    monkeypatch.chdir(tmp_path / start)
    job = shipped(doubled, arguments={"value": 1}, files=[said])
    assert set(pods_files(job, tmp_path / "pod")) == {PROGRAM, expected}


def takes_anything(**options: object) -> None:
    sys.set_int_max_str_digits(0)
    print(json.dumps({name: repr(value) for name, value in options.items()}))


class Hostile(str):
    def __repr__(self) -> str:
        return "__import__('os').abort()"


LOOP: list[object] = []
LOOP.append(LOOP)
DATA: dict[str, object] = {
    "x": "\"'\n\\ \u2028 \ud800 {x!r} %s",
    "y": b"\0\n'",
    "not an identifier": 1,
    "class": 2,
    "__debug__": 3,
    "ﬁ": 4,
    "x=0); __import__('os').abort(": 5,
    "**{}": 6,
    "": 7,
    "large": 16**5000,
    "negative": -1.5,
    "nan": [float("nan"), float("inf"), -float("inf"), -0.0],
    "empty": [(), [], {}, set(), frozenset()],
    "nested": {("a", 1): [{"b": {1, 2}}, (None,), frozenset({True})]},
}


REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "an argument with a representation of its own": (
        takes_anything,
        {"arguments": {"a": Hostile("x")}},
        "the argument a is a Hostile",
    ),
    "an argument whose name has a representation of its own": (
        takes_anything,
        {"arguments": {Hostile("x"): 1}},
        "the name of an argument is a Hostile",
    ),
    "an argument whose name is a number": (takes_anything, {"arguments": {1: 1}}, "cannot be called with these"),
    "an argument that contains itself": (takes_anything, {"arguments": {"a": LOOP}}, "the argument a contains itself"),
    "a file whose name begins with two dots": (
        doubled,
        {"arguments": {"value": 1}, "files": ["..data"]},
        "begins with two dots",
    ),
    "a file and a folder of one name": (
        doubled,
        {"arguments": {"value": 1}, "files": ["c/b", "b"]},
        "b would be a file and a folder",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_travel(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    function, more, said = REFUSED[case]
    monkeypatch.chdir(tmp_path)
    for folder in ("b", "c"):
        Path(folder).mkdir()
    for name in ("b/a.txt", "c/b", "..data"):
        Path(name).write_text("a")
    with pytest.raises(CannotShip, match=said):
        shipped(function, **more)


def test_arguments_are_data_whatever_they_are_called_and_say(tmp_path: Path) -> None:
    found = json.loads(run(shipped(takes_anything, arguments=DATA), tmp_path))
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        assert found == {name: repr(value) for name, value in DATA.items()}
    finally:
        sys.set_int_max_str_digits(before)


def test_a_function_called_like_a_type_does_not_change_what_arguments_are(tmp_path: Path) -> None:
    def set(value: object) -> str:
        return f"own {value}"

    def float(value: object) -> str:
        return set(value)

    def shadows(given: object) -> None:
        print(given, set(1), float(2))

    given = [{1}, (2,), 1e999, {*()}]
    assert run(shipped(shadows, arguments={"given": given}), tmp_path) == "[{1}, (2,), inf, set()] own 1 own 2\n"
