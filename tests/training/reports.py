"""What workers say in the end: each prints one line `RESULT {...}`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.local.workbench import Workbench

EXAMPLES = Path(__file__).parents[2] / "examples"

Report = dict[str, Any]


def results(laptop: Workbench, *args: str | Path) -> list[Report]:
    """Run a job to its good end; what each worker says, in order of rank."""
    done = laptop.paddlejob("run", *args, timeout=300)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return reports(done.stdout)


def reports(output: str) -> list[Report]:
    lines = [line.partition("RESULT ")[2] for line in output.splitlines() if "RESULT " in line]
    return sorted((json.loads(line) for line in lines), key=lambda one: int(one["rank"]))
