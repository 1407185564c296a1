"""The layers of our images, made once and kept in the user's cache: Debian, Python packages, files of this checkout.

A layer is named after all that it is made from. Packages are the pinned wheels for the image's Python, whichever Python
this machine has.
"""

import hashlib
import platform
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.node import debian
from tests.node.oci import Layer, layer_of
from tools.installer import Say, build, build_sources, cache, run, unpack

SITE = Path("usr/local/lib") / f"python{debian.PYTHON}" / "dist-packages"
SCRIPTS = Path("usr/local/bin")
NOT_NEEDED = ("./dev/*", "./var/cache/*", "./var/lib/apt/lists/*", "./usr/share/doc/*", "./usr/share/man/*")

Fill = Callable[[Path], None]


def system(say: Say) -> Layer:
    """What all images stand on."""
    tar = _path("debian", [debian.MADE_FROM])
    if not tar.exists():
        _tar(debian.root(say), tar, [f"--exclude={each}" for each in NOT_NEEDED], say)
    return layer_of(tar)


def packages(name: str, pins: Path, say: Say, *, sources: Path | None = None, site: Path = SITE) -> Layer:
    """The Python packages that a requirements file pins; `sources` are pinned too, but have to be built."""

    def fill(root: Path) -> None:
        unpack(root / site, pins, debian.PYTHON, say)
        if sources:
            with TemporaryDirectory() as wheels:
                build_sources(sources, Path(wheels), say)
                for wheel in Path(wheels).iterdir():
                    unpack(root / site, wheel, debian.PYTHON, say)

    texts = [pins.read_text(), sources.read_text() if sources else "", str(site)]
    return _with_packages(name, texts, fill, site, say)


def our_package(say: Say) -> Layer:
    """This checkout's own wheel: it is built each time, and tells by its bytes whether the layer is still current."""
    with TemporaryDirectory() as folder:
        wheel = build(Path(folder), say)
        texts = [hashlib.sha256(wheel.read_bytes()).hexdigest()]

        def fill(root: Path) -> None:
            unpack(root / SITE, wheel, debian.PYTHON, say)

        return _with_packages("paddlejob", texts, fill, SITE, say)


def program(name: str, folder: str, sources: Mapping[str, Path], say: Say) -> Layer:
    """Files of this checkout, by their names in a folder of the image."""

    def fill(root: Path) -> None:
        place = root / folder.lstrip("/")
        place.mkdir(parents=True)
        for target, source in sources.items():
            shutil.copyfile(source, place / target)

    texts = [folder, *(f"{target}\0{source.read_text()}" for target, source in sources.items())]
    return _kept(name, texts, fill, say)


def _with_packages(name: str, texts: Sequence[str], install: Fill, site: Path, say: Say) -> Layer:
    def fill(root: Path) -> None:
        install(root)
        _move_scripts(root / site / "bin", root / SCRIPTS)
        debian.compile_packages(root / site, site, say)

    return _kept(name, [debian.MADE_FROM, *texts], fill, say)


def _kept(name: str, made_from: Sequence[str], fill: Fill, say: Say) -> Layer:
    tar = _path(name, made_from)
    if not tar.exists():
        say(f"making the layer {name}")
        tar.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=tar.parent) as scratch:
            root = Path(scratch) / "root"
            root.mkdir(mode=0o755)
            fill(root)
            _tar(root, tar, ["--mtime=@0", "--owner=0", "--group=0"], say)
    return layer_of(tar)


def _path(name: str, made_from: Sequence[str]) -> Path:
    digest = hashlib.sha256("\0".join([platform.machine(), *made_from]).encode())
    return cache() / "images" / f"{name}-{digest.hexdigest()[:16]}.tar"


def _tar(root: Path, to: Path, flags: Sequence[str], say: Say) -> None:
    partial = to.with_suffix(".partial")
    how = ["--sort=name", "--numeric-owner", "--format=pax", "--pax-option=delete=atime,delete=ctime", *flags]
    run(["tar", *how, "-C", str(root), "-cf", str(partial), "."], f"writing the layer {to.name}", say)
    partial.rename(to)


def _move_scripts(source: Path, to: Path) -> None:
    """Such as `paddlejob`. pip names the Python that ran it in their first line."""
    to.mkdir(parents=True)
    for script in source.iterdir() if source.exists() else ():
        first, newline, rest = script.read_bytes().partition(b"\n")
        if first.startswith(b"#!") and b"python" in first:
            (to / script.name).write_bytes(b"#!/usr/bin/python3" + newline + rest)
            (to / script.name).chmod(0o755)
    shutil.rmtree(source, ignore_errors=True)
