"""Which Python runs a job: the first that has PaddlePaddle, looked for where people keep it.

Nothing is imported to find out: importing Paddle takes seconds, asking whether it is there takes milliseconds.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from paddlejob.errors import Invalid

HOW_TO_GET_ONE = (
    "no Python with PaddlePaddle was found; a job that imports paddle will fail. Get one with"
    " `python3 -m venv ~/paddle && ~/paddle/bin/pip install paddlepaddle==2.6.2 'protobuf<5' 'numpy<2' setuptools`"
    " (3.x for jobs without parameter servers), then `paddlejob run --python ~/paddle/bin/python FILE`"
)
HOW_TO_GET_AN_ELASTIC_ONE = (
    "no Python with PaddlePaddle and a client for etcd was found; an elastic job's launcher will fail. Get one with"
    " `python3 -m venv ~/paddle && ~/paddle/bin/pip install paddlepaddle==2.6.2 'numpy<2' setuptools etcd3==0.12.0"
    " protobuf==3.20.3 'grpcio<1.85'`, then `paddlejob run --python ~/paddle/bin/python FILE`"
)
# Looks at folders only: to ask for the module paddle.base would import paddle first.
_QUESTION = """
import importlib.util, os, sys
paddle = importlib.util.find_spec("paddle")
folders = paddle.submodule_search_locations if paddle else ()
sys.exit(not any(os.path.isdir(os.path.join(one, "base")) for one in folders or ()))
"""
# Its client for etcd cannot be imported beside a newer protobuf.
_ELASTIC_QUESTION = """
import importlib.metadata, importlib.util, sys
if not importlib.util.find_spec("etcd3") or not importlib.metadata.version("protobuf").startswith("3."):
    sys.exit(1)
"""


def named_python(env: Mapping[str, str], said: str | None) -> Path | None:
    """The one that the person names, by a flag or by PADDLEJOB_PYTHON: whatever it has, it is taken."""
    name, origin = (said, "--python") if said else (env.get("PADDLEJOB_PYTHON"), "PADDLEJOB_PYTHON")
    if not name:
        return None
    if found := shutil.which(name, path=env.get("PATH")):
        return Path(found)
    raise Invalid(f"{origin}: there is no program {name}: give the path of a Python, such as ~/paddle/bin/python")


def find_python(env: Mapping[str, str], *, elastic: bool = False, first: Path | None = None) -> Path | None:
    """The first Python that has Paddle, and what elastic jobs need if asked; None when there is none."""
    asked: set[tuple[Path, Path]] = set()
    for one in (*([first] if first else []), *_candidates(env)):
        same = (one.parent, one.resolve())  # python and python3 of one folder are mostly one
        if same not in asked and has_paddle(one, elastic=elastic):
            return one
        asked.add(same)
    return None


def _candidates(env: Mapping[str, str]) -> Iterator[Path]:
    for name in ("python", "python3"):
        if found := shutil.which(name, path=env.get("PATH")):
            yield Path(found)
    # Where `make demo` and tools/environments.py keep theirs.
    cache = Path(env.get("XDG_CACHE_HOME") or Path(env.get("HOME", "~")).expanduser() / ".cache")
    for kind in ("paddle-*", "elastic-*"):
        yield from sorted((cache / "paddle-operator").glob(f"{kind}/bin/python"), reverse=True)


def has_paddle(python: Path, *, elastic: bool = False) -> bool:
    question = (_ELASTIC_QUESTION if elastic else "") + _QUESTION
    try:
        env = {**os.environ, "PYTHONPATH": ""}
        done = subprocess.run([python, "-c", question], capture_output=True, timeout=20, check=False, env=env)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
