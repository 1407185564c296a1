"""Metrics by job, for who asks for them with --job-metrics: steps per second, loss and progress of running jobs.

Their labels name jobs, so there is a bound: of so many jobs at most, those that began last. How many are left out is
a metric, too. Made when asked: nothing is kept, and a job that has ended has no series.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from paddlejob.api import Job, Progress

LABELS = ("namespace", "job")


class JobMetrics(Collector):
    def __init__(self, jobs: Callable[[], Iterable[Job]], most: int) -> None:
        self._jobs = jobs
        self._most = most

    def collect(self) -> Iterator[GaugeMetricFamily]:
        running = [
            (job, job.status.progress) for job in self._jobs() if job.status.phase == "Running" and job.status.progress
        ]
        newest = sorted(running, key=lambda one: (one[0].status.start_time or "", one[0].metadata.key), reverse=True)
        for name, text, value in FAMILIES:
            family = GaugeMetricFamily(name, text, labels=LABELS)
            for job, progress in newest[: self._most]:
                if (found := value(progress)) is not None:
                    family.add_metric(job.metadata.key, found)
            yield family
        left_out = max(0, len(running) - self._most)
        yield GaugeMetricFamily(
            "paddlejob_job_metrics_left_out", "Running jobs beyond the bound of --job-metrics.", value=left_out
        )


def _ratio(progress: Progress) -> float | None:
    return None if progress.percent is None else progress.percent / 100


FAMILIES: tuple[tuple[str, str, Callable[[Progress], float | None]], ...] = (
    ("paddlejob_job_steps_per_second", "Training steps a second, lately.", lambda one: one.speed),
    ("paddlejob_job_loss", "The loss that the job has told last.", lambda one: one.loss),
    ("paddlejob_job_progress_ratio", "How far the job is, from 0 to 1.", _ratio),
)
