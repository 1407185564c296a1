"""What the operator tells Prometheus. No label names a job: the series do not grow with what people run."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from paddlejob.api import Job
from paddlejob.kube.client import Call

SECONDS_TO_RUNNING = (0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)


class _JobsByPhase(Collector):
    """Counted when asked: nothing is kept up to date between two scrapes."""

    def __init__(self, jobs: Callable[[], Iterable[Job]]) -> None:
        self._jobs = jobs

    def collect(self) -> Iterator[GaugeMetricFamily]:
        family = GaugeMetricFamily("paddlejob_jobs", "PaddleJobs by phase.", labels=["phase"])
        for phase, count in sorted(Tally(job.status.phase or "New" for job in self._jobs()).items()):
            family.add_metric([phase], count)
        yield family


class Metrics:
    def __init__(self, jobs: Callable[[], Iterable[Job]], depth: Callable[[], int]) -> None:
        self.registry = registry = CollectorRegistry()
        registry.register(_JobsByPhase(jobs))
        Gauge("paddlejob_queue_depth", "Jobs waiting to be reconciled.", registry=registry).set_function(depth)
        self.leading = Gauge("paddlejob_leader", "1 while this process is the leader.", registry=registry)
        self.reconciles = Histogram("paddlejob_reconcile_seconds", "Time to reconcile one job.", registry=registry)
        self.errors = Counter("paddlejob_reconcile_errors", "Reconciles that failed.", registry=registry)
        self.unreadable = Counter("paddlejob_unreadable_objects", "Objects that could not be read.", registry=registry)
        self.defects = Counter(
            "paddlejob_skipped_changes", "Changes of objects at which something of ours failed.", registry=registry
        )
        self.time_to_running = Histogram(
            "paddlejob_time_to_running_seconds",
            "From creation to Running.",
            buckets=SECONDS_TO_RUNNING,
            registry=registry,
        )
        self._calls = Counter(
            "paddlejob_api_calls", "API calls.", labelnames=["verb", "resource", "code"], registry=registry
        )
        self._by_call: dict[tuple[str, str, int], Counter] = {}

    def count_call(self, call: Call) -> None:
        resource = f"{call.resource_plural}/{call.subresource}" if call.subresource else call.resource_plural
        key = (call.verb, resource, call.status)
        child = self._by_call.get(key)
        if child is None:
            child = self._by_call[key] = self._calls.labels(call.verb, resource, str(call.status))
        child.inc()

    def text(self) -> bytes:
        return generate_latest(self.registry)
