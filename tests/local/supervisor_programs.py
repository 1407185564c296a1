"""Containers for the supervisor's tests, and a runner to be killed: `python -m tests.local.supervisor_programs`."""

from __future__ import annotations

import asyncio
import os
import sys
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from paddlejob.local.processes import Exited, NotStarted, Process, ProcessEvent, Started, Supervisor
from paddlejob.local.supervisor.proc import is_alive, marked, start_time

DEADLINE = 30.0
PATH = os.environ["PATH"]
# A child in the group, one in a session of its own, an orphan in a session of its own, and one that also dropped
# its environment. Each writes its number to the census before it settles down, the main process last.
TREE = """
sh -c 'echo $$ >>"$CENSUS"; exec sleep 600' &
setsid sh -c 'echo $$ >>"$CENSUS"; exec sleep 600' &
(setsid sh -c 'echo $$ >>"$CENSUS"; exec sleep 600' &)
(setsid env -i sh -c 'echo $$ >>"$0"; exec sleep 600' "$CENSUS" &)
while [ "$(wc -l <"$CENSUS")" -lt 4 ]; do sleep 0.01; done
"""
TREE_SIZE = 4


async def until(what: str, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, f"not within {DEADLINE} s: {what}"
        await asyncio.sleep(0.002)


class Stage:
    """A supervisor, a directory, and every event so far."""

    def __init__(self, supervisor: Supervisor, folder: Path) -> None:
        self.supervisor = supervisor
        self.folder = folder
        self.events: list[ProcessEvent] = []
        self.run = uuid.uuid4().hex[:8]

    def launch(
        self, *argv: str, name: str = "main", env: dict[str, str] | None = None, cwd: str = "/", log: str = ""
    ) -> str:
        id = f"{self.run}/{name}"
        env = {"PATH": PATH, "CENSUS": str(self.census(name))} if env is None else env
        self.supervisor.launch(id, Process(argv, env, cwd), log or str(self.log(name)))
        return id

    def shell(self, script: str, name: str = "main") -> str:
        self.census(name).touch()
        return self.launch("sh", "-c", script, name=name)

    def log(self, name: str = "main") -> Path:
        return self.folder / f"{name}.log"

    def census(self, name: str = "main") -> Path:
        return self.folder / f"{name}.census"

    def population(self, name: str = "main") -> list[int]:
        return [int(line) for line in self.census(name).read_text().split()]

    def about(self, id: str) -> list[ProcessEvent]:
        return [event for event in self.events if event.id == id]

    async def settled(self, name: str = "main", size: int = TREE_SIZE) -> list[tuple[int, str]]:
        """The tree's processes, by number and start time, once all of them are there."""
        await until("the tree is complete", lambda: len(self.population(name)) >= size)
        return [(pid, started) for pid in self.population(name) if (started := start_time(pid))]

    async def started(self, id: str) -> Started:
        await until(f"{id} started", lambda: any(isinstance(event, Started) for event in self.about(id)))
        return next(event for event in self.about(id) if isinstance(event, Started))

    async def ended(self, id: str) -> Exited | NotStarted:
        await until(f"{id} ended", lambda: any(not isinstance(event, Started) for event in self.about(id)))
        return next(event for event in self.about(id) if not isinstance(event, Started))


def living(people: list[tuple[int, str]]) -> list[int]:
    return [pid for pid, started in people if is_alive(pid, started)]


def marked_as(id: str) -> list[int]:
    return marked(f"PADDLEJOB_CONTAINER={id}")


@asynccontextmanager
async def a_stage(folder: Path) -> AsyncIterator[Stage]:
    stage = Stage(Supervisor.fork(), folder)
    listening = asyncio.ensure_future(stage.supervisor.listen(stage.events.append))
    try:
        yield stage
    finally:
        await stage.supervisor.close()
        await asyncio.gather(listening, return_exceptions=True)


async def run(folder: Path, ids: list[str]) -> None:
    """A runner of trees that says each step aloud, to be killed at any of them."""
    supervisor = Supervisor.fork()
    print("forked", supervisor.pid, flush=True)
    for id in ids:
        census = folder / id
        census.touch()
        env = {"PATH": PATH, "CENSUS": str(census)}
        supervisor.launch(id, Process(("sh", "-c", f"{TREE} wait"), env, "/"), str(folder / f"{id}.log"))
        print("launched", id, flush=True)
    await supervisor.listen(lambda event: print("heard", event.id, flush=True))


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), sys.argv[2:]))
