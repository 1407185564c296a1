"""`paddlejob describe`: one job as a page to read: how it is, why, its pods, what happened, where to look further."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import msgspec
from cyclopts import Parameter
from rich.text import Text

from paddlejob.api import PaddleJob
from paddlejob.cli.finding import at
from paddlejob.cli.listing import as_object, phase
from paddlejob.cli.output import (
    Cell,
    ObjectFormat,
    age,
    as_text,
    columns,
    console,
    logs_hint,
    phase_text,
    show,
    show_objects,
    upcoming,
)
from paddlejob.cli.pod_words import pod_word, restarts
from paddlejob.cli.where import ANYWHERE, Place
from paddlejob.core.children import Pod
from paddlejob.local.state import Folder, State, Told
from paddlejob.terminal import lines

if TYPE_CHECKING:
    from paddlejob.sdk.cluster import Cluster

# So long an operator may take to look at a new job before its absence is the likely reason.
PATIENCE = 10


class Page(msgspec.Struct, frozen=True, kw_only=True):
    job: PaddleJob
    phase: str
    where: tuple[tuple[str, str], ...]
    why: str
    pods: tuple[Pod, ...]
    events: tuple[Told, ...]
    flag: str
    """What to add to a command so that it means this very job."""


def describe(
    name: str,
    /,
    *,
    place: Place = ANYWHERE,
    output: Annotated[ObjectFormat | None, Parameter(name=["--output", "-o"], help="The object itself.")] = None,
) -> None:
    """Show everything about a job: how it is, why, its pods, what happened.

    Example: paddlejob describe wide-and-deep
    """

    def here(folder: Folder, state: State) -> None:
        if output:
            show_objects([as_object(state.job)], output, as_list=False)
        else:
            _print(_local_page(folder, state))

    async def there(cluster: Cluster, job: PaddleJob) -> None:
        if output:
            document = await cluster.document(job.metadata.name, job.metadata.namespace)
            show_objects([document], output, as_list=False)
        else:
            _print(await _cluster_page(cluster, job))

    at(name, place, here, there)


def _local_page(folder: Folder, state: State) -> Page:
    lost = f"its runner (process {state.pid}) ended without a word; all its processes ended with it"
    return Page(
        job=state.job,
        phase=phase(state),
        where=(("Where", "this machine"), ("File", state.file), ("Logs", str(folder.logs))),
        why=lost if phase(state) == "Lost" else _why(state.job),
        pods=state.pods,
        events=state.events,
        flag=" --local",
    )


async def _cluster_page(cluster: Cluster, job: PaddleJob) -> Page:
    pods, events = await cluster.pods(job), await cluster.events(job)
    meta = job.metadata
    return Page(
        job=job,
        phase="Terminating" if meta.deletion_timestamp else job.status.phase or "Pending",
        where=(("Where", f"cluster {cluster.client.config.server}"),),
        why=_why(job) or unseen(job),
        pods=pods,
        events=tuple(Told(one.at, one.type, one.reason, one.message) for one in events),
        flag=f" -n {meta.namespace}",
    )


def _why(job: PaddleJob) -> str:
    return ": ".join(one for one in (job.status.reason, job.status.message) if one) + upcoming(job)


def unseen(job: PaddleJob) -> str:
    """A job without a status: nobody takes care of it."""
    if job.status.phase is not None:
        return ""
    since = age(job.metadata.creation_timestamp or "")
    return f"no operator has looked at it in {since}: is one installed? `paddlejob install` installs it"


def _print(page: Page) -> None:
    to = console()
    for line in _lines(page):
        show(line, to)


def _lines(page: Page) -> Iterator[Text | str]:
    job, status = page.job, page.job.status
    yield _head("Name", job.metadata.name)
    yield _head("Namespace", job.metadata.namespace)
    for word, value in page.where:
        yield _head(word, value)
    yield _head("Status", phase_text(page.phase))
    if page.why:
        yield _head("Why", page.why)
    yield _head("Mode", _mode(job))
    yield _head("Age", _times(job))
    if status.restarts or status.disruptions:
        yield _head("Restarts", f"{status.restarts} after failures, {status.disruptions} after disruptions")
    if status.failure is not None:
        code = "" if status.failure.exit_code is None else f", exit code {status.failure.exit_code}"
        yield _head("Failure", f"{status.failure.pod}{code}, {status.failure.reason}")
        for line in lines(status.failure.message):
            yield f"  | {line}"
    yield from _pods(page.pods)
    yield from _events(page.events)
    yield _head("More", logs_hint(job, page.flag))


def _head(word: str, value: Cell) -> Text:
    return Text.assemble((f"{word}:", "bold"), " " * (11 - len(word)), as_text(value))


def _mode(job: PaddleJob) -> str:
    counts = ", ".join(f"{asked.replicas} {role}" for role, asked in job.spec.roles)
    return f"{job.status.mode or job.spec.mode} ({counts}; found by {job.spec.network})"


def _times(job: PaddleJob) -> str:
    made = age(job.metadata.creation_timestamp or "")
    ended = job.status.completion_time
    return f"{made} (ended {age(ended)} ago)" if ended else made


def _pods(pods: Iterable[Pod]) -> Iterator[Text | str]:
    rows: list[list[Cell]] = [
        [pod.metadata.name, pod_word(pod), str(restarts(pod)), pod.status.pod_ip, pod.spec.node_name] for pod in pods
    ]
    if rows:
        yield _head("Pods", "")
        heads: list[Cell] = ["NAME", "STATE", "RESTARTS", "ADDRESS", "NODE"]
        for line in columns([heads, *rows]).split("\n"):
            yield Text("  ") + line


def _events(events: Iterable[Told]) -> Iterator[Text | str]:
    rows: list[list[Cell]] = [
        [age(one.at), Text(one.type, "yellow" if one.type == "Warning" else ""), one.reason, one.note] for one in events
    ]
    if rows:
        yield _head("Events", "")
        for line in columns(rows).split("\n"):
            yield Text("  ") + line
