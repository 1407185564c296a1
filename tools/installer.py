"""How a Python environment of this project is made: from pinned packages with their hashes, and from nothing else.

One small environment in the user's cache, the installer, holds pip and what builds wheels, pinned too. It installs into
all others, which are made without a pip of their own, so nothing that Python's `venv` brings can come between. What a
user's pip is told about indexes and proxies counts; what it is told about packages does not. Standard library only:
it works on a fresh machine.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ROOT / "requirements-build.txt"
STAMP = "made-from.sha256"

# Seconds between two signs of life while something slow runs.
PATIENCE = 8.0

# Of what pip and Python are told by the environment, only how to reach a package index counts.
INDEX = ("CONFIG_FILE", "INDEX_URL", "EXTRA_INDEX_URL", "TRUSTED_HOST", "CERT", "CLIENT_CERT")
KEPT = {f"PIP_{name}" for name in (*INDEX, "PROXY", "TIMEOUT", "DEFAULT_TIMEOUT", "CACHE_DIR", "NO_CACHE_DIR")}

# What wheels call Linux with the C library of Debian 12, or any older one.
GLIBC = [f"manylinux_2_{minor}" for minor in range(36, 4, -1)] + ["manylinux2014", "manylinux2010", "manylinux1"]

# As pip asks for it (PEP 517 and 660).
HOOK = "import sys; import hatchling.build; getattr(hatchling.build, sys.argv[1])(sys.argv[2])"

Say = Callable[[str], object]


class CannotMake(Exception):
    """The environment cannot be made; the message says what to do."""


@dataclass(frozen=True)
class Recipe:
    """One environment: where it is, and all that it is made from."""

    folder: Path
    base: str
    pins: tuple[Path, ...]
    # Pinned too, but there are no wheels of it: built by the installer.
    sources: Path | None = None
    # An environment that it begins as a copy of, or whose packages it sees beside its own: made before it.
    copy_of: Recipe | None = None
    borrows: Recipe | None = None
    # This project itself, as `pip install -e` does it.
    project: bool = False
    # What pip is told beside that.
    options: tuple[str, ...] = ()
    proof: str = "pass"

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"


def cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "paddle-operator"


def make(recipe: Recipe, say: Say = print) -> Path:
    """The environment's Python. Makes it first when there is none, or when what it is made from has changed."""
    for other in _stands_on(recipe):
        make(other, say)
    folder, wanted = recipe.folder, _made_from(recipe)
    if not _is_current(folder, wanted):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _lock(folder.parent / f".{folder.name}.lock", say):
            if not _is_current(folder, wanted):  # else somebody made it while this process waited
                _make(recipe, wanted, say)
    return recipe.python


def install(folder: Path, wheel: Path, say: Say = print) -> None:
    """One wheel that was built here, into an environment that has all that it needs."""
    _pip(_installer(say), folder, "install", "--no-deps", "--no-index", str(wheel))


def uninstall(folder: Path, package: str, say: Say = print) -> None:
    _pip(_installer(say), folder, "uninstall", "--yes", package)


def unpack(into: Path, what: Path, version: str, say: Say = print) -> None:
    """Into a plain folder, for a Python that need not be on this machine: what a requirements file pins, or one wheel
    that was built here."""
    one = ["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", str(what)]
    wheels = one if what.suffix == ".whl" else _strictly(what)
    systems = (f"--platform={each}_{platform.machine()}" for each in GLIBC)
    python = ["--only-binary=:all:", "--implementation=cp", f"--python-version={version}", *systems]
    pip = [str(_installer(say)), "-m", "pip", *wheels, *python, "--no-compile", "--upgrade", f"--target={into}"]
    run(pip, "installing the packages", say)


def build(to: Path, say: Say = print, *, editable: bool = False, source: Path = ROOT) -> Path:
    """Our wheel, as `pip install .` and `pip install -e .` make it; `source` may be our sdist."""
    python = str(_installer(say))
    command = [python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-cache-dir"]
    command += ["--wheel-dir", str(to), str(source)]
    if editable:
        command = [python, "-c", HOOK, "build_editable", str(to)]
    run(command, "building the wheel", say, cwd=ROOT)
    (wheel,) = to.glob("*.whl")
    return wheel


def build_sdist(to: Path, say: Say = print) -> Path:
    """What the wheel can be built from."""
    run([str(_installer(say)), "-c", HOOK, "build_sdist", str(to)], "packing the source", say, cwd=ROOT)
    (sdist,) = to.glob("*.tar.gz")
    return sdist


def _made_from(recipe: Recipe) -> str:
    digest = hashlib.sha256(" ".join((_version(recipe.base), recipe.proof, *recipe.options)).encode())
    files = [TOOLS, *recipe.pins]
    files += [recipe.sources] if recipe.sources else []
    files += [ROOT / "pyproject.toml"] if recipe.project else []
    files += [other.folder / STAMP for other in _stands_on(recipe)]
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _stands_on(recipe: Recipe) -> list[Recipe]:
    return [other for other in (recipe.copy_of, recipe.borrows) if other]


def _version(python: str) -> str:
    return subprocess.run([python, "-VV"], capture_output=True, text=True, check=True).stdout


def _is_current(folder: Path, wanted: str) -> bool:
    stamp = folder / STAMP
    return (folder / "bin" / "python").exists() and stamp.exists() and stamp.read_text() == wanted


@contextmanager
def _lock(path: Path, say: Say) -> Iterator[None]:
    with path.open("w") as file:
        waited = 0.0
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if waited % PATIENCE == 0:
                    say(f"Another process is making {path.name[1:-5]}; waiting for it")
                time.sleep(0.5)
                waited += 0.5
        yield


def _make(recipe: Recipe, wanted: str, say: Say) -> None:
    """Builds beside the final place and renames, so that nobody ever sees half an environment."""
    began = time.monotonic()
    folder = recipe.folder
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    installer = _installer(say)
    try:
        say(f"Making {folder}")
        _lay_out(recipe, partial, say)
        with tempfile.TemporaryDirectory() as wheels:
            for pins in recipe.pins:
                _pip(installer, partial, *_strictly(pins), *recipe.options, say=say)
            if recipe.sources:
                build_sources(recipe.sources, Path(wheels), say)
            if recipe.project:
                build(Path(wheels), say, editable=True)
            for wheel in Path(wheels).glob("*.whl"):
                _pip(installer, partial, "install", "--no-deps", "--no-index", str(wheel), say=say)
        run([str(partial / "bin" / "python"), "-c", recipe.proof], "the first start", say)
        _finish(partial, folder, wanted)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    say(f"{folder.name} is ready ({time.monotonic() - began:.0f} s)")


def copy(environment: Path, to: Path) -> None:
    """Made of hard links: quick and small. Whoever changes a file of it must replace the file."""
    shutil.copytree(environment, to, symlinks=True, copy_function=os.link)
    _rename_in_scripts(environment, to, within=to)


def _lay_out(recipe: Recipe, partial: Path, say: Say) -> None:
    if recipe.copy_of:
        copy(recipe.copy_of.folder, partial)
        return
    run([recipe.base, "-m", "venv", "--without-pip", str(partial)], "making the environment", say)
    if recipe.borrows:
        (theirs,) = recipe.borrows.folder.glob("lib/python*/site-packages")
        (own,) = partial.glob("lib/python*/site-packages")
        (own / "borrowed.pth").write_text(f"{theirs}\n")


def _installer(say: Say) -> Path:
    """The Python that has pip and what builds wheels, at the versions that we pin."""
    base, version = os.path.realpath(_base_executable()), f"{sys.version_info[0]}.{sys.version_info[1]}"
    folder = cache() / f"installer-py{version}"
    wanted = _made_from(Recipe(folder, base, ()))
    if not _is_current(folder, wanted):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _lock(folder.parent / f".{folder.name}.lock", say):
            if not _is_current(folder, wanted):
                _bootstrap(base, folder, wanted, say)
    return folder / "bin" / "python"


def _base_executable() -> str:
    return str(getattr(sys, "_base_executable", sys.executable))


def _bootstrap(base: str, folder: Path, wanted: str, say: Say) -> None:
    """Python's own bundled pip does nothing but fetch the pinned one; what else came with it goes."""
    say(f"Making {folder}, which installs all others")
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        run([base, "-m", "venv", str(partial)], "making the installer", say)
        python = str(partial / "bin" / "python")
        run([python, "-m", "pip", *_strictly(TOOLS)], "installing the installer", say)
        _finish(partial, folder, wanted)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _strictly(pins: Path) -> list[str]:
    """Wheels only, each with a hash that is written down; nothing that is not."""
    how = ["--quiet", "--disable-pip-version-check", "--no-input", "--only-binary=:all:"]
    return ["install", *how, "--require-hashes", "--requirement", str(pins)]


def build_sources(sources: Path, wheels: Path, say: Say) -> None:
    """Never from a wheel that an earlier build left in pip's cache: it hides what no longer builds."""
    how = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--no-cache-dir"]
    pip = [str(_installer(say)), "-m", "pip", "wheel", *how, "--no-binary=:all:", "--require-hashes"]
    run([*pip, "--wheel-dir", str(wheels), "--requirement", str(sources)], f"building {sources.name}", say)


def _pip(installer: Path, into: Path, *args: str, say: Say = print) -> None:
    pip = [str(installer), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    run([*pip, "--python", str(into / "bin" / "python"), *args], f"installing into {into.name}", say)


def run(command: list[str], doing: str, say: Say, cwd: Path | None = None) -> None:
    """Runs a slow command, with a sign of life every few seconds; when it fails, its last lines are the message."""
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as output:
        nothing, env = subprocess.DEVNULL, surroundings(os.environ)
        with subprocess.Popen(command, cwd=cwd, env=env, stdin=nothing, stdout=output, stderr=output) as process:
            try:
                while _still_runs(process):
                    say(f"  ... still {doing}, {time.monotonic() - began:.0f} s")
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            raise CannotMake(_explain(doing, process.returncode, _tail(output)))


def surroundings(env: Mapping[str, str]) -> dict[str, str]:
    """Without what would lead pip or Python to other packages than the pinned ones."""
    astray = ("PIP_", "PYTHON", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
    return {name: value for name, value in env.items() if name in KEPT or not name.startswith(astray)}


def _still_runs(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        return True
    return False


def _tail(output: IO[str]) -> str:
    output.seek(0)
    return "\n".join(output.read().splitlines()[-12:])


def _explain(doing: str, code: int, tail: str) -> str:
    hints = {
        "libgomp": "Install the OpenMP library, for example by `sudo apt install libgomp1`.",
        "ensurepip": "Python's venv module is incomplete: on Debian and Ubuntu, `sudo apt install python3-venv`.",
        "No space left": "Free some space (about 700 MB), or point XDG_CACHE_HOME or TMPDIR to a larger disk.",
        "No matching distribution": "There may be no wheel of it for this machine and Python (PaddlePaddle has some for"
        " x86-64 Linux), or pip cannot reach its package index: see `pip config list`.",
        "HASHES": "A package differs from its pin: do not use that package index.",
    }
    hint = "".join(f"\n{advice}" for sign, advice in hints.items() if sign in tail)
    return f"{doing} failed with exit code {code}:\n{tail}{hint}"


def _finish(partial: Path, folder: Path, wanted: str) -> None:
    _rename_in_scripts(partial, folder, within=partial)
    (partial / STAMP).unlink(missing_ok=True)  # it may be a hard link to another environment's
    (partial / STAMP).write_text(wanted)
    old = folder.with_name(f"{folder.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    partial.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _rename_in_scripts(before: Path, after: Path, *, within: Path) -> None:
    """Scripts such as bin/fleetrun hold the environment's path: give them the one it will have."""
    for script in (within / "bin").iterdir():
        if script.is_symlink() or not script.is_file():
            continue
        text = script.read_bytes()
        if bytes(before) in text:
            script.unlink()  # it may be a hard link to another environment's
            script.write_bytes(text.replace(bytes(before), bytes(after)))
            script.chmod(0o755)
