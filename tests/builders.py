"""Jobs, pods and what is around them, built as one would say it: `a_job().with_workers(4)`, `a_pod().failed(137)`.

Builders are immutable: every step gives a new one, so a case can start from another case. `build()` gives the object
itself. Nothing here decides anything.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from paddlejob.api import Job, ObjectMeta, OwnerReference, PaddleJobSpec, Role, Status
from paddlejob.api import names as n
from paddlejob.api.spec import CleanPodPolicy, Intranet
from paddlejob.api.status import Phase
from paddlejob.core import ConfigMap, Pod, Refusal, Service
from paddlejob.core.children import (
    Container,
    ContainerState,
    ContainerStatus,
    KindName,
    PodCondition,
    Running,
    Terminated,
    Waiting,
)
from paddlejob.core.groups import GroupCondition, GroupStatus, VolcanoPodGroup

NOW = datetime(2026, 5, 4, 12, 0, 0, tzinfo=timezone.utc)
NOW_TEXT = "2026-05-04T12:00:00Z"
EARLIER = "2026-05-04T11:00:00Z"
UID = "8f432e67-8cda-482c-b147-91f9d4400067"
ETCD = "10.96.0.50:2379"
CONFIG_MAP_UID = "c0ffee00-0000-4000-8000-000000000000"

Template = dict[str, Any]


def a_template(spec: Template | None = None, metadata: Template | None = None, **container: Any) -> Template:
    """A pod template with one container named paddle; keywords are fields of that container."""
    made: Template = {"spec": {**(spec or {}), "containers": [{"name": "paddle", "image": "train:v1", **container}]}}
    return {**made, "metadata": metadata} if metadata else made


class JobBuilder(Struct, frozen=True):
    job: Job

    def build(self) -> Job:
        return self.job

    def named(self, name: str) -> JobBuilder:
        return self._meta(name=name)

    def in_namespace(self, namespace: str) -> JobBuilder:
        return self._meta(namespace=namespace)

    def with_uid(self, uid: str) -> JobBuilder:
        return self._meta(uid=uid)

    def at_generation(self, generation: int) -> JobBuilder:
        return self._meta(generation=generation)

    def annotated(self, annotations: dict[str, str]) -> JobBuilder:
        return self._meta(annotations=annotations)

    def labelled(self, labels: dict[str, str]) -> JobBuilder:
        return self._meta(labels=labels)

    def deleted(self, at: str = NOW_TEXT) -> JobBuilder:
        return self._meta(deletion_timestamp=at)

    def asking(self, **fields: Any) -> JobBuilder:
        """Any other field of the spec: `asking(elastic=1)`."""
        return JobBuilder(replace(self.job, spec=replace(self.job.spec, **fields)))

    def with_workers(self, replicas: int, template: Template | None = None) -> JobBuilder:
        return self.asking(worker=_role(self.job.spec.worker, replicas, template))

    def with_servers(self, replicas: int, template: Template | None = None) -> JobBuilder:
        return self.asking(ps=_role(self.job.spec.ps, replicas, template))

    def with_heter(self, replicas: int, template: Template | None = None) -> JobBuilder:
        return self.asking(heter=_role(self.job.spec.heter, replicas, template))

    def with_ports(self, first: object) -> JobBuilder:
        """A block of ports stands on the job already."""
        return self._meta(annotations={n.ANNOTATION_PORTS: str(first)})

    def without_workers(self) -> JobBuilder:
        return self.asking(worker=None)

    def template(self, template: Template) -> JobBuilder:
        """The same template for every role the job has so far."""
        return self.asking(**{name: replace(role, template=template) for name, role in self.job.spec.roles})

    def with_gloo(self, level: int) -> JobBuilder:
        return self.asking(with_gloo=level)

    def by(self, intranet: Intranet) -> JobBuilder:
        return self.asking(intranet=intranet)

    def by_service(self) -> JobBuilder:
        return self.by("Service")

    def cleaning(self, policy: CleanPodPolicy) -> JobBuilder:
        return self.asking(clean_pod_policy=policy)

    def with_status(self, status: Status | None = None, **fields: Any) -> JobBuilder:
        """A whole status, or some of its fields changed."""
        return JobBuilder(replace(self.job, status=replace(status or self.job.status, **fields)))

    def in_phase(self, phase: Phase) -> JobBuilder:
        return self.with_status(phase=phase, mode=self.job.spec.mode, start_time=EARLIER)

    def _meta(self, **fields: Any) -> JobBuilder:
        return JobBuilder(replace(self.job, metadata=replace(self.job.metadata, **fields)))


def a_job() -> JobBuilder:
    """One worker, by pod address, just created."""
    meta = ObjectMeta(name="train", namespace="team", uid=UID, generation=1, creation_timestamp=EARLIER)
    return JobBuilder(Job(metadata=meta, spec=PaddleJobSpec(worker=Role(template=a_template()))))


def a_ps_job(servers: int = 2, workers: int = 2) -> JobBuilder:
    return a_job().with_servers(servers).with_workers(workers)


def an_elastic_job(workers: int = 2, least: int = 2, most: int = 4) -> JobBuilder:
    """With an etcd of its own."""
    job = a_job().with_workers(workers).asking(elastic=1)
    assert job.job.spec.worker is not None
    return job.asking(worker=replace(job.job.spec.worker, requests=least, limits=most)).annotated(
        {n.ANNOTATION_ETCD: ETCD}
    )


class PodBuilder(Struct, frozen=True):
    pod: Pod

    def build(self) -> Pod:
        return self.pod

    def named(self, name: str) -> PodBuilder:
        return self._meta(name=name, uid=f"uid-of-{name}")

    def of(self, job: Job, role: n.RoleName, index: int) -> PodBuilder:
        """The pod that fills this place of the job."""
        name = n.pod_name(job.metadata.name, role, index)
        labels = {
            n.LABEL_RES_NAME: name,
            n.LABEL_RES_TYPE: role,
            n.LABEL_JOB: job.metadata.name,
            n.LABEL_ATTEMPT: str(job.status.attempt),
        }
        return self.named(name).owned_by(job)._meta(namespace=job.metadata.namespace, labels=labels)

    def owned_by(self, job: Job) -> PodBuilder:
        return self._meta(owner_references=(owner_reference(job),))

    def placed(self, node: str = "node-1") -> PodBuilder:
        return PodBuilder(replace(self.pod, spec=replace(self.pod.spec, node_name=node)))

    def having(self, *containers: str, restart_policy: str = "Never") -> PodBuilder:
        """The containers of its spec, in their order there."""
        made = tuple(Container(name) for name in containers)
        return PodBuilder(
            replace(self.pod, spec=replace(self.pod.spec, containers=made, restart_policy=restart_policy))
        )

    def with_sidecar(self, state: ContainerState, name: str = "proxy") -> PodBuilder:
        """One more container; a kubelet reports containers in the order of their names."""
        statuses = (*self.pod.status.container_statuses, ContainerStatus(name=name, state=state))
        return self._status(container_statuses=tuple(sorted(statuses, key=lambda one: one.name)))

    def with_address(self, address: str) -> PodBuilder:
        return self.placed()._status(pod_ip=address)

    def touched(self, version: str = CONFIG_MAP_UID) -> PodBuilder:
        return self._meta(annotations={n.ANNOTATION_ENVIRONMENT: version})

    def in_phase(self, phase: str) -> PodBuilder:
        """Any phase, even one that Kubernetes does not have."""
        return self._status(phase=phase)

    def running(self) -> PodBuilder:
        return self.placed()._status(phase="Running")._container(ContainerState(running=Running(NOW_TEXT)))

    def succeeded(self, at: str = NOW_TEXT) -> PodBuilder:
        end = Terminated(exit_code=0, reason="Completed", finished_at=at)
        return self.placed()._status(phase="Succeeded")._container(ContainerState(terminated=end))

    def failed(
        self, exit_code: int = 1, reason: str = "Error", message: str = "", at: str | None = NOW_TEXT
    ) -> PodBuilder:
        end = Terminated(exit_code=exit_code, reason=reason, message=message, finished_at=at)
        return self.placed()._status(phase="Failed")._container(ContainerState(terminated=end))

    def restarted(self, times: int, exit_code: int, message: str = "") -> PodBuilder:
        """Running again after its kubelet restarted its container."""
        end = ContainerState(terminated=Terminated(exit_code=exit_code, reason="Error", message=message))
        running = ContainerState(running=Running(NOW_TEXT))
        status = ContainerStatus(name="paddle", restart_count=times, state=running, last_state=end)
        return self.running()._status(container_statuses=(status,))

    def with_uid(self, uid: str) -> PodBuilder:
        return self._meta(uid=uid)

    def evicted(self, message: str = "The node was low on resource: memory.") -> PodBuilder:
        """Failed by its node: no container says anything."""
        return self.placed()._status(phase="Failed", reason="Evicted", message=message, container_statuses=())

    def targeted(self, reason: str, message: str = "", at: str | None = NOW_TEXT) -> PodBuilder:
        """Chosen by Kubernetes for a disruption."""
        condition = PodCondition(
            type="DisruptionTarget", status="True", reason=reason, message=message, last_transition_time=at
        )
        return self._status(conditions=(condition,))

    def deleting(self, at: str = NOW_TEXT, grace: int | None = None) -> PodBuilder:
        """`at`: when it ought to be gone, so many seconds after somebody asked for it."""
        return self._meta(deletion_timestamp=at, deletion_grace_period_seconds=grace)

    def unschedulable(self, message: str, reason: str = "Unschedulable") -> PodBuilder:
        condition = PodCondition(type="PodScheduled", status="False", reason=reason, message=message)
        return self._status(conditions=(condition,))

    def waiting(self, reason: str, message: str = "", container: str = "paddle") -> PodBuilder:
        return self.placed()._container(ContainerState(waiting=Waiting(reason, message)), container)

    def with_init(self, state: ContainerState, name: str = "init") -> PodBuilder:
        return self._status(init_container_statuses=(ContainerStatus(name=name, state=state),))

    def _container(self, state: ContainerState, name: str = "paddle") -> PodBuilder:
        return self._status(container_statuses=(ContainerStatus(name=name, state=state),))

    def _meta(self, **fields: Any) -> PodBuilder:
        return PodBuilder(replace(self.pod, metadata=replace(self.pod.metadata, **fields)))

    def _status(self, **fields: Any) -> PodBuilder:
        return PodBuilder(replace(self.pod, status=replace(self.pod.status, **fields)))


def a_pod() -> PodBuilder:
    """Just created, nobody's: neither placed nor with an address."""
    return PodBuilder(Pod()).named("a-pod")


def places_of(job: Job) -> list[tuple[n.RoleName, int]]:
    return [(role, index) for role, wanted in job.spec.roles for index in range(wanted.replicas)]


def pods_of(job: Job) -> dict[str, PodBuilder]:
    """A pod for every place of the job, with an address each, by name."""
    made = [a_pod().of(job, role, index) for role, index in places_of(job)]
    return {one.pod.metadata.name: one.with_address(f"10.0.0.{at}") for at, one in enumerate(made, start=1)}


def a_service(job: Job, role: n.RoleName, index: int, deleting: bool = False) -> Service:
    name = n.pod_name(job.metadata.name, role, index)
    return Service(metadata=replace(_child(job, name), deletion_timestamp=NOW_TEXT if deleting else None))


def services_of(job: Job) -> list[Service]:
    return [a_service(job, role, index) for role, index in places_of(job)]


def a_volcano_group(job: Job, phase: str = "Inqueue", *, message: str = "", users: bool = False) -> VolcanoPodGroup:
    """The job's own, or its user's; a message is why it cannot be scheduled."""
    said = (GroupCondition("Unschedulable", "True", "NotEnoughResources", message),) if message else ()
    meta = replace(_child(job, job.metadata.name), creation_timestamp=NOW_TEXT)
    meta = replace(meta, labels={}, owner_references=()) if users else meta
    return VolcanoPodGroup(metadata=meta, status=GroupStatus(phase, said))


def a_config_map(job: Job) -> ConfigMap:
    return ConfigMap(metadata=replace(_child(job, job.metadata.name), uid=CONFIG_MAP_UID))


def a_refusal(kind: KindName, name: str, reason: str = "QuotaExceeded", seconds: int = 30) -> Refusal:
    """What the API server said to a create; to be tried again so many seconds from now."""
    return Refusal(kind, name, reason, f"{reason} says the API server", NOW + timedelta(seconds=seconds))


def owner_reference(job: Job) -> OwnerReference:
    return OwnerReference(n.API_VERSION, n.KIND, job.metadata.name, job.metadata.uid, True, True)


def _child(job: Job, name: str) -> ObjectMeta:
    """Of the job's present attempt."""
    return ObjectMeta(
        name=name,
        namespace=job.metadata.namespace,
        uid=f"uid-of-{name}",
        labels={n.LABEL_ATTEMPT: str(job.status.attempt)},
        owner_references=(owner_reference(job),),
    )


def _role(before: Role | None, replicas: int, template: Template | None) -> Role:
    kept = before.template if before else a_template()
    return replace(before or Role(), replicas=replicas, template=kept if template is None else template)
