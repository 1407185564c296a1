"""`dist_train`: one script that submits the job where it is started by a person, and trains where it is started by the
job. Inside, every pod calls the trainer, servers too: Paddle's `fleet` tells them apart.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from paddlejob.sdk.description import INSIDE
from paddlejob.sdk.job import PaddleJob


def trainer_id() -> int:
    """Which trainer this is, from 0 on; 0 outside a job."""
    return int(os.environ.get("TRAINER_ID") or os.environ.get("PADDLE_TRAINER_ID") or 0)


def trainers() -> int:
    """How many trainers the job has; 1 outside a job.

    >>> trainers()
    1
    """
    return int(os.environ.get("TRAINERS") or os.environ.get("PADDLE_TRAINERS_NUM") or 1)


def dist_train(
    trainer: Callable[[], object],
    paddle_job: PaddleJob,
    *,
    local: bool = False,
    volumes: Mapping[str, str | Path] | None = None,
) -> object:
    """Inside the job: call `trainer` and return what it returns. Outside: submit the job and return it.

    `local` and `volumes` are those of `PaddleJob.submit`.
    """
    if not callable(trainer):
        raise TypeError(f"trainer must be a function, not {trainer!r}")
    if not isinstance(paddle_job, PaddleJob):
        raise TypeError(f"paddle_job must be a PaddleJob, not {paddle_job!r}")
    if os.environ.get(INSIDE, "NO").upper() == "YES":
        return trainer()
    paddle_job.submit(local=local, volumes=volumes)
    name, where = paddle_job.job_name, paddle_job.aio.where
    print(f"{name} was submitted and runs {where}; see it with `paddlejob describe {name}`", flush=True)
    return paddle_job
