"""What troubles can reach: the cluster, the two operators, and what the model knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.chaos.calls import Calls
from tests.chaos.lives import JobLife, PodLife
from tests.chaos.model import Model
from tests.chaos.replica import Replica
from tests.cluster.control_plane import ControlPlane
from tests.etcd.server import EtcdServer
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
    calls: Calls
    etcd: EtcdServer
    nodes: tuple[str, ...]  # those that may be lost
    aimed: list[str] = field(default_factory=list)  # at whom the trouble that begins is aimed in the end

    def job(self, name: str, fits: Callable[[JobLife], object] = lambda job: not job.finished) -> JobLife:
        """The job of this name or, if it does not fit, the next younger or older one that does."""
        found = [job for job in self.model.jobs.values() if not job.gone and not job.deleting and fits(job)]
        wanted = self.model.orders[name].number
        if not found:
            raise Missed("there is no such job")
        chosen = min(found, key=lambda job: abs(self.model.orders[job.name].number - wanted))
        self.aimed.append(chosen.name)
        return chosen

    def pod(self, name: str, slot: int, fits: Callable[[PodLife], object] = lambda _: True) -> PodLife:
        """One of the job's pods that fit, or of the nearest job that has such pods."""

        def fitting(job: JobLife) -> list[PodLife]:
            return [] if job.finished else [pod for pod in job.live if not pod.deleting and fits(pod)]

        pods = sorted(fitting(self.job(name, fitting)), key=lambda pod: pod.name)
        self.aimed[:] = [pods[slot % len(pods)].name]
        return pods[slot % len(pods)]

    def idle(self, number: int) -> Replica:
        """The operator that leads (0) or the other one (1), unless something is being done to it."""
        leads = next((one for one in self.replicas if self.calls.leads in one.tokens), self.replicas[0])
        replica = leads if number == 0 else next(one for one in self.replicas if one is not leads)
        if replica.busy:
            raise Missed(f"{replica.name} has trouble enough")
        self.aimed.append(replica.name)
        return replica

    def path(self, plural: str, name: str = "") -> str:
        return f"/api/v1/namespaces/{self.desk.namespace}/{plural}" + (f"/{name}" if name else "")

    def job_path(self, name: str) -> str:
        return f"/apis/batch.paddlepaddle.org/v1/namespaces/{self.desk.namespace}/paddlejobs/{name}"
