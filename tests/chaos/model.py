"""What must hold, whatever befalls the operators: the model hears of every change, in order, and complains.

It is pure: changes, notes of what the campaign did, and times are given to it. What may be seen only after trouble is
over is in `settling.py`; what the audit log tells, in `calls.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.chaos.jobs import Order
from tests.chaos.lives import FINAL, JobLife, PodLife, a_pod_life, owner_of
from tests.chaos.watching import Change
from tests.scenarios.desk import Json

DEADLINES = {"runs out of time": "DeadlineExceeded", "never starts": "StartingDeadlineExceeded"}


@dataclass(frozen=True)
class Complaint:
    """A rule that was broken, by which job, and how."""

    rule: str
    job: str
    text: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.job}: {self.text}"


@dataclass
class Model:
    orders: Mapping[str, Order]
    jobs: dict[str, JobLife] = field(default_factory=dict)  # by UID
    config_maps: dict[str, dict[str, str]] = field(default_factory=dict)  # by the job's UID
    complaints: list[Complaint] = field(default_factory=list)
    # Running pods that were deleted although nothing called for it, by UID: wrong if an operator did it.
    unjustified: dict[str, Complaint] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)  # UIDs of pods that the campaign itself deleted
    told_completed: set[str] = field(default_factory=set)  # elastic jobs whose launcher has said so, by UID

    def named(self, name: str) -> JobLife | None:
        """The job that has this name now."""
        return next((job for job in self.jobs.values() if job.name == name and not job.gone), None)

    def meddled(self, name: str) -> None:
        if job := self.named(name):
            job.meddled = True

    def see(self, change: Change) -> None:
        match change.kind:
            case "paddlejobs":
                self._see_job(change)
            case "pods":
                self._see_pod(change)
            case "configmaps" if uid := owner_of(change.body):
                self.config_maps[uid] = {} if change.type == "DELETED" else change.body.get("data", {})

    def _complain(self, rule: str, job: JobLife, text: str) -> None:
        complaint = Complaint(rule, job.name, text)
        if complaint not in self.complaints:
            self.complaints.append(complaint)

    def _see_job(self, change: Change) -> None:
        meta = change.body["metadata"]
        job = self.jobs.setdefault(meta["uid"], JobLife(meta["uid"], meta["name"], change.body))
        before = job.status if change.type != "ADDED" else {}
        was_suspended = bool(job.spec.get("suspend")) and change.type != "ADDED"
        if change.body.get("status") != job.body.get("status") or change.type == "ADDED":
            job.changed_at = change.seen_at
        if change.type == "ADDED":
            job.least_backoff = change.body["spec"].get("backoffLimit", 0)
        job.body = change.body
        for role in ("ps", "worker", "heter"):
            job.asked[role] = max(job.asked.get(role, 0), job.spec.get(role, {}).get("replicas", 0))
        job.suspends += bool(job.spec.get("suspend")) and not was_suspended
        job.gone = change.type == "DELETED"
        job.least_backoff = min(job.least_backoff, job.spec.get("backoffLimit", 0))
        job.deleting_since = job.deleting_since or (change.seen_at if job.deleting else None)
        job.running_since = (job.running_since or change.seen_at) if job.phase == "Running" else None
        if not job.gone:
            self._check_attempt(job, int(before.get("attempt", 0)))
            self._check_end(job, str(before.get("phase", "")))
            self._check_restarts(job)
            self._count(job)
            if job.phase == "Running" and before.get("phase") != "Running":
                self._check_addresses(job)

    def _check_attempt(self, job: JobLife, before: int) -> None:
        if job.attempt < before and not job.meddled:
            self._complain("attempts only go up", job, f"from {before} to {job.attempt}")
        if job.attempt <= before or job.meddled or job.causes.get(before):
            return
        if job.suspends > job.suspends_used:
            job.suspends_used += 1
            return
        text = f"attempt {job.attempt} began although nothing had happened to a pod of attempt {before}"
        self._complain("no restart without a cause", job, f"{text}: {job.reason} {job.status.get('failure')}")

    def _check_addresses(self, job: JobLife) -> None:
        """Of a job by address whose pods all run: they were told where the others are."""
        told = self.config_maps.get(job.uid, {}).get("PADDLE_TRAINER_ENDPOINTS", "")
        # Workers that are replaced alone do not look for each other.
        alone = "ps" in job.spec and not job.spec.get("withGloo", 1)
        if job.spec.get("intranet", "PodIP") != "PodIP" or not told or alone or job.meddled:
            return
        known = {one.rpartition(":")[0] for one in told.split(",")}
        if strays := {pod.address for pod in job.live if pod.role == "worker" and pod.running} - known:
            self._complain("pods are told right addresses", job, f"{strays} are not in {told}")

    def _count(self, job: JobLife) -> None:
        """Which workers' success an operator has seen: of others that were deleted meanwhile, nobody could know."""
        done = [pod for pod in job.live if pod.role == "worker" and pod.succeeded]
        if done and int(job.status.get("worker", {}).get("succeeded", 0)) >= len(done):
            for pod in done:
                pod.counted = True

    def _check_restarts(self, job: JobLife) -> None:
        counted = int(job.status.get("restarts", 0))
        if counted > job.failures and not job.meddled:
            self._complain("only failures of the program are counted", job, f"{counted}, but there were {job.failures}")

    def _check_end(self, job: JobLife, before: str) -> None:
        if before in FINAL and job.phase != before and not job.meddled:
            self._complain("an end is an end", job, f"{before}, then {job.phase}")
        if job.finished and before not in FINAL and not (job.meddled and not job.status.get("completionTime")):
            if job.phase == "Completed":
                self._check_completed(job)
            else:
                self._check_failed(job)

    def _check_completed(self, job: JobLife) -> None:
        order = self.orders.get(job.name)
        if order is not None and order.fate != "completes":
            self._complain("every end is the right one", job, f"Completed, but it {order.fate}")
        if order is not None and order.shape == "elastic":
            if job.uid not in self.told_completed:
                self._complain("every end is the right one", job, "Completed, but its launcher has not said so")
            return
        done = {pod.index for pod in job.pods.values() if pod.role == "worker" and pod.succeeded}
        if missing := set(range(job.spec["worker"]["replicas"])) - done:
            self._complain("every end is the right one", job, f"Completed, but workers {missing} never succeeded")

    def _check_failed(self, job: JobLife) -> None:
        order = self.orders.get(job.name)
        if order is None:
            return
        if wanted := DEADLINES.get(order.fate):
            if job.reason != wanted:
                self._complain("every end is the right one", job, f"Failed with {job.reason}, but it {order.fate}")
        elif order.fate == "completes":
            self._complain("every end is the right one", job, f"Failed with {job.reason}: {job.status.get('message')}")
        elif job.failures <= job.least_backoff:
            text = f"Failed after {job.failures} failures with backoffLimit {job.least_backoff}"
            self._complain("every end is the right one", job, text)

    def _see_pod(self, change: Change) -> None:
        job = self.jobs.get(owner_of(change.body) or "")
        uid = change.body["metadata"]["uid"]
        if job is None:
            return
        pod = job.pods.get(uid)
        if pod is None:
            pod = a_pod_life(change.body)
            if pod is None:
                return
            self._check_born(job, pod)
            job.pods[uid] = pod
        before, pod.body, pod.gone = pod.body, change.body, change.type == "DELETED"
        job.changed_at = change.seen_at
        self._follow(job, pod, before)

    def _check_born(self, job: JobLife, pod: PodLife) -> None:
        others = [one for one in job.live if one.attempt != pod.attempt]
        if others:
            text = f"{pod.name} of attempt {pod.attempt} beside {others[0].name} of attempt {others[0].attempt}"
            self._complain("attempts never mix", job, text)
        same = [one for one in job.live if one.role == pod.role]
        most = job.asked.get(pod.role, 0)
        if pod.index >= most or len(same) >= most:
            self._complain("never more pods than asked for", job, f"{pod.name} beside {len(same)} others of {most}")
        if job.finished and not job.meddled:
            self._complain("nothing is made after the end", job, f"{pod.name} was created, the job is {job.phase}")
        twice = [one for one in job.pods.values() if one.name == pod.name and one.counted]
        if pod.role == "worker" and any(one.attempt == pod.attempt for one in twice) and not self._is_elastic(job):
            self._complain("a worker that succeeded is not run again", job, f"{pod.name} in attempt {pod.attempt}")

    def _is_elastic(self, job: JobLife) -> bool:
        return bool(job.spec.get("elastic"))

    def _follow(self, job: JobLife, pod: PodLife, before: Json) -> None:
        """What the change of a pod means for its job."""
        was_deleting = "deletionTimestamp" in before["metadata"]
        was_running = before.get("status", {}).get("phase") == "Running"
        code = _exit_code(pod.body)
        if pod.phase == "Succeeded" and not was_deleting:
            pod.succeeded = True
        if pod.phase == "Failed" and not was_deleting:
            pod.failed = pod.failed or (code is not None and not _is_disrupted(pod.body))
            self._cause(job, pod, f"it failed with {code}")
        if _is_disrupted(pod.body):
            self._cause(job, pod, "it was disrupted")
        if pod.deleting and not was_deleting:
            if was_running and pod.uid not in self.taken and not self._is_called_for(job, pod):
                text = f"{pod.name} of attempt {pod.attempt} ran; the job was {job.phase} in attempt {job.attempt}"
                self.unjustified[pod.uid] = Complaint("no delete of a healthy pod", job.name, text)
            self._cause(job, pod, "it was deleted")
        if pod.gone:
            self._cause(job, pod, "it is gone")
        address = str(pod.body.get("status", {}).get("podIP", ""))
        if address and pod.address and address != pod.address:
            self._cause(job, pod, "its address changed")
        pod.address = address or pod.address

    def _cause(self, job: JobLife, pod: PodLife, what: str) -> None:
        text = f"{pod.name}: {what}"
        if text not in job.causes[pod.attempt]:
            job.causes[pod.attempt].append(text)

    def _is_called_for(self, job: JobLife, pod: PodLife) -> bool:
        """Whether an operator may delete this running pod."""
        if job.gone or job.deleting or job.finished or job.meddled or _is_disrupted(pod.body):
            return True
        if job.attempt != pod.attempt or pod.uid in job.status.get("replacing", ()) or job.spec.get("suspend"):
            return True
        return self._is_elastic(job) and pod.index >= job.spec["worker"]["replicas"]


def _is_disrupted(body: Json) -> bool:
    status = body.get("status", {})
    targeted = any(
        one["type"] == "DisruptionTarget" and one["status"] == "True" for one in status.get("conditions", ())
    )
    return targeted or status.get("reason") == "Evicted"


def _exit_code(body: Json) -> int | None:
    statuses: list[dict[str, Any]] = body.get("status", {}).get("containerStatuses", [])
    ended = (one.get("state", {}).get("terminated") for one in statuses if one["name"] == "paddle")
    return next((int(one["exitCode"]) for one in ended if one), None)
