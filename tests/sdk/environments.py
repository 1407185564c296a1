"""Environments in which the package is installed for real: with PaddlePaddle 2.6, with 3.x, and without.

What takes long (Paddle, our dependencies) is kept in the user's cache. A test gets a copy made of hard links, with the
layout that pip made, installs into it as a user does, and throws it away.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.paddle_env import VERSION, Say, base_python, cache, lock, paddle_python, put_in_place

ROOT = Path(__file__).parents[2]
RELEASES = (VERSION, "3.3.1", None)
STAMP = "dependencies.sha256"
# As pip asks for it (PEP 660), in the environment that has the build backend.
BUILD_EDITABLE = "import sys; from hatchling.build import build_editable; build_editable(sys.argv[1])"


def prepared(release: str | None, say: Say = print) -> Path:
    """The cached environment: what the package needs, but not the package; PaddlePaddle too unless None."""
    base, version = base_python()
    home = cache() / "sdk"
    folder = home / f"{release or 'none'}-py{version}"
    made_from = paddle_python(say, release).parents[1] if release else None
    wanted = hashlib.sha256(f"{_dependencies()} {made_from and _stamp(made_from)}".encode()).hexdigest()
    if _stamp(folder) != wanted:
        home.mkdir(parents=True, exist_ok=True)
        with lock(home / f".{folder.name}.lock", say):
            if _stamp(folder) != wanted:
                say(f"Making an environment for the SDK's tests in {folder}")
                _make(base, made_from, folder, wanted)
    return folder


def _make(base: str, made_from: Path | None, folder: Path, wanted: str) -> None:
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    if made_from:
        _copy(made_from, partial)
    else:
        subprocess.run([base, "-m", "venv", str(partial)], check=True)
    pins = partial / "pins.txt"
    pins.write_text(_pins())
    pip(partial, "install", "--only-binary=:all:", "--constraint", str(pins), *_dependencies())
    (partial / STAMP).write_text(wanted)
    put_in_place(folder, partial)


def _stamp(folder: Path) -> str | None:
    for name in (STAMP, "requirements.sha256"):
        if (folder / name).exists():
            return (folder / name).read_text()
    return None


def _dependencies() -> list[str]:
    listed = re.search(r"^dependencies = \[(.*?)^\]", (ROOT / "pyproject.toml").read_text(), re.DOTALL | re.MULTILINE)
    assert listed is not None
    return re.findall(r'^\s*"(.*)",$', listed[1], re.MULTILINE)


def _pins() -> str:
    """Our pinned versions without their hashes, which pip refuses in constraints of what it may choose."""
    lines = (ROOT / "requirements-dev.txt").read_text().splitlines()
    pins = [line.rstrip(" \\") for line in lines if re.match(r"[a-z]", line)]
    return "\n".join(re.sub(r"\[.*?\]", "", line) for line in pins)


def _copy(made_from: Path, to: Path) -> None:
    shutil.copytree(made_from, to, symlinks=True, copy_function=os.link)


def pip(environment: Path, *args: str) -> None:
    python = str(environment / "bin" / "python")
    command = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", *args]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def environment(release: str | None, wheel: Path) -> Iterator[Path]:
    """A fresh environment in which this wheel is installed, beside PaddlePaddle unless None; gone afterwards."""
    source = prepared(release)
    with tempfile.TemporaryDirectory(prefix="run-", dir=source.parent) as place:
        made = Path(place) / "env"
        _copy(source, made)
        pip(made, "install", "--no-deps", "--no-index", str(wheel))
        yield made


def build(folder: Path, *, editable: bool) -> Path:
    """Our wheel, as `pip install .` and `pip install -e .` make it."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    if editable:
        command = [sys.executable, "-c", BUILD_EDITABLE, str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    (wheel,) = folder.glob("*.whl")
    return wheel


if __name__ == "__main__":
    for one in RELEASES:
        print(prepared(one, lambda line: print(line, flush=True)))
