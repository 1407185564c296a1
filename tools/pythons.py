"""Prints the Pythons of this machine that we support, one a line, newest last: those on PATH, and pyenv's.

`make pythons` runs the tests on each.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SUPPORTED = ("3.10", "3.11", "3.12", "3.13")


def main() -> None:
    missing = []
    for version in SUPPORTED:
        found = next((python for python in candidates(version) if is_usable(python, version)), None)
        if found:
            print(found)
        else:
            missing.append(version)
    if missing:
        print(f"not on this machine, so not tried: Python {', '.join(missing)}", file=sys.stderr)


def candidates(version: str) -> Iterator[str]:
    if on_path := shutil.which(f"python{version}"):
        yield on_path
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for folder in sorted(pyenv.glob(f"versions/{version}.*"), reverse=True):
        yield str(folder / "bin" / f"python{version}")


def is_usable(python: str, version: str) -> bool:
    """A pyenv shim is on the PATH also for versions that it refuses to start."""
    ask = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=False)
    return done.returncode == 0 and done.stdout.strip() == version


if __name__ == "__main__":
    main()
