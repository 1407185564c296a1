"""`paddlejob describe`: one job as a page to read: how it is, why, its pods, what happened, where to look further."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.text import Text

from paddlejob.cli.errors import BadUse
from paddlejob.cli.listing import phase
from paddlejob.cli.views import age, pod_word, upcoming
from paddlejob.local.errors import NotFound
from paddlejob.local.runner import NAMESPACE
from paddlejob.local.state import Folder, State, find, root


def describe(
    name: str,
    /,
    *,
    namespace: Annotated[str, Parameter(name=["--namespace", "-n"], help="Its namespace.")] = NAMESPACE,
) -> None:
    """Show everything about a job of this machine.

    Example: paddlejob describe wide-and-deep
    """
    try:
        folder, state = find(root(os.environ), namespace, name)
    except NotFound as error:
        raise BadUse(str(error)) from error
    console = Console(highlight=False)
    for line in _page(folder, state):
        console.print(Text(line), soft_wrap=True)


def _page(folder: Folder, state: State) -> Iterator[str]:
    job, status = state.job, state.job.status
    yield f"Name:       {job.metadata.name}"
    yield f"Namespace:  {job.metadata.namespace}"
    yield f"Status:     {phase(state)}"
    yield f"Mode:       {status.mode or ''}"
    if status.restarts:
        yield f"Restarts:   {status.restarts} of {job.spec.backoff_limit}"
    yield f"Age:        {age(job.metadata.creation_timestamp or '')}"
    yield f"File:       {state.file}"
    yield f"Logs:       {folder.logs}"
    if status.reason or status.message:
        yield f"Why:        {': '.join(one for one in (status.reason, status.message) if one)}{upcoming(job)}"
    if phase(state) == "Lost":
        yield f"Why:        its runner (process {state.pid}) ended without a word; all its processes ended with it"
    if state.pods:
        yield "Pods:"
        for pod in state.pods:
            yield f"  {pod.metadata.name:30} {pod_word(pod):12} {pod.status.pod_ip}"
    if status.failure is not None:
        yield f"Failure:    {status.failure.pod}, exit code {status.failure.exit_code}, {status.failure.reason}"
        for line in status.failure.message.splitlines():
            yield f"  | {line}"
    if state.events:
        yield "Events:"
        for one in state.events:
            yield f"  {age(one.at):6} {one.type:8} {one.reason:16} {one.note}"
    yield f"More:       paddlejob logs {job.metadata.name}"
