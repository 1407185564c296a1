"""Checks the page's JavaScript by its types. `python tools/page_checks.py` runs what `make check` runs.

TypeScript is used for the check only: no file of it, and nothing from npm, is part of the page. It comes from
tools/page/package-lock.json, by its hash, into the user's cache. Standard library only.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.installer import ROOT, CannotMake, cache

PACKAGES = ROOT / "tools" / "page"
FILES = ("package.json", "package-lock.json")


def node_modules() -> Path:
    """Where the pinned packages are; installs them when they are not there."""
    pins = b"".join((PACKAGES / name).read_bytes() for name in FILES)
    folder = cache() / f"page-checks-{hashlib.sha256(pins).hexdigest()[:12]}"
    if not folder.exists():
        partial = folder.with_name(f"{folder.name}.{os.getpid()}")
        partial.mkdir(parents=True)
        for name in FILES:
            shutil.copy(PACKAGES / name, partial)
        try:
            _run([program("npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], partial)
            partial.rename(folder)
        except OSError:
            if not folder.exists():  # otherwise another process was faster
                raise
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return folder / "node_modules"


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise CannotMake(
            f"TypeScript checks the types of the page's JavaScript; it needs Node.js, and there is no {name} on PATH."
            " Install it, for example by `sudo apt install nodejs npm` or `brew install node`."
        )
    return found


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotMake(f"{' '.join(command)} failed with exit code {done.returncode}:\n{done.stdout}{done.stderr}")


def main() -> int:
    try:
        tsc = node_modules() / "typescript" / "bin" / "tsc"
        return subprocess.run([program("node"), str(tsc), "-p", str(PACKAGES)], check=False).returncode
    except CannotMake as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
