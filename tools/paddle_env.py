"""Makes a Python environment with PaddlePaddle in the user's cache, once, and prints the path of its Python.

The examples run in the one with 2.6.2, the newest that can be a parameter server. It is not the project's own
environment, because PaddlePaddle wants older versions of several packages and exists for fewer Pythons. Standard
library only: `python tools/paddle_env.py` works on a fresh machine.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

VERSION = "2.6.2"
SUPPORTED = ("3.12", "3.11", "3.10")
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
REQUIREMENTS = {
    VERSION: EXAMPLES / "requirements-paddle.txt",
    "3.3.1": EXAMPLES / "requirements-paddle-3.txt",
}
STAMP = "requirements.sha256"

# Seconds between two signs of life while something slow runs.
PATIENCE = 10.0

Say = Callable[[str], object]


class PaddleEnvironmentError(Exception):
    """The environment cannot be made; the message says what to do."""


def cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "paddle-operator"


def paddle_python(say: Say = print, release: str = VERSION) -> Path:
    """The Python that has PaddlePaddle. Makes its environment first when there is none, or when the pins changed."""
    base, version = base_python()
    # `paddlejob run` looks for the former by itself; in another release its examples could not run.
    home = cache() if release == VERSION else cache() / "others"
    folder = home / f"paddle-{release}-py{version}"
    if not _is_current(folder, release):
        home.mkdir(parents=True, exist_ok=True)
        with lock(home / f".{folder.name}.lock", say):
            if not _is_current(folder, release):  # else somebody made it while this process waited
                _make(base, folder, release, say)
    return folder / "bin" / "python"


def base_python() -> tuple[str, str]:
    """A Python that PaddlePaddle exists for: this one if possible, else one from PATH."""
    found = (path for path in (shutil.which(f"python{version}") for version in SUPPORTED) if path)
    for python in (sys.executable, *found):
        version = _usable_version(python)
        if version:
            return python, version
    raise PaddleEnvironmentError(
        f"PaddlePaddle {VERSION} needs Python {SUPPORTED[-1]} to {SUPPORTED[0]} with its venv module, and neither"
        f" {sys.executable} nor a python{', python'.join(SUPPORTED)} on PATH is one. Install one of them, for example"
        " by `sudo apt install python3 python3-venv` (Debian 12, Ubuntu 22.04 and 24.04), `brew install python@3.12`"
        " or `pyenv install 3.12`."
    )


def _usable_version(python: str) -> str | None:
    """The version of an interpreter that can make the environment; a pyenv shim or a Debian without venv cannot."""
    ask = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    try:
        answer = subprocess.run([python, "-c", ask], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    version = answer.stdout.strip()
    return version if version in SUPPORTED else None


def _is_current(folder: Path, release: str) -> bool:
    stamp = folder / STAMP
    return (folder / "bin" / "python").exists() and stamp.exists() and stamp.read_text() == _wanted(release)


def _wanted(release: str) -> str:
    return hashlib.sha256(REQUIREMENTS[release].read_bytes()).hexdigest()


@contextmanager
def lock(path: Path, say: Say) -> Iterator[None]:
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another process is making the PaddlePaddle environment; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make(base: str, folder: Path, release: str, say: Say) -> None:
    """Builds beside the final place and renames, so that nobody ever sees half an environment."""
    began = time.monotonic()
    partial = folder.with_name(f"{folder.name}.partial")
    python = str(partial / "bin" / "python")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        say(f"Making a Python environment for PaddlePaddle {release} in {folder} (once; needs about 700 MB)")
        run([base, "-m", "venv", str(partial)], "making the environment", say)
        say(f"Installing PaddlePaddle {release} (fetches about 150 MB; half a minute on a fast network)")
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"]
        run([*install, "--require-hashes", "-r", str(REQUIREMENTS[release])], "installing", say)
        say("Checking that PaddlePaddle starts")
        run([python, "-c", f"import paddle; assert paddle.__version__ == '{release}'"], "the first import", say)
        _name_final_place(partial, folder)
        (partial / STAMP).write_text(_wanted(release))
        put_in_place(folder, partial)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    say(f"PaddlePaddle {release} is ready ({time.monotonic() - began:.0f} s)")


def run(command: list[str], doing: str, say: Say) -> None:
    """Runs a slow command, with a sign of life every few seconds; when it fails, its last lines are the message."""
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as output:
        with subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL) as process:
            try:
                while _still_runs(process):
                    say(f"  ... still {doing}, {time.monotonic() - began:.0f} s")
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            raise PaddleEnvironmentError(_explain(doing, process.returncode, _tail(output)))


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
        "No space left": "Free some space (about 700 MB), or point XDG_CACHE_HOME or TMPDIR to a larger disk.",
        "No matching distribution": "There may be no PaddlePaddle wheel of this release for this machine (x86-64 Linux"
        " has one), or pip cannot reach its package index: see `pip config list`.",
        "HASHES": "A package differs from its pin in examples/requirements-paddle*.txt: do not use that package index.",
    }
    hint = "".join(f"\n{advice}" for sign, advice in hints.items() if sign in tail)
    return f"PaddlePaddle's environment cannot be made: {doing} failed with exit code {code}:\n{tail}{hint}"


def _name_final_place(partial: Path, folder: Path) -> None:
    """Scripts such as bin/fleetrun hold the environment's path: give them the one it will have."""
    for script in (partial / "bin").iterdir():
        if script.is_symlink() or not script.is_file():
            continue
        text = script.read_bytes()
        if bytes(partial) in text:
            script.write_bytes(text.replace(bytes(partial), bytes(folder)))


def put_in_place(folder: Path, partial: Path) -> None:
    old = folder.with_name(f"{folder.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    partial.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def main() -> int:
    try:
        for release in sys.argv[1:] or [VERSION]:
            print(paddle_python(lambda line: print(line, flush=True), release))
    except KeyError as error:
        print(f"there are no pins for PaddlePaddle {error}, only for {', '.join(REQUIREMENTS)}", file=sys.stderr)
        return 2
    except PaddleEnvironmentError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; nothing was left behind", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
