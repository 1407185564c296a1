"""`paddlejob run`: a job on this machine, from the same file that runs on a cluster."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

from paddlejob.api import Job
from paddlejob.cli.errors import BadUse
from paddlejob.cli.output import logs_hint, show
from paddlejob.cli.views import LiveView, PlainView, View
from paddlejob.local.manifest import read_manifest
from paddlejob.local.processes import Supervisor
from paddlejob.local.state import Folder, explained
from paddlejob.places.start import Asked, Start, prepare
from paddlejob.terminal import lines

REFRESH = 0.25
INTERRUPTED = 130


def run(
    file: Annotated[Path, Parameter(help="The job's YAML file.")],
    /,
    *command: Annotated[str, Parameter(help="After --: run this in place of the training containers' own command.")],
    detach: Annotated[bool, Parameter(help="Run in the background.")] = False,
    volume: Annotated[
        tuple[str, ...], Parameter(help="NAME=PATH: use this folder as volume or claim NAME; repeatable.")
    ] = (),
    python: Annotated[str | None, Parameter(help="Python interpreter that has PaddlePaddle.")] = None,
    etcd_server: Annotated[str, Parameter(help="ADDRESS:PORT of the etcd for elastic jobs.")] = "",
    one_address: Annotated[bool, Parameter(help="Give every pod the address 127.0.0.1.")] = False,
) -> int:
    """Run a PaddleJob on this machine, each pod as a group of processes, and watch it live.

    Example: paddlejob run examples/wide_and_deep/job.yaml
    """
    console = Console(highlight=False)
    asked = Asked(
        manifest=read_manifest(file),
        command=command,
        volumes=_volumes(volume),
        etcd=etcd_server,
        python=python,
        one_address=one_address,
    )
    with explained():
        start = prepare(asked)
        for advice in (*asked.manifest.notes, *([start.advice] if start.advice else [])):
            console.print(f"note: {advice}", style="yellow", soft_wrap=True)
        if detach:
            start.in_background()
            name = asked.manifest.job.metadata.name
            console.print(
                f"{name} runs in the background: `paddlejob logs -f {name}`, `paddlejob delete {name}`", soft_wrap=True
            )
            return 0
        return asyncio.run(_run(start, Supervisor.fork(), console))


async def _run(start: Start, supervisor: Supervisor, console: Console) -> int:
    view: View = (LiveView if console.is_terminal else PlainView)(start.folder.logs, console)
    ticking = asyncio.ensure_future(_tick(view))
    try:
        job = await start.run(supervisor, view.update)
    finally:
        ticking.cancel()
        await asyncio.gather(ticking, return_exceptions=True)
        view.close()
    return _summary(job, start.folder, console)


async def _tick(view: View) -> None:
    while True:
        view.tick()
        await asyncio.sleep(REFRESH)


def _volumes(said: tuple[str, ...]) -> dict[str, Path]:
    pairs = [one.partition("=") for one in said]
    for name, equals, path in pairs:
        if not (name and equals and path):
            raise BadUse(f"--volume {name}: write NAME=PATH")
        if not Path(path).is_dir():
            raise BadUse(f"--volume {name}={path}: there is no such folder")
    return {name: Path(path).resolve() for name, _, path in pairs}


def _summary(job: Job, folder: Folder, console: Console) -> int:
    status, name = job.status, job.metadata.name
    stays = not folder.deleted and folder.look() is not None
    gone = "it was deleted" if folder.deleted else "ttlSecondsAfterFinished has passed"
    logs = f"logs are in {folder.logs}" if stays else f"{gone}: its logs are gone"
    if not status.finished:
        show(f"{name}: stopped; {logs}", console)
        return INTERRUPTED
    show(f"{name}: {status.phase}: {status.message}; {logs}", console)
    if status.failure is not None and status.failure.message:
        console.print(f"last lines of {status.failure.pod}:", style="red")
        for line in lines(status.failure.message):
            show(line, console)
        if stays:
            show(f"more: {logs_hint(job)}", console)
    return 0 if status.phase == "Completed" else 1
