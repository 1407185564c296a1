"""What troubles can reach: the cluster, the two operators, and what the model knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.chaos.lives import JobLife, PodLife
from tests.chaos.model import Model
from tests.chaos.replica import Replica
from tests.cluster.control_plane import ControlPlane
from tests.scenarios.desk import Desk

Undo = Callable[[], None]


class Missed(Exception):
    """There is nothing there that it could be done to."""


@dataclass(frozen=True)
class World:
    plane: ControlPlane
    desk: Desk
    replicas: tuple[Replica, ...]
    model: Model
    nodes: tuple[str, ...]  # those that may be lost

    def job(self, name: str) -> JobLife:
        job = self.model.named(name)
        if job is None or job.deleting:
            raise Missed(f"there is no job {name}")
        return job

    def going(self, name: str) -> JobLife:
        """A job that has not ended."""
        job = self.job(name)
        if job.finished:
            raise Missed(f"{name} is {job.phase}")
        return job

    def pod(self, name: str, slot: int) -> PodLife:
        """One of the job's pods, whatever they are at this moment."""
        pods = sorted((pod for pod in self.going(name).live if not pod.deleting), key=lambda pod: pod.name)
        if not pods:
            raise Missed(f"{name} has no pods")
        return pods[slot % len(pods)]

    def idle(self, number: int) -> Replica:
        replica = self.replicas[number]
        if replica.busy:
            raise Missed(f"operator {number} has trouble enough")
        return replica

    def path(self, plural: str, name: str = "") -> str:
        return f"/api/v1/namespaces/{self.desk.namespace}/{plural}" + (f"/{name}" if name else "")

    def job_path(self, name: str) -> str:
        return f"/apis/batch.paddlepaddle.org/v1/namespaces/{self.desk.namespace}/paddlejobs/{name}"
