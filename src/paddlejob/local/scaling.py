"""Another number of workers for a job that runs here: left in the job's folder, and its runner is told to look.

The number must be one that an API server would accept.
"""

from __future__ import annotations

import os
import signal

from paddlejob.local.errors import CannotScale
from paddlejob.local.state import Folder, State

FILE = "replicas"
SIGNAL = signal.SIGUSR1


def ask(folder: Folder, state: State, replicas: int) -> None:
    name, worker = state.job.metadata.name, state.job.spec.worker
    if not state.job.spec.is_elastic or worker is None:
        raise CannotScale(f"{name} is not elastic: only a job with spec.elastic: 1 can be scaled")
    least, most = worker.bounds
    if not least <= replicas <= most:
        raise CannotScale(f"{name} can have {least} to {most} workers (worker.requests and limits), not {replicas}")
    if not state.alive or state.job.status.finished:
        raise CannotScale(f"{name} has ended: there is nothing to scale")
    folder.put(FILE, str(replicas).encode())
    os.kill(state.pid, SIGNAL)


def asked(folder: Folder) -> int | None:
    try:
        return int((folder.path / FILE).read_text())
    except (FileNotFoundError, ValueError):
        return None
