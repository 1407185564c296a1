"""`paddlejob describe`: one job as a page to read: how it is, why, its pods, what happened, where to look further."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

from paddlejob.api import Job
from paddlejob.cli.output import (
    Cell,
    ObjectFormat,
    as_text,
    columns,
    console,
    logs_hint,
    phase_text,
    show,
    show_objects,
)
from paddlejob.cli.where import ANYWHERE, JobName, Where, at
from paddlejob.core.children import Pod
from paddlejob.places.place import Event, Found, Place
from paddlejob.places.words import age, document, far, mode, patience, pod_word, restarts, why
from paddlejob.terminal import lines


def describe(
    name: JobName,
    /,
    *,
    where: Where = ANYWHERE,
    output: Annotated[ObjectFormat | None, Parameter(alias="-o", help="Print the object in this format.")] = None,
) -> None:
    """Show the details of a job: its status and the reason, its pods and its events.

    Example: paddlejob describe wide-and-deep
    """

    async def work(place: Place, found: Found) -> None:
        if output:
            show_objects([document(found)], output, as_list=False)
            return
        to = console()
        for line in _page(found, await place.pods(found.job), await place.events(found.job)):
            show(line, to)

    at(name, where, work)


def _page(found: Found, pods: Iterable[Pod], events: Iterable[Event]) -> Iterator[Text | str]:
    job, status = found.job, found.job.status
    yield _head("Name", job.metadata.name)
    yield _head("Namespace", job.metadata.namespace)
    for word, value in found.about:
        yield _head(word, value)
    yield _head("Status", phase_text(found.phase))
    if said := why(found):
        yield _head("Why", said)
    if job.spec.roles:
        yield _head("Mode", _mode(job))
    yield _head("Age", _times(job))
    if status.progress is not None and (said := far(status.progress)):
        yield _head("Progress", said)
    if status.restarts or status.disruptions or status.hangs:
        counts = f"{status.restarts} after failures, {status.disruptions} after disruptions, {status.hangs} after hangs"
        yield _head("Restarts", counts)
    if not status.finished and (said := patience(job)):
        yield _head("Hang watch", said)
    if status.failure is not None:
        code = "" if status.failure.exit_code is None else f", exit code {status.failure.exit_code}"
        yield _head("Failure", f"{status.failure.pod}{code}, {status.failure.reason}")
        for line in lines(status.failure.message):
            yield f"  | {line}"
    yield from _pods(pods)
    yield from _events(events)
    yield _head("More", logs_hint(job, found.flag))


def _head(word: str, value: Cell) -> Text:
    return Text.assemble((f"{word}:", "bold"), " " * (11 - len(word)), as_text(value))


def _mode(job: Job) -> str:
    counts = ", ".join(f"{asked.replicas} {role}" for role, asked in job.spec.roles)
    return f"{mode(job)} ({counts}, intranet {job.spec.network})"


def _times(job: Job) -> str:
    made = age(job.metadata.creation_timestamp or "")
    ended = job.status.completion_time
    return f"{made} (finished {age(ended)} ago)" if ended else made


def _pods(pods: Iterable[Pod]) -> Iterator[Text | str]:
    rows: list[list[Cell]] = [
        [pod.metadata.name, pod_word(pod), str(restarts(pod)), pod.status.pod_ip, pod.spec.node_name] for pod in pods
    ]
    if rows:
        yield _head("Pods", "")
        heads: list[Cell] = ["NAME", "STATE", "RESTARTS", "ADDRESS", "NODE"]
        for line in columns([heads, *rows]).split("\n"):
            yield Text("  ") + line


def _events(events: Iterable[Event]) -> Iterator[Text | str]:
    rows: list[list[Cell]] = []
    for since, kind, reason, message in events:
        rows.append([age(since), Text(kind, "yellow" if kind == "Warning" else ""), reason, message])
    if rows:
        yield _head("Events", "")
        for line in columns(rows).split("\n"):
            yield Text("  ") + line
