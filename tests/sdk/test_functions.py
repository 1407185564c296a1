"""Jobs from functions: what travels, as source and never as a pickle, and what is refused."""

from __future__ import annotations

import functools
import json
import os.path
import xml.etree.ElementTree
from collections.abc import Callable
from json import dumps as as_json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from paddlejob.errors import CannotShip
from paddlejob.sdk.functions import MOST_BYTES, PROGRAM
from tests import builders
from tests.sdk.shipping import run, shipped

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
    "a file with the program's name": (doubled, {"arguments": {"value": 1}, "files": [PROGRAM]}, "two files"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_travel(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    function, more, said = REFUSED[case]
    monkeypatch.chdir(tmp_path)
    Path("b").mkdir()
    for name in ("a.txt", "b/a.txt", PROGRAM):
        Path(name).write_text("a")
    Path("image.png").write_bytes(b"\x89PNG")
    with pytest.raises(CannotShip, match=said):
        shipped(function, **more)


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
