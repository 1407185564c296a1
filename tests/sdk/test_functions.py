"""Jobs from functions: what travels, as source and never as a pickle, and what is refused."""

from __future__ import annotations

import functools
import json
import os.path
import re
import subprocess
import sys
import xml.etree.ElementTree
from collections.abc import Callable
from json import dumps as as_json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from paddlejob import PaddleJob
from paddlejob.errors import CannotShip
from paddlejob.sdk.functions import MOST_BYTES, PROGRAM
from tests import builders

if TYPE_CHECKING:
    from decimal import Decimal

RATE = 0.5
SIZES = {"small": [1, 2], "odd": (3,), "set": {4}, "none": None, "inf": float("inf"), "bytes": b"\0"}
HANDLE = object()


def doubled(value: int) -> int:
    return 2 * value if value < 100 else doubled(value // 2)


class Animal:
    sound = "?"

    def speak(self) -> str:
        return self.sound


class Dog(Animal):
    sound = "woof"


def twice(function: Callable[..., int]) -> Callable[..., int]:
    @functools.wraps(function)
    def called(*args: Any) -> int:
        return function(*args) + function(*args)

    return called


@twice
def decorated(value: int) -> int:
    return doubled(value)


def uses_much(times: int, name: str = "x", price: Decimal | None = None) -> None:
    RATE_OF_MINE = RATE * times  # noqa: N806 - a local that looks like a global is the case
    root = xml.etree.ElementTree.fromstring("<a><b/></a>")
    found = {
        "rate": RATE_OF_MINE,
        "sizes": repr(SIZES),
        "doubled": doubled(times),
        "decorated": decorated(times),
        "dog": Dog().speak(),
        "path": os.path.sep,
        "children": len(root),
        "name": name,
        "comprehended": [doubled(each) for each in range(3)],
        "price": price,
    }
    print(as_json(found))


def run(job: PaddleJob, folder: Path) -> str:
    """What a pod of the job would print: the ConfigMap's files, run by a Python that knows nothing of us."""
    (code,) = job.description.beside
    worker = job.description.document["spec"]["worker"]["template"]["spec"]
    items = next(one for one in worker["volumes"] if "configMap" in one)["configMap"]["items"]
    for item in items:
        path = folder / item["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code["data"][item["key"]])
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-c",
            f"import sys, runpy; sys.path.insert(0, '.'); runpy.run_path('{PROGRAM}', run_name='__main__')",
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def shipped(function: Callable[..., object], **more: Any) -> PaddleJob:
    return PaddleJob.from_function(function, runtime_image="python:3.11", **more)


def test_a_function_takes_along_what_it_uses(tmp_path: Path) -> None:
    job = shipped(uses_much, arguments={"times": 4, "name": "it's"})
    assert job.job_name == "uses-much"
    assert json.loads(run(job, tmp_path)) == {
        "rate": 2.0,
        "sizes": repr(SIZES),
        "doubled": 8,
        "decorated": 16,
        "dog": "woof",
        "path": "/",
        "children": 1,
        "name": "it's",
        "comprehended": [0, 2, 4],
        "price": None,
    }


def test_a_closure_takes_its_values_along(tmp_path: Path) -> None:
    greeting = "hello"

    def helper() -> str:
        return greeting.upper()

    def closure() -> None:
        print(helper(), greeting)

    assert run(shipped(closure), tmp_path) == "HELLO hello\n"


def test_files_and_folders_travel_and_are_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    (here / "package" / "deep").mkdir(parents=True)
    (here / "package" / "__init__.py").write_text("from package.deep.numbers import NUMBER\n")
    (here / "package" / "deep" / "numbers.py").write_text("NUMBER = 7\n")
    (here / "words.txt").write_text("some words")
    monkeypatch.chdir(here)

    def reads() -> None:
        import package  # type: ignore[import-not-found]  # noqa: PLC0415

        with open("words.txt") as file:  # noqa: PTH123 - as people write it
            print(package.NUMBER, file.read())

    assert run(shipped(reads, files=["package", "words.txt"]), tmp_path / "pod") == "7 some words\n"


def test_a_module_of_ones_own_travels_as_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_module.py").write_text("def seven() -> int:\n    return 7\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    import own_module  # type: ignore[import-not-found]  # noqa: PLC0415

    seven = own_module.seven

    def asks() -> None:
        print(own_module.seven(), seven())

    with pytest.raises(CannotShip, match=r"asks uses the module own_module.*files="):
        shipped(asks)
    assert run(shipped(asks, files=["own_module.py"]), tmp_path / "pod") == "7 7\n"


def test_the_yaml_holds_source_that_a_person_can_read() -> None:
    job = shipped(uses_much, arguments={"times": 4})
    code, paddle_job = yaml.safe_load_all(job.to_yaml())
    annotations = {"batch.paddlepaddle.org/part-of": "uses-much"}
    assert code["metadata"] == {"name": "uses-much-code", "annotations": annotations}
    assert "def doubled(value: int) -> int:" in code["data"][PROGRAM]
    assert "uses_much(times=4)" in code["data"][PROGRAM]
    container = paddle_job["spec"]["worker"]["template"]["spec"]["containers"][0]
    assert container["workingDir"] == "/paddlejob/work"
    assert "ps" not in paddle_job["spec"]


def uses_a_handle() -> None:
    print(HANDLE)


def uses_a_test_module() -> None:
    print(builders)


def cannot_be_called(needed: int) -> None:
    print(needed)


async def sleeps() -> None:
    pass


def uses_a_lambda() -> None:
    print(unnamed())


unnamed: Callable[[], int] = lambda: 1  # noqa: E731 - a function without a name is the case
partial = functools.partial(doubled, 1)


def uses_a_partial() -> None:
    print(partial())


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
    "a value that is not plain": (uses_a_handle, {}, "HANDLE, which uses_a_handle uses, is a object"),
    "a module that is not installed": (uses_a_test_module, {}, "tests.builders, which is not an installed"),
    "missing arguments": (cannot_be_called, {}, "cannot be called with these arguments"),
    "an argument that is not plain": (cannot_be_called, {"arguments": {"needed": HANDLE}}, "the argument needed is"),
    "a lambda": (lambda: None, {"job_name": "l"}, "write it with def"),
    "an object": (partial, {"job_name": "l"}, "write it with def"),
    "a coroutine": (sleeps, {}, "without async"),
    "a lambda that is used": (uses_a_lambda, {}, "unnamed, which uses_a_lambda uses"),
    "an object that is used": (uses_a_partial, {}, "partial, which uses_a_partial uses"),
    "a file that is not there": (doubled, {"arguments": {"value": 1}, "files": ["no.txt"]}, r"there is no no\.txt"),
    "a file that is no text": (doubled, {"arguments": {"value": 1}, "files": ["image.png"]}, "is not UTF-8 text"),
    "two files of one name": (doubled, {"arguments": {"value": 1}, "files": ["a.txt", "b/a.txt"]}, "two files"),
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
    "a file with the program's name": (doubled, {"arguments": {"value": 1}, "files": [PROGRAM]}, "two files"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_travel(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    function, more, said = REFUSED[case]
    monkeypatch.chdir(tmp_path)
    Path("b").mkdir()
    Path("c").mkdir()
    for name in ("a.txt", "b/a.txt", "c/b", "..data", PROGRAM):
        Path(name).write_text("a")
    Path("image.png").write_bytes(b"\x89PNG")
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


def test_an_entry_point_has_no_place_beside_a_function() -> None:
    with pytest.raises(TypeError, match="entry_point"):
        shipped(uses_a_handle, entry_point="python train.py")


def test_the_limit_of_a_config_map_is_told_before_the_cluster_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("words.txt").write_text("")
    one = {"arguments": {"value": 1}, "files": ["words.txt"]}
    room = MOST_BYTES - sum(
        len(text.encode()) for text in shipped(doubled, **one).description.beside[0]["data"].values()
    )
    Path("words.txt").write_text("x" * room)
    assert shipped(doubled, **one).job_name == "doubled"
    Path("words.txt").write_text("x" * (room - 1) + "é")
    with pytest.raises(CannotShip, match=r"are 1048577 bytes, .* the largest is words.txt"):
        shipped(doubled, **one)
