"""How pods find each other: by address, which is known when they are placed, or by names that are known beforehand."""

from __future__ import annotations

from typing import Any

from paddlejob.api import Job
from paddlejob.api.names import RoleName, pod_name, service_host
from paddlejob.core.observe import Observed

EnvVar = dict[str, Any]


def has_names(job: Job) -> bool:
    """Whether every pod is known by name before it is made: then none has to wait for the others' addresses."""
    return job.spec.network == "Service"


def own_address(job: Job, role: RoleName, index: int) -> EnvVar:
    """What a pod is told of where it is."""
    if has_names(job):
        name = pod_name(job.metadata.name, role, index)
        return {"name": "POD_IP", "value": service_host(name, job.metadata.namespace)}
    return {"name": "POD_IP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}}


def hosts(job: Job, observed: Observed, role: RoleName) -> list[str] | None:
    """Where the pods of a role are found; None while that is not known of all."""
    slots = observed.of_role(role)
    if has_names(job):
        return [service_host(slot.name, job.metadata.namespace) for slot in slots]
    # A pod that is going away takes its address along: the pod that replaces it has another.
    addresses = [slot.pod.status.pod_ip if slot.pod and not slot.pod.deleting else "" for slot in slots]
    return addresses if all(addresses) and not any(is_foreign(job, one) for one in addresses) else None


def is_foreign(job: Job, address: str) -> bool:
    """Whether PaddlePaddle cannot use it: it splits endpoints at the first colon, and connects by IPv4 alone.

    Two workers would each train alone and exit 0. A lone worker connects to nobody.
    """
    return ":" in address and (job.spec.mode != "Single" or job.spec.is_elastic)
