"""Reads how a container starts, and which files are copied, from the last stage of one of our Dockerfiles.

So an image that is made without a container engine cannot differ from the one that the Dockerfile describes. What RUN
installs is pinned elsewhere and comes in layers of its own.
"""

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.node.oci import Start


@dataclass(frozen=True)
class Dockerfile:
    start: Start
    # By their names in the folder where containers start.
    files: dict[str, Path]


def read(path: Path) -> Dockerfile:
    stage: list[tuple[str, str]] = []
    for keyword, rest in _instructions(path.read_text()):
        if keyword == "FROM":
            stage.clear()
        stage.append((keyword, rest))
    said = dict(stage)
    start = Start(
        entrypoint=tuple(json.loads(said.get("ENTRYPOINT", "[]"))),
        command=tuple(json.loads(said.get("CMD", "[]"))),
        folder=said.get("WORKDIR", "/"),
        user=said.get("USER", ""),
        env=dict(pair.split("=", 1) for pair in shlex.split(said.get("ENV", ""))),
    )
    return Dockerfile(start, {file: path.parent / file for file in _copied(stage)})


def _instructions(text: str) -> Iterator[tuple[str, str]]:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        keyword, _, rest = line.strip().partition(" ")
        if keyword:
            yield keyword, rest.strip()


def _copied(stage: list[tuple[str, str]]) -> Iterator[str]:
    """Into the folder where containers start; what goes elsewhere is installed and removed again."""
    for keyword, rest in stage:
        if keyword == "COPY":
            *sources, target = rest.split()
            if target in {".", "./"}:
                yield from sources
