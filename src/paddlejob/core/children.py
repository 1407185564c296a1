"""The objects a job owns, as much of them as decisions read: what all kinds have, and pods.

Anything else in a pod is dropped while it is decoded, so a thousand pods cost little. Absent fields have harmless
defaults: half-made objects are normal in Kubernetes. They hold no cycles, so the garbage collector is spared them
(gc=False): with ten thousand pods it would stop everything for 40 ms at a time.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from paddlejob.api import ObjectMeta

# As Kubernetes writes it under `kind`.
KindName = str
# As RBAC has it.
Verb = Literal["create", "update", "patch", "delete"]
PodState = Literal["pending", "starting", "running", "failed", "succeeded", "unknown"]


class Child(msgspec.Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    metadata: ObjectMeta = ObjectMeta()

    @property
    def deleting(self) -> bool:
        return self.metadata.deletion_timestamp is not None


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


class PodCondition(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


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


class PodSpec(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    node_name: str = ""


class Pod(Child, frozen=True, gc=False, rename="camel", kw_only=True):
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def state(self) -> PodState:
        match self.status.phase:
            case "Succeeded":
                return "succeeded"
            case "Failed":
                return "failed"
            case "Running":
                return "running"
            case "Pending":
                return "starting" if self.spec.node_name else "pending"
            case _:
                return "unknown"

    @property
    def finished(self) -> bool:
        return self.status.phase in ("Succeeded", "Failed")

    @property
    def containers(self) -> tuple[ContainerStatus, ...]:
        """Init containers first: the order in which they run."""
        return self.status.init_container_statuses + self.status.container_statuses
