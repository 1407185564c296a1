"""The names of log files: one for every life of a container.

A pod that is made again, in a new attempt or alone, begins a new file and leaves the earlier ones as they are: nobody
who reads loses a line, and the last lines of a failure are those of the pod that failed.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

ENDING = ".log"


class LogFile(msgspec.Struct, frozen=True, order=True):
    """`life` counts the pods of this name that were there before. In order: a pod's lives one after the other."""

    pod: str
    container: str
    life: int

    @property
    def name(self) -> str:
        """The first life, mostly the only one, needs no number. No name of a pod or container holds a dot."""
        return f"{self.pod}.{self.container}{f'.{self.life}' if self.life else ''}{ENDING}"


def log_files(folder: Path) -> list[LogFile]:
    """All that are there, in order."""
    return sorted(found for path in folder.glob(f"*{ENDING}") if (found := _parse(path.name)))


def _parse(name: str) -> LogFile | None:
    match name.removesuffix(ENDING).split("."):
        case [pod, container]:
            return LogFile(pod, container, 0)
        case [pod, container, life] if life.isascii() and life.isdigit():
            return LogFile(pod, container, int(life))
    return None
