"""Jobs from functions, and what a pod of one would print."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paddlejob import PaddleJob
from paddlejob.sdk.functions import PROGRAM


def run(job: PaddleJob, folder: Path) -> str:
    """What a pod of the job would print: the ConfigMap's files, run by a Python that knows nothing of us."""
    (code,) = job.description.beside
    worker = job.description.document["spec"]["worker"]["template"]["spec"]
    items = next(one for one in worker["volumes"] if "configMap" in one)["configMap"]["items"]
    for item in items:
        path = folder / item["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code["data"][item["key"]])
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-c",
            f"import sys, runpy; sys.path.insert(0, '.'); runpy.run_path('{PROGRAM}', run_name='__main__')",
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def shipped(function: Callable[..., object], **more: Any) -> PaddleJob:
    return PaddleJob.from_function(function, runtime_image="python:3.11", **more)
