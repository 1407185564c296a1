"""The objects a job owns, as much of them as decisions read: what all kinds have, ConfigMaps and pods.

Anything else in a pod is dropped while it is decoded, so a thousand pods cost little. Absent fields have harmless
defaults: half-made objects are normal in Kubernetes. They hold no cycles, so the garbage collector is spared them
(gc=False): with ten thousand pods it would stop everything for 40 ms at a time.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from paddlejob.api import ObjectMeta
from paddlejob.api.names import ANNOTATION_CONTAINER, CONTAINER
from paddlejob.core import verdict

# As Kubernetes writes it under `kind`; with its group where several have one of that name.
KindName = str
# As RBAC has it.
Verb = Literal["create", "update", "patch", "delete"]
PodState = Literal["pending", "starting", "running", "failed", "succeeded", "unknown"]


class Child(msgspec.Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    kind: ClassVar[KindName]
    metadata: ObjectMeta = ObjectMeta()

    @property
    def deleting(self) -> bool:
        return self.metadata.deletion_timestamp is not None


class ToldEndpoints(msgspec.Struct, frozen=True, gc=False):
    """Where the pods are that a ConfigMap tells of: host:port, one after the other. Empty where it tells nothing."""

    servers: str = msgspec.field(default="", name="PADDLE_PSERVERS_IP_PORT_LIST")
    workers: str = msgspec.field(default="", name="PADDLE_TRAINER_ENDPOINTS")
    heter: str = msgspec.field(default="", name="PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST")
    master: str = msgspec.field(default="", name="PADDLE_MASTER")


class ConfigMap(Child, frozen=True, gc=False, kw_only=True):
    kind: ClassVar[KindName] = "ConfigMap"
    data: ToldEndpoints = ToldEndpoints()


class Waiting(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    reason: str = ""
    message: str = ""


class Running(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    started_at: str | None = None


class Terminated(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    exit_code: int = 0
    reason: str = ""
    message: str = ""
    finished_at: str | None = None


class ContainerState(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    waiting: Waiting | None = None
    running: Running | None = None
    terminated: Terminated | None = None


class ContainerStatus(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    name: str = ""
    restart_count: int = 0
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()


# A container of which no kubelet has said anything.
NOT_TOLD = ContainerStatus()


class PodCondition(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class PodStatus(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    phase: str = "Pending"
    reason: str = ""
    message: str = ""
    start_time: str | None = None
    """When its kubelet took it on."""
    pod_ip: str = msgspec.field(default="", name="podIP")
    conditions: tuple[PodCondition, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()


class Container(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    name: str = ""
    restart_policy: str | None = None
    """Its own; otherwise that of the pod."""


class PodSpec(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    node_name: str = ""
    restart_policy: str = "Never"
    containers: tuple[Container, ...] = ()


class Pod(Child, frozen=True, gc=False, rename="camel", kw_only=True):
    kind: ClassVar[KindName] = "Pod"
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def state(self) -> PodState:
        return verdict.state_of(self)

    @property
    def ended(self) -> bool:
        """Whether its program has ended, whatever else may still run in it."""
        return self.state in ("succeeded", "failed")

    @property
    def finished(self) -> bool:
        """Whether its kubelet says that nothing runs in it any more."""
        return self.status.phase in ("Succeeded", "Failed")

    @property
    def runs(self) -> bool:
        """Whether something runs in it, or is about to, and does not end by itself."""
        return not verdict.is_over(self)

    @property
    def training(self) -> ContainerStatus:
        """The container that trains: the one that its annotation names, else paddle, else the first of its spec."""
        found, named = self.status.container_statuses, self.metadata.annotations.get(ANNOTATION_CONTAINER, CONTAINER)
        for one in found:
            if one.name == named:
                return one
        first = self.spec.containers[0].name if self.spec.containers else None
        only = found[0] if len(found) == 1 else NOT_TOLD
        return next((one for one in found if one.name == first), only)

    def restart_policy(self, container: ContainerStatus) -> str:
        own = next((one.restart_policy for one in self.spec.containers if one.name == container.name), None)
        return own or self.spec.restart_policy

    @property
    def containers(self) -> tuple[ContainerStatus, ...]:
        """Init containers first: the order in which they run."""
        return self.status.init_container_statuses + self.status.container_statuses
