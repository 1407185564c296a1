"""The one way to start a job on this machine: check it, claim its folder, find its Python and addresses, run it.

The job's runner works in the calling process (`run`), or in a process of its own that outlives the caller
(`in_background`).
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

import paddlejob
from paddlejob.api import Job
from paddlejob.core import Scheduling
from paddlejob.core.gang import gang_of
from paddlejob.core.ports import ports_needed
from paddlejob.errors import PaddleJobError
from paddlejob.local.addresses import find_endpoints
from paddlejob.local.interpreter import HOW_TO_GET_AN_ELASTIC_ONE, HOW_TO_GET_ONE, find_python, named_python
from paddlejob.local.invocation import Surroundings
from paddlejob.local.lock import Lock
from paddlejob.local.manifest import Manifest
from paddlejob.local.preflight import check
from paddlejob.local.processes import Supervisor
from paddlejob.local.runner import Runner, here
from paddlejob.local.state import Folder, State, root

LOG = "runner.log"
STARTED = b"started"
# The package's own directory comes last, so that nothing installed beside it hides the standard library.
_BOOT = "import sys; sys.path.append(sys.argv[1]); from paddlejob.places.start import main; main()"


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What the person wants to run, and how. `ours`: a Python to try first, and to fall back on if none has Paddle."""

    manifest: Manifest
    command: tuple[str, ...] = ()
    volumes: Mapping[str, Path] = {}
    etcd: str = ""
    python: str | None = None
    ours: Path | None = None
    one_address: bool = False


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """A job that is ready to run: it was checked, and its folder is claimed.

    `lock` is the file descriptor that holds the claim; it is freed once the state file names the runner.
    """

    manifest: Manifest
    around: Surroundings
    lock: int
    one_address: bool
    advice: str = ""
    """Something that the person should know."""

    @property
    def folder(self) -> Folder:
        return Folder(self.around.folder)

    async def run(self, supervisor: Supervisor, watching: Callable[[State], None]) -> Job:
        """Run the job until it ends or a signal stops it. Call this in the main thread."""
        lock: Lock | None = Lock(self.folder.lock, self.lock)

        def look(state: State) -> None:
            nonlocal lock
            if lock:
                lock.free()
                lock = None
            watching(state)

        endpoints = find_endpoints(ports_needed(self.manifest.job), one_address=self.one_address)
        try:
            runner = Runner(
                self.manifest, self.around, self.folder, supervisor=supervisor, watching=look, endpoints=endpoints
            )
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                asyncio.get_running_loop().add_signal_handler(number, runner.stop)
            return await runner.run()
        finally:
            endpoints.close()

    def in_background(self) -> None:
        """Returns when the runner has written its first state; raises if it could not."""
        log = self.around.folder / LOG
        try:
            with log.open("wb") as errors_to:
                done = subprocess.run(
                    [sys.executable, "-c", _BOOT, str(Path(paddlejob.__file__).parent.parent)],
                    input=pickle.dumps(self),  # not JSON: file names and environments may be no valid Unicode
                    cwd=self.around.folder,  # empty: nothing there can hide a module
                    stdout=subprocess.PIPE,
                    stderr=errors_to,  # not a pipe: what the runner starts would hold it open
                    pass_fds=(self.lock,),
                    check=False,
                )
        finally:
            os.close(self.lock)
        if STARTED not in done.stdout:
            said = log.read_text(errors="replace").strip().splitlines()
            raise PaddleJobError(f"cannot start a runner on this machine: {said[-1] if said else 'it ended'}")


def surroundings(asked: Asked) -> tuple[Surroundings, str]:
    """Checks everything that can be checked without changing anything. What the job finds here, and advice."""
    job = here(asked.manifest.job, None)
    env = {"PYTHONUNBUFFERED": "1", **os.environ}  # lines appear when they are printed
    programs, advice = _programs(asked, env)
    around = Surroundings(Path(), env, asked.command, asked.volumes, asked.etcd, programs)
    with tempfile.TemporaryDirectory() as trial:
        check(job, asked.manifest, msgspec.structs.replace(around, folder=Path(trial)))
    return around, advice


def prepare(asked: Asked) -> Start:
    """Check it, then claim the job's folder."""
    job = here(asked.manifest.job, None)
    around, advice = surroundings(asked)
    folder = Folder.of(root(os.environ), *job.metadata.key)
    return Start(
        manifest=asked.manifest,
        around=msgspec.structs.replace(around, folder=folder.path),
        lock=folder.claim().fd,
        one_address=asked.one_address or job.spec.network == "Host",  # pods on a host's network share its address
        advice="; ".join(one for one in (advice, _without_effect(asked.manifest.job)) if one),
    )


def _programs(asked: Asked, env: dict[str, str]) -> tuple[str, str]:
    """The folder of the Python that has Paddle, if there is one; and advice for the person."""
    elastic = asked.manifest.job.spec.is_elastic
    python = named_python(env, asked.python) or find_python(env, elastic=elastic, first=asked.ours) or asked.ours
    if python is not None:
        return str(python.absolute().parent), ""
    words = asked.command or [one.template for _, one in asked.manifest.job.spec.roles]
    if b"python" not in msgspec.json.encode(words):
        return "", ""
    return "", HOW_TO_GET_AN_ELASTIC_ONE if elastic else HOW_TO_GET_ONE


def _without_effect(job: Job) -> str:
    """What nobody heeds on this machine."""
    return (
        "" if gang_of(job, Scheduling()) is None else "pods are not gang-scheduled on this machine: all start at once"
    )


def main() -> None:
    """Entry point of a runner in the background; it reads its `Start` from standard input."""
    start: Start = pickle.load(sys.stdin.buffer)
    if os.fork():
        os._exit(0)  # our starter waits for this process only
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    seen = False

    def first_look(_: State) -> None:
        """`in_background` waits until our standard output is closed: this closes it."""
        nonlocal seen
        if not seen:
            seen = True
            os.write(1, STARTED)
            os.dup2(2, 1)  # standard error goes to our log already

    asyncio.run(start.run(Supervisor.fork(), first_look))
