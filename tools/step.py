"""Runs one part of `make`, says what it is, how long it has been going on and how long it took the last time.

    python tools/step.py "Checking types" mypy
    python tools/step.py --summary

A command that prints nothing is spoken for every few seconds, so that nobody wonders. How long each part took is kept
in the user's cache for the next run, and told once more at the end of this one. Standard library only.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.installer import cache

SILENCE = 8.0
RECORD = "parts.jsonl"
# How many lines of the record are worth keeping.
KEPT = 500


class Part(NamedTuple):
    run: str | None
    title: str
    seconds: float


def run(title: str, command: list[str]) -> int:
    before = _last_time(title)
    _say(f"\n\033[1m==> {title}\033[0m" + ("" if before is None else f" ({spoken(before)} the last time)"))
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            _forward(process, began, before)
        except KeyboardInterrupt:
            process.wait()  # it got the signal too
            return 130
    seconds = time.monotonic() - began
    if process.returncode:
        _say(f"\033[31m{title}: failed after {spoken(seconds)} with exit code {process.returncode}\033[0m")
    else:
        _remember(title, seconds)
    return process.returncode


def _forward(process: subprocess.Popen[bytes], began: float, before: float | None) -> None:
    """What the command prints, as it comes; in its silence, a word of ours."""
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(SILENCE):
                expected = "" if before is None else f" of about {spoken(before)}"
                _say(f"    ... {spoken(time.monotonic() - began)}{expected}")
                continue
            printed = os.read(process.stdout.fileno(), 65536)
            if not printed:
                return
            sys.stdout.buffer.write(printed)
            sys.stdout.buffer.flush()


def summary() -> None:
    """The parts of this run of make, which gives all of them the same $RUN."""
    parts = [(one.title, one.seconds) for one in _record() if one.run == os.environ.get("RUN")]
    _say("\n\033[1m==> How long it took\033[0m")
    for title, seconds in [*parts, ("In all", sum(seconds for _, seconds in parts))]:
        _say(f"    {spoken(seconds):>12}  {title}")


def spoken(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _last_time(title: str) -> float | None:
    return next((one.seconds for one in reversed(_record()) if one.title == title), None)


def _record() -> list[Part]:
    try:
        lines = (cache() / RECORD).read_text().splitlines()
        return [Part(*json.loads(line)) for line in lines]
    except (OSError, ValueError, TypeError):
        return []


def _remember(title: str, seconds: float) -> None:
    cache().mkdir(parents=True, exist_ok=True)
    record = [*_record()[-KEPT:], Part(os.environ.get("RUN"), title, round(seconds, 1))]
    new = cache() / f"{RECORD}.{os.getpid()}"
    new.write_text("".join(json.dumps(one) + "\n" for one in record))
    new.replace(cache() / RECORD)


def _say(line: str) -> None:
    if not sys.stdout.isatty() and "\033[" in line:
        line = line.replace("\033[1m", "").replace("\033[31m", "").replace("\033[0m", "")
    print(line, flush=True)


def main() -> int:
    if sys.argv[1:] == ["--summary"]:
        summary()
        return 0
    title, *command = sys.argv[1:]
    return run(title, command)


if __name__ == "__main__":
    sys.exit(main())
