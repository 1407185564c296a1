"""Every Python environment that this project makes, by name. `python tools/environments.py NAME …` makes them.

PaddlePaddle has environments of its own, because it wants older versions of several packages and exists for fewer
Pythons than we support. They are kept in the user's cache, where `paddlejob run` finds the first of them; what belongs
to a checkout (`dev`, `demo`) is kept in it. Standard library only: it works on a fresh machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache as once
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.installer import ROOT, CannotMake, Recipe, Say, cache, make

PADDLE = "2.6.2"  # the newest that can be a parameter server: the examples run in it
PADDLE_3 = "3.3.1"
SUPPORTED = ("3.12", "3.11", "3.10")
EXAMPLES = ROOT / "examples"
RUNTIME = ROOT / "requirements.txt"
TOOLKITS = ROOT / "tests" / "training" / "requirements"
PADDLE_PINS = {PADDLE: EXAMPLES / "requirements-paddle.txt", PADDLE_3: EXAMPLES / "requirements-paddle-3.txt"}


def dev() -> Recipe:
    """What runs the tests and the checks."""
    return Recipe(_in_checkout(""), sys.executable, (ROOT / "requirements-dev.txt",), project=True)


def demo() -> Recipe:
    """What `make demo` leaves for people to use."""
    return Recipe(_in_checkout("-demo"), sys.executable, (RUNTIME,), project=True)


def paddle(release: str = PADDLE) -> Recipe:
    base, version = base_python()
    # `paddlejob run` looks for the former by itself; in another release its examples could not run.
    home = cache() if release == PADDLE else cache() / "others"
    proof = f"import paddle; assert paddle.__version__ == {release!r}"
    return Recipe(home / f"paddle-{release}-py{version}", base, (PADDLE_PINS[release],), proof=proof)


def elastic() -> Recipe:
    """PaddlePaddle, borrowed, and a client for etcd, which wants an older protobuf than everybody else."""
    base, version = base_python()
    return Recipe(
        # Whoever looks for a Python with PaddlePaddle does not come upon this one first.
        cache() / f"elastic-paddle-{PADDLE}-py{version}",
        base,
        (EXAMPLES / "requirements-elastic.txt",),
        sources=EXAMPLES / "requirements-elastic-sources.txt",
        borrows=paddle(),
        proof="import etcd3, paddle",
    )


def sdk(release: str | None) -> Recipe:
    """What our package needs, but not the package; PaddlePaddle too unless None."""
    base, version = base_python()
    folder = cache() / "sdk" / f"{release or 'none'}-py{version}"
    return Recipe(folder, base, (RUNTIME,), copy_of=paddle(release) if release else None)


def notebook() -> Recipe:
    """What runs examples/notebook.ipynb: a kernel and matplotlib beside what our package needs."""
    base, version = base_python()
    return Recipe(
        cache() / f"notebook-py{version}",
        base,
        (EXAMPLES / "requirements-notebook.txt",),
        copy_of=sdk(None),
        proof="import ipykernel, matplotlib, nbclient",
    )


def toolkit(name: str, release: str) -> Recipe:
    """What users train with, on top of PaddlePaddle; `make programs` runs it."""
    base, version = base_python()
    sources = TOOLKITS / f"{name}-sources.txt"
    return Recipe(
        cache() / "toolkits" / f"{name}-{release}-py{version}",
        base,
        (TOOLKITS / f"{name}-{release}.txt",),
        sources=sources if sources.exists() else None,
        # Nearly all that ERNIEKit asks for is the same in both versions.
        copy_of=toolkit("erniekit-1.0.1", release) if name == "erniekit" else paddle(release),
        # The pins are all of it: what toolkits ask for contradicts itself here and there. Of their modules most are
        # never imported; Python compiles those that are.
        options=("--no-deps", "--no-compile"),
    )


def browser() -> Recipe:
    """What drives a browser in the tests of the page, which borrow it: of the Python that runs them."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    pins = ROOT / "tests" / "ui" / "requirements.txt"
    return Recipe(cache() / f"browser-py{version}", sys.executable, (pins,), proof="import playwright.sync_api")


ALL: dict[str, Callable[[], Recipe]] = {
    "dev": dev,
    "browser": browser,
    "demo": demo,
    f"paddle-{PADDLE}": paddle,
    f"paddle-{PADDLE_3}": lambda: paddle(PADDLE_3),
    "elastic": elastic,
    f"sdk-{PADDLE}": lambda: sdk(PADDLE),
    f"sdk-{PADDLE_3}": lambda: sdk(PADDLE_3),
    "sdk-none": lambda: sdk(None),
    "notebook": notebook,
}
# Too large for `make test`: only `make programs` makes them.
LARGE: dict[str, Callable[[], Recipe]] = {
    f"{name}-{release}": partial(toolkit, name, release)
    for name in ("paddleformers", "erniekit-1.0.1", "erniekit", "paddleseg", "paddlenlp")
    for release in (PADDLE, PADDLE_3)
}
ALL |= LARGE


def python_of(name: str, say: Say = print) -> Path:
    """The Python of the environment of this name; makes it, and what it stands on, when it is not there."""
    return make(ALL[name](), say)


def _in_checkout(suffix: str) -> Path:
    """$VENV names another folder than `.venv`."""
    return ROOT / f"{os.environ.get('VENV') or '.venv'}{suffix}"


@once
def base_python() -> tuple[str, str]:
    """A Python that PaddlePaddle exists for: this one if possible, else one from PATH."""
    found = (path for path in (shutil.which(f"python{version}") for version in SUPPORTED) if path)
    for python in (sys.executable, *found):
        version = _usable_version(python)
        if version:
            return python, version
    raise CannotMake(
        f"PaddlePaddle {PADDLE} needs Python {SUPPORTED[-1]} to {SUPPORTED[0]} with its venv module, and neither"
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


def main() -> int:
    try:
        for name in sys.argv[1:]:
            print(python_of(name, lambda line: print(line, flush=True)))
    except KeyError as error:
        print(f"there is no environment {error}, only {', '.join(ALL)}", file=sys.stderr)
        return 2
    except CannotMake as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; nothing was left behind", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
