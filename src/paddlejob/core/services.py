"""The Services of a job whose pods find each other by name: one per pod, made before any of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import ClassVar

from paddlejob.api import Job
from paddlejob.api import names as n
from paddlejob.core.actions import Body, Create
from paddlejob.core.children import Child, KindName
from paddlejob.core.kind import Extent, Kind, Missing
from paddlejob.core.observe import Observed, Slot
from paddlejob.core.pods import labels, owner, pod_names


class Service(Child, frozen=True, kw_only=True):
    kind: ClassVar[KindName] = "Service"


def service(job: Job, slot: Slot) -> Body:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": slot.name,
            "namespace": job.metadata.namespace,
            "labels": labels(job, slot),
            "ownerReferences": [owner(job)],
        },
        "spec": {
            # Headless: the name leads to the pod's own address, which a server can bind.
            "clusterIP": "None",
            # PaddlePaddle connects by IPv4 alone: where there are both, the name must lead to both.
            "ipFamilyPolicy": "PreferDualStack",
            # Pods meet before they are ready: that is what they need names for.
            "publishNotReadyAddresses": True,
            "selector": {n.LABEL_RES_NAME: slot.name},
            "ports": [{"name": "paddle", "port": n.PORT, "targetPort": n.PORT, "protocol": "TCP"}],
        },
    }


def names(job: Job) -> tuple[str, ...]:
    return pod_names(job) if job.spec.network == "Service" else ()


def missing(job: Job, observed: Observed, _: datetime) -> Iterator[Missing]:
    if job.spec.network != "Service":
        return
    there = {found.metadata.name for found in observed.of(Service)}
    for slot in observed.slots:
        if slot.name not in there:
            yield Missing(SERVICES.name, slot.name, partial(_create, job, slot))


def _create(job: Job, slot: Slot) -> Create:
    return Create(SERVICES.name, slot.name, service(job, slot))


def is_cleaned(_: Service, extent: Extent) -> bool:
    return extent == "everything"


SERVICES = Kind(
    type=Service,
    plural="services",
    names=names,
    missing=missing,
    precedes_pods=lambda _: True,
    is_cleaned=is_cleaned,
)
