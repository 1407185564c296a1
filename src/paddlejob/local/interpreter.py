"""Which Python runs a job: the first that has PaddlePaddle, looked for where people keep it.

Nothing is imported to find out: importing Paddle takes seconds, asking whether it is there takes milliseconds.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

HOW_TO_GET_ONE = (
    "no Python with PaddlePaddle was found; a job that imports paddle will fail. Get one with"
    " `python3 -m venv ~/paddle && ~/paddle/bin/pip install paddlepaddle==2.6.2 'protobuf<5' 'numpy<2' setuptools`"
    " (3.x for jobs without parameter servers), then `paddlejob run --python ~/paddle/bin/python FILE`"
)
# To look for a part of a package by its name would import the package, so its folder is looked for.
_QUESTION = """\
import importlib.util, os, sys
paddle = importlib.util.find_spec("paddle")
places = (paddle and paddle.submodule_search_locations) or ()
sys.exit(not any(os.path.isdir(os.path.join(place, "base")) for place in places))
"""


def find_python(env: Mapping[str, str]) -> Path | None:
    """The first Python that has Paddle, None when there is none."""
    return next((one for one in _candidates(env) if has_paddle(one)), None)


def _candidates(env: Mapping[str, str]) -> Iterator[Path]:
    if said := env.get("PADDLEJOB_PYTHON"):
        yield Path(said)
    for name in ("python", "python3"):
        if found := shutil.which(name, path=env.get("PATH")):
            yield Path(found)
    # Where `make demo` and tools/paddle_env.py keep theirs.
    cache = Path(env.get("XDG_CACHE_HOME") or Path(env.get("HOME", "~")).expanduser() / ".cache")
    yield from sorted((cache / "paddle-operator").glob("paddle-*/bin/python"), reverse=True)


def has_paddle(python: Path) -> bool:
    try:
        env = {**os.environ, "PYTHONPATH": ""}
        done = subprocess.run([python, "-c", _QUESTION], capture_output=True, timeout=20, check=False, env=env)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
