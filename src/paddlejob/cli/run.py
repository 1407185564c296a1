"""`paddlejob run`: a job on this machine, from the same file that runs on a cluster."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.console import Console

from paddlejob.api import PaddleJob
from paddlejob.cli.detaching import detach as go_to_background
from paddlejob.cli.errors import BadUse, UserError
from paddlejob.cli.views import LiveView, PlainView, View
from paddlejob.core.ports import ports_needed
from paddlejob.local.addresses import find_places
from paddlejob.local.interpreter import HOW_TO_GET_AN_ELASTIC_ONE, HOW_TO_GET_ONE, find_python
from paddlejob.local.machine import Surroundings
from paddlejob.local.manifest import Manifest, read_manifest
from paddlejob.local.preflight import check
from paddlejob.local.processes import Supervisor, SupervisorLost
from paddlejob.local.runner import Runner, claim, here
from paddlejob.local.state import Folder, root

REFRESH = 0.25
INTERRUPTED = 130


def run(
    file: Path,
    /,
    *command: Annotated[str, Parameter(help="After --: replaces the command of the training containers.")],
    detach: Annotated[bool, Parameter(help="Run in the background.", negative="")] = False,
    volume: Annotated[tuple[str, ...], Parameter(help="NAME=PATH: where a claim's data is here.", negative="")] = (),
    python: Annotated[Path | None, Parameter(help="The Python that has PaddlePaddle.")] = None,
    etcd_server: Annotated[str, Parameter(help="ADDRESS:PORT of an etcd, for elastic jobs.")] = "",
    one_address: Annotated[
        bool, Parameter(help="All pods on 127.0.0.1, as where there is no other.", negative="")
    ] = False,
) -> int:
    """Run a PaddleJob on this machine, each pod a process group, and show it live.

    Example: paddlejob run examples/wide_and_deep/job.yaml
    """
    console = Console(highlight=False)
    try:
        manifest = read_manifest(file)
        inherited = _environment(manifest, command, python, console)
        around = Surroundings(Path(), inherited, tuple(command), _volumes(volume), etcd_server)
        around = _prepare(manifest, around)
    except OSError as error:
        raise _no_room(error) from error
    name, folder = manifest.job.metadata.name, Folder(around.folder)
    if detach and go_to_background(folder.path / "runner.log"):
        console.print(
            f"{name} runs in the background: `paddlejob logs -f {name}`, `paddlejob delete {name}`", soft_wrap=True
        )
        return 0
    supervisor = Supervisor.fork()
    try:
        return asyncio.run(_run(manifest, around, supervisor, console, one_address=one_address))
    except SupervisorLost as error:
        raise UserError(f"{error}; all processes of the job were ended") from error
    except OSError as error:
        raise _no_room(error) from error


def _prepare(manifest: Manifest, around: Surroundings) -> Surroundings:
    """Check all that can be checked before anything is touched, then make the job's folder ours."""
    job = here(manifest.job, None)
    with tempfile.TemporaryDirectory() as trial:
        check(job, manifest, msgspec.structs.replace(around, folder=Path(trial)))
    folder = Folder.of(root(os.environ), job.metadata.namespace, job.metadata.name)
    claim(folder, job)
    return msgspec.structs.replace(around, folder=folder.path)


def _no_room(error: OSError) -> UserError:
    return UserError(f"cannot keep the job's state in {root(os.environ)}: {error.strerror or error}")


async def _run(
    manifest: Manifest, around: Surroundings, supervisor: Supervisor, console: Console, *, one_address: bool
) -> int:
    view: View = (LiveView if console.is_terminal else PlainView)(around.logs, console)
    folder, interrupted = Folder(around.folder), False
    shared = one_address or manifest.job.spec.network == "Host"  # pods on a host's network share its address
    places = find_places(ports_needed(manifest.job), one_address=shared)
    runner = Runner(
        manifest,
        around,
        folder,
        supervisor=supervisor,
        watching=view.update,
        places=places,
    )

    def stop() -> None:
        nonlocal interrupted
        interrupted = True
        runner.stop()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    ticking = asyncio.ensure_future(_tick(view))
    try:
        job = await runner.run()
    finally:
        ticking.cancel()
        await asyncio.gather(ticking, return_exceptions=True)
        view.close()
        places.close()
    return _summary(job, folder, console, interrupted=interrupted)


async def _tick(view: View) -> None:
    while True:
        view.tick()
        await asyncio.sleep(REFRESH)


def _environment(manifest: Manifest, command: tuple[str, ...], python: Path | None, console: Console) -> dict[str, str]:
    """What pods inherit: this shell's environment, with the Python that has Paddle first on the path."""
    env = dict(os.environ)
    env.setdefault("PYTHONUNBUFFERED", "1")  # lines appear when they are printed
    if not _wants_python(manifest, command):
        return env
    elastic = manifest.job.spec.is_elastic
    found = python or find_python(env, elastic=elastic)
    if found is None:
        advice = HOW_TO_GET_AN_ELASTIC_ONE if elastic else HOW_TO_GET_ONE
        console.print(f"note: {advice}", style="yellow", soft_wrap=True)
        return env
    return {**env, "PATH": f"{found.absolute().parent}{os.pathsep}{env.get('PATH', '')}"}


def _wants_python(manifest: Manifest, command: tuple[str, ...]) -> bool:
    templates = [asked.template for _, asked in manifest.job.spec.roles]
    return "python" in " ".join(command) or (not command and "python" in msgspec.json.encode(templates).decode())


def _volumes(said: tuple[str, ...]) -> dict[str, Path]:
    pairs = [one.partition("=") for one in said]
    for name, equals, path in pairs:
        if not (name and equals and path):
            raise BadUse(f"--volume {name}: write NAME=PATH")
        if not Path(path).is_dir():
            raise BadUse(f"--volume {name}={path}: there is no such folder")
    return {name: Path(path).resolve() for name, _, path in pairs}


def _summary(job: PaddleJob, folder: Folder, console: Console, *, interrupted: bool) -> int:
    status, name = job.status, job.metadata.name
    stays = folder.look() is not None
    logs = f"logs are in {folder.logs}" if stays else "ttlSecondsAfterFinished is over: its logs are removed"
    if interrupted and not status.finished:
        console.print(f"{name}: stopped; {logs}", soft_wrap=True)
        return INTERRUPTED
    console.print(f"{name}: {status.phase}: {status.message}; {logs}", soft_wrap=True)
    if status.failure is not None and status.failure.message:
        console.print(f"last lines of {status.failure.pod}:", style="red")
        console.print(status.failure.message, markup=False, soft_wrap=True)
        if stays:
            console.print(f"more: paddlejob logs {name}", soft_wrap=True)
    return 0 if status.phase == "Completed" else 1
