"""What starting a job on this machine costs, as ratios within one run, interleaved, with the raw numbers.

Promise: four pods of `true` take at most 2.5 times the import of our own dependencies; 64 pods at most that plus three
times the start of the same 64 processes from Python.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import yaml

IMPORTS = "import asyncio, msgspec, yaml, cyclopts, rich.console, rich.live, rich.table"
BARE = "import subprocess; all(one.wait() == 0 for one in [subprocess.Popen(['true']) for _ in range(64)])"
SMALL_LIMIT, LARGE_LIMIT = 2.5, 3.0


def timed(*command: str, env: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def a_job(folder: Path, pods: int) -> Path:
    container = {"name": "paddle", "image": "none", "command": ["true"]}
    worker = {"replicas": pods, "template": {"spec": {"containers": [container]}}}
    job = {
        "apiVersion": "batch.paddlepaddle.org/v1",
        "kind": "PaddleJob",
        "metadata": {"name": f"of-{pods}"},
        "spec": {"worker": worker},
    }
    path = folder / f"{pods}.yaml"
    path.write_text(yaml.safe_dump(job))
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds: int = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env = {**os.environ, "XDG_STATE_HOME": name}
        small, large = a_job(folder, 4), a_job(folder, 64)
        python = sys.executable
        measures: dict[str, Callable[[], float]] = {
            "imports": lambda: timed(python, "-c", IMPORTS, env=env),
            "64 bare": lambda: timed(python, "-c", BARE, env=env) - timed(python, "-c", "import subprocess", env=env),
            "run of 4": lambda: timed(python, "-m", "paddlejob", "run", str(small), env=env),
            "run of 64": lambda: timed(python, "-m", "paddlejob", "run", str(large), env=env),
        }
        found: dict[str, list[float]] = {each: [] for each in measures}
        for _ in range(rounds):
            for each, measure in measures.items():
                found[each].append(measure())
    middle = {each: statistics.median(numbers) for each, numbers in found.items()}
    for each, numbers in found.items():
        print(f"{each:10} {middle[each]:.3f} s  raw: {' '.join(f'{one:.3f}' for one in numbers)}")
    first = middle["run of 4"] / middle["imports"]
    second = (middle["run of 64"] - SMALL_LIMIT * middle["imports"]) / middle["64 bare"]
    print(f"4 pods: {first:.2f} x the imports (at most {SMALL_LIMIT})")
    print(f"64 pods: beyond that, {second:.2f} x 64 bare processes (at most {LARGE_LIMIT})")
    return 0 if first <= SMALL_LIMIT and second <= LARGE_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
