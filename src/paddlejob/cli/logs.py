"""`paddlejob logs`: what the pods of a job print, all workers together or chosen ones."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from paddlejob.cli.durations import seconds
from paddlejob.cli.errors import BadUse
from paddlejob.cli.finding import at
from paddlejob.cli.output import Lines, console, note
from paddlejob.cli.where import ANYWHERE, Place
from paddlejob.local.following import Logs
from paddlejob.local.state import Folder, State

if TYPE_CHECKING:
    from paddlejob.api import PaddleJob
    from paddlejob.sdk.cluster import Cluster
    from paddlejob.sdk.job_logs import Wanted

PAUSE = 0.2
Role = Literal["ps", "worker", "heter", "all"]


def logs(
    name: str,
    /,
    *,
    place: Place = ANYWHERE,
    follow: Annotated[bool, Parameter(name=["--follow", "-f"], help="Go on until the job ends.", negative="")] = False,
    role: Annotated[Role, Parameter(help="Of which role.")] = "worker",
    index: Annotated[int | None, Parameter(help="Of one pod only.")] = None,
    tail: Annotated[int | None, Parameter(help="Only the last so many lines of each pod.")] = None,
    since: Annotated[float | None, Parameter(converter=seconds, help="Only the last 30s, 10m, 2h.")] = None,
) -> None:
    """Print the output of a job's pods, all workers together; with -f also of those that take their places.

    Example: paddlejob logs -f wide-and-deep
    """
    lines = Lines(console())

    def here(folder: Folder, _: State) -> None:
        if since is not None:
            raise BadUse("the logs of jobs on this machine hold no times: use --tail instead of --since")
        wanted = f"{name}-{'*' if role == 'all' else role}-{'*' if index is None else index}"
        try:
            _show_here(folder, Logs(folder.logs, wanted), tail, lines, follow=follow)
        finally:
            lines.close()

    async def there(cluster: Cluster, job: PaddleJob) -> None:
        from paddlejob.sdk.job_logs import Wanted  # noqa: PLC0415 - only who asks a cluster pays for it

        wanted = Wanted(role=None if role == "all" else role, index=index, tail=tail, since=since)
        await print_logs(cluster, job, wanted, lines, follow=follow)

    at(name, place, here, there)


async def print_logs(cluster: Cluster, job: PaddleJob, wanted: Wanted, lines: Lines, *, follow: bool) -> None:
    from paddlejob.sdk.job_logs import follow_job_logs, job_logs  # noqa: PLC0415 - as above

    source = follow_job_logs if follow else job_logs
    async for pod, line in source(cluster, job, wanted):
        lines.show(pod, line)
    if not lines.any and not follow:
        name, namespace = job.metadata.name, job.metadata.namespace
        note(f"no output of {name} yet: `paddlejob describe {name} -n {namespace}` says how its pods are")


def _show_here(folder: Folder, logs: Logs, tail: int | None, lines: Lines, *, follow: bool) -> None:
    first = True
    while True:
        state = folder.read()
        over = not follow or state is None or not state.alive
        for pod, news in logs.news(last_call=over):
            for line in news[-tail:] if first and tail is not None else news:
                lines.show(pod, line)
        for pod, bar in logs.bars():
            lines.show_bar(pod, bar)
        if over:
            return
        first = False
        time.sleep(PAUSE)
