"""Plays the programs in the pods: once all pods of a job run, some time later they end, as the job's order says.

It looks at what the model has seen and steers simulated pods by their annotations. It never looks at the operators.
"""

from __future__ import annotations

from contextlib import suppress

from tests.chaos.jobs import Order
from tests.chaos.lives import JobLife, PodLife
from tests.chaos.model import Model
from tests.cluster.api import ApiError
from tests.etcd.server import EtcdServer
from tests.scenarios.desk import Desk

CODES = ("1", "2", "139", "137")


class Conductor:
    def __init__(self, desk: Desk, model: Model, etcd: EtcdServer) -> None:
        self._desk = desk
        self._model = model
        self._etcd = etcd
        self._together: dict[tuple[str, ...], float] = {}  # since when these pods run, by their UIDs
        self._steered: set[str] = set()
        self._over: set[tuple[str, int]] = set()  # UID and attempt of elastic jobs whose launcher says: completed

    def turn(self, now: float) -> None:
        for job in list(self._model.jobs.values()):
            order = self._model.orders.get(job.name)
            if order is None or job.gone or job.deleting or job.finished:
                continue
            self._wake(job, order, now)
            if order.spec.get("suspend") and job.spec.get("suspend") and now - self._first_seen(job, now) > order.runs:
                with suppress(ApiError):
                    self._desk.change(job.name, {"suspend": False})
            if order.fate in ("completes", "fails"):
                self._play(job, order, now)

    def _first_seen(self, job: JobLife, now: float) -> float:
        return self._together.setdefault((job.uid,), now)

    def _wake(self, job: JobLife, order: Order, now: float) -> None:
        """The pods of a slow job start at last."""
        if order.fate == "never starts" or not order.slow:
            return
        for pod in job.live:
            born = self._together.setdefault((pod.uid,), now)
            if now - born < order.slow or pod.deleting or pod.phase != "Pending":
                continue
            if pod.annotations.get("test.paddlejob/starts") == "never":
                self._steer(pod, starts="at-once" if job.spec.get("intranet") == "Service" else "when-touched")
            if pod.annotations.get("test.paddlejob/stuck") == "image":
                self._steer(pod, stuck="no-more")

    def _play(self, job: JobLife, order: Order, now: float) -> None:
        if (job.uid, job.attempt) in self._over:
            self._come_too_late(job)
            return
        pods = [pod for pod in job.live if not pod.deleting]
        filled = {(pod.role, pod.index) for pod in job.pods.values() if _goes_or_went_well(pod, job)}
        wanted = {(role, index) for role in job.asked for index in range(job.spec.get(role, {}).get("replicas", 0))}
        if not wanted <= filled or any(pod.attempt != job.attempt for pod in pods):
            return
        running = [pod for pod in pods if pod.running]
        since = self._together.setdefault(tuple(sorted(pod.uid for pod in running)), now)
        if now - since < order.runs or any(pod.uid in self._steered for pod in running if self._is_to_fail(pod)):
            return
        if order.fate == "fails" or job.failures < order.failures:
            self._fail(job, order, running)
        else:
            self._succeed(job, order, running)

    def _is_to_fail(self, pod: PodLife) -> bool:
        return pod.annotations.get("test.paddlejob/ends") == "failed"

    def _fail(self, job: JobLife, order: Order, running: list[PodLife]) -> None:
        chosen = sorted((pod for pod in running if pod.role != "heter"), key=lambda pod: pod.name)
        if chosen and not any(pod.uid in self._steered for pod in chosen):
            pod = chosen[(order.number + job.attempt) % len(chosen)]
            code = CODES[(order.number + job.failures) % len(CODES)]
            self._steer(pod, ends="failed", exit_code=code, last_lines=f"failure {job.failures + 1} of {job.name}")

    def _succeed(self, job: JobLife, order: Order, running: list[PodLife]) -> None:
        workers = [pod for pod in running if pod.role == "worker" and pod.uid not in self._steered]
        if order.shape == "elastic" and workers:
            with suppress(OSError):
                self._etcd.put(f"/paddle/{workers[0].environment['PADDLE_JOB_ID']}", "completed")
                self._model.told_completed.add(job.uid)
                self._over.add((job.uid, job.attempt))
        for pod in workers:
            self._steer(pod, ends="succeeded", after=f"{(order.number * 7 + pod.index * 13) % 30 * 100}ms")

    def _come_too_late(self, job: JobLife) -> None:
        """A launcher that finds all completed exits 0 without having trained."""
        for pod in job.live:
            if pod.role == "worker" and pod.running and not pod.deleting and pod.uid not in self._steered:
                self._steer(pod, ends="succeeded", after="1s")

    def _steer(self, pod: PodLife, **annotations: str) -> None:
        if "ends" in annotations:
            self._steered.add(pod.uid)
        with suppress(ApiError):
            self._desk.steer(pod.name, **annotations)


def _goes_or_went_well(pod: PodLife, job: JobLife) -> bool:
    return pod.attempt == job.attempt and (pod.running or pod.succeeded)
