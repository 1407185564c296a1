"""The programs that Paddle's users start in a pod, and what a run of two workers must show."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tests.training.ways import Ran

HERE = Path(__file__).parent
LAUNCH = ["python", "-m", "paddle.distributed.launch"]


@dataclass(frozen=True)
class Program:
    command: list[str]
    env: dict[str, str] = field(default_factory=dict)


OWN = {
    "launch": Program([*LAUNCH, str(HERE / "world.py")]),
    "init_parallel_env": Program(["python", str(HERE / "world.py")]),
    "fleet by the launcher": Program([*LAUNCH, str(HERE / "fleet_world.py")]),
    "fleet.init": Program(["python", str(HERE / "fleet_world.py")]),
    "fleet.init, static graph": Program(["python", str(HERE / "static_world.py")]),
}


def wrong(ran: Ran) -> str:
    """What is wrong with a run of two workers; nothing if each met the other."""
    if any(ran.codes):
        return f"exit codes {ran.codes}"
    seen = [(int(one["rank"]), one["world"], one["met"], one.get("together", True)) for one in ran.reports]
    right = [(rank, 2, [0, 1], True) for rank in (0, 1)]
    return "" if seen == right else f"seen: {seen}"
