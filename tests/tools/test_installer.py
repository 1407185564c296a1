"""The installer takes what is pinned with its hash, as a wheel, from the index; everything else it refuses."""

from __future__ import annotations

import base64
import hashlib
import platform
import sys
import tarfile
import zipfile
from collections.abc import Callable
from importlib.metadata import distributions
from io import BytesIO
from pathlib import Path

import pytest

from tools.installer import CannotMake, Recipe, make, surroundings, unpack


class Index:
    """A package index in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def wheel(self, name: str, *, needs: str | None = None, tag: str = "py3-none-any") -> Path:
        path = self._place(name) / f"{name}-1.0-{tag}.whl"
        meta = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n" + (f"Requires-Dist: {needs}\n" if needs else "")
        files = {f"{name}.py": "", f"{name}-1.0.dist-info/METADATA": meta}
        files[f"{name}-1.0.dist-info/WHEEL"] = f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n"
        record = "".join(f"{file},sha256={_digest(text)},{len(text)}\n" for file, text in files.items())
        files[f"{name}-1.0.dist-info/RECORD"] = f"{record}{name}-1.0.dist-info/RECORD,,\n"
        with zipfile.ZipFile(path, "w") as archive:
            for file, text in files.items():
                archive.writestr(file, text)
        return self._list(path)

    def source(self, name: str, setup: str) -> Path:
        path = self._place(name) / f"{name}-1.0.tar.gz"
        files = {
            "setup.py": setup,
            "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
            f"{name}.py": "",
        }
        with tarfile.open(path, "w:gz") as archive:
            for file, text in files.items():
                entry = tarfile.TarInfo(f"{name}-1.0/{file}")
                entry.size = len(text)
                archive.addfile(entry, BytesIO(text.encode()))
        return self._list(path)

    def _place(self, name: str) -> Path:
        place = self.folder / name
        place.mkdir(parents=True, exist_ok=True)
        return place

    def _list(self, archive: Path) -> Path:
        (archive.parent / "index.html").write_text(f'<!DOCTYPE html><a href="{archive.name}">{archive.name}</a>')
        return archive


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def pin(name: str, *archives: Path) -> str:
    return " ".join(
        [f"{name}==1.0", *(f"--hash=sha256:{hashlib.sha256(one.read_bytes()).hexdigest()}" for one in archives)]
    )


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "index").as_uri())
    return Index(tmp_path / "index")


def installed(folder: Path, *, pins: str = "", sources: str | None = None) -> set[str]:
    (folder / "pins.txt").write_text(pins)
    if sources is not None:
        (folder / "sources.txt").write_text(sources)
    recipe = Recipe(
        folder / "made",
        sys.executable,
        (folder / "pins.txt",) if pins else (),
        folder / "sources.txt" if sources else None,
    )
    make(recipe, lambda line: None)
    (packages,) = recipe.folder.glob("lib/python*/site-packages")
    return {one.name for one in distributions(path=[str(packages)])}


def test_what_is_pinned_is_all_that_is_installed(index: Index, tmp_path: Path) -> None:
    good, needed = index.wheel("good", needs="needed"), index.wheel("needed")
    assert installed(tmp_path, pins=f"{pin('good', good)}\n{pin('needed', needed)}") == {"good", "needed"}


def test_pins_may_be_all_that_counts_whatever_packages_ask_of_one_another(index: Index, tmp_path: Path) -> None:
    (tmp_path / "pins.txt").write_text(pin("good", index.wheel("good", needs="what-nobody-has")))
    recipe = Recipe(tmp_path / "made", sys.executable, (tmp_path / "pins.txt",), options=("--no-deps",))
    make(recipe, lambda line: None)
    assert list(recipe.folder.glob("lib/python*/site-packages/good.py"))


def no_hash(index: Index) -> str:
    index.wheel("good")
    return pin("good")


def another_file(index: Index) -> str:
    index.wheel("good")
    return pin("good", index.wheel("other"))


def unpinned_dependency(index: Index) -> str:
    index.wheel("needed")
    return pin("good", index.wheel("good", needs="needed"))


def a_source(index: Index) -> str:
    return pin("good", index.source("good", BUILDS))


REFUSED: dict[Callable[[Index], str], str] = {
    no_hash: "hash",
    another_file: "do not use that package index",
    unpinned_dependency: "needed",
    a_source: "No matching distribution",
}


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.__name__)
def test_refused(case: Callable[[Index], str], index: Index, tmp_path: Path) -> None:
    with pytest.raises(CannotMake, match=REFUSED[case]):
        installed(tmp_path, pins=case(index))
    assert not (tmp_path / "made").exists()
    assert not (tmp_path / "made.partial").exists()


def test_a_folder_gets_the_pinned_wheels_for_another_python_than_ours(index: Index, tmp_path: Path) -> None:
    wheel = index.wheel("good", tag=f"cp39-cp39-manylinux_2_17_{platform.machine()}")
    (tmp_path / "pins.txt").write_text(pin("good", wheel))
    unpack(tmp_path / "folder", tmp_path / "pins.txt", "3.9", lambda line: None)
    assert (tmp_path / "folder" / "good.py").exists()
    with pytest.raises(CannotMake, match="No matching distribution"):
        unpack(tmp_path / "other", tmp_path / "pins.txt", "3.8", lambda line: None)


BUILDS = "from setuptools import setup; setup(name='client', version='1.0', py_modules=['client'])"


def test_a_pinned_source_is_built_with_pinned_tools(index: Index, tmp_path: Path) -> None:
    assert installed(tmp_path, sources=pin("client", index.source("client", BUILDS))) == {"client"}


def test_a_source_is_built_even_where_an_earlier_build_is_kept(index: Index, tmp_path: Path) -> None:
    """A wheel in pip's cache once hid that its source could no longer be built anywhere else."""
    source = index.source(
        "client", f"import pathlib; pathlib.Path({str(tmp_path / 'built')!r}).open('a').write('x')\n{BUILDS}"
    )
    installed(tmp_path, sources=pin("client", source))
    once = len((tmp_path / "built").read_text())
    (tmp_path / "again").mkdir()
    installed(tmp_path / "again", sources=pin("client", source))
    assert len((tmp_path / "built").read_text()) == 2 * once


def test_a_source_that_needs_other_tools_is_refused(index: Index, tmp_path: Path) -> None:
    with pytest.raises(CannotMake, match="no_such_tool"):
        installed(tmp_path, sources=pin("client", index.source("client", f"import no_such_tool\n{BUILDS}")))


def test_what_a_person_told_pip_and_python_about_packages_does_not_count() -> None:
    index = {"PIP_INDEX_URL": "a", "PIP_CERT": "b", "PIP_NO_CACHE_DIR": "1", "HTTPS_PROXY": "c", "PATH": "d"}
    astray = dict.fromkeys(
        ("PIP_FIND_LINKS", "PIP_TARGET", "PIP_CONSTRAINT", "PIP_USER", "PYTHONPATH", "PYTHONHOME"), "x"
    )
    assert surroundings(index | astray) == index


def test_an_environment_is_made_anew_when_its_pins_change_and_only_then(index: Index, tmp_path: Path) -> None:
    first, second = index.wheel("first"), index.wheel("second")
    assert installed(tmp_path, pins=pin("first", first)) == {"first"}
    made = (tmp_path / "made").stat().st_ino
    assert installed(tmp_path, pins=pin("first", first)) == {"first"}
    assert (tmp_path / "made").stat().st_ino == made
    assert installed(tmp_path, pins=pin("second", second)) == {"second"}
