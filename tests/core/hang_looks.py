"""A look at a job whose workers were listened to, and said what a test says."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from paddlejob.api import HangPolicy, HangStatus, Job
from paddlejob.core import Observed, Scheduling, observe
from paddlejob.core.hang import watched
from paddlejob.core.observe import Listening, Reading, Said
from paddlejob.core.times import timestamp
from tests.builders import NOW, JobBuilder, a_config_map, a_job, pods_of

SECOND = timedelta(seconds=1)
# Steps of 10 s each: a pause of 30 s is too long.
BUDGET = 30 * SECOND
TELL = a_job().with_workers(2).asking(hang=HangPolicy()).in_phase("Running")
RESTART = TELL.asking(hang=HangPolicy(action="Restart"), backoff_limit=1)
AT_ONCE = TELL.asking(hang=HangPolicy(action="Restart", after_seconds=7), backoff_limit=1)
FIRST, SECOND_WORKER = "train-worker-0", "train-worker-1"


def told(at: datetime, until: datetime, line: str = "step 110", total: int | None = 900, **fields: Any) -> Said:
    """A worker that told ten steps, ten seconds each, the last of them at `until`."""
    readings = tuple(
        Reading(at=until - 10 * SECOND * (9 - index), step=101 + index, total=total) for index in range(10)
    )
    return Said(**{"at": at, "changed": until, "lines": ("loading", line), "readings": readings, **fields})


def seen(job: Job, said: Mapping[str, Said], local: bool = False, running: int = 9) -> Observed:
    """The first pods run, and these workers were listened to."""
    pods = [one.running() if at < running else one for at, one in enumerate(pods_of(job).values())]
    by_uid = {f"uid-of-{name}": one for name, one in said.items()}
    found = observe(job, [*(one.build() for one in pods), a_config_map(job)])
    listening = Listening(every=15 * SECOND)
    return replace(found, said=by_uid, listening=listening, scheduling=Scheduling(local=local))


def status_of(job: JobBuilder, said: Mapping[str, Said], **fields: Any) -> HangStatus | None:
    built = job.build()
    return watched(built, built.status, seen(built, said, **fields)).hang


def both(at: datetime, of_first: datetime, of_second: datetime, **fields: Any) -> dict[str, Said]:
    return {FIRST: told(at, of_first, "first", **fields), SECOND_WORKER: told(at, of_second, "second", **fields)}


EARLIER = NOW - 2 * SECOND
LATE = NOW + BUDGET
SILENT = both(LATE, NOW, EARLIER)
HANGS = HangStatus(longest_pause=10, since=timestamp(NOW), worker=SECOND_WORKER, line="second")
LEARNED = HangStatus(longest_pause=10)
