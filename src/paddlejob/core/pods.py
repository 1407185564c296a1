"""Pods, one per slot: the user's template, the operator's names and environment around it.

What the user sets wins; defaults are filled in only where the user is silent.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Any

from paddlejob.api import Job
from paddlejob.api import names as n
from paddlejob.core.actions import Body, Create
from paddlejob.core.admission import is_admitted
from paddlejob.core.avoiding import avoided, with_preference
from paddlejob.core.children import Pod
from paddlejob.core.environment import pod_environment
from paddlejob.core.gang import Gang, gang_of
from paddlejob.core.kind import Extent, Kind, Missing
from paddlejob.core.lives import life_of
from paddlejob.core.membership import membership
from paddlejob.core.observe import Observed, Slot
from paddlejob.core.ports import block_of, host_ports
from paddlejob.core.shared_memory import with_shared_memory
from paddlejob.core.template import containers, main_index, mapping, mappings

CONTAINER_DEFAULTS = {"terminationMessagePolicy": "FallbackToLogsOnError"}
# Names of the cluster resolve on the host's network too.
HOST_DEFAULTS: Body = {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}


def pod(job: Job, slot: Slot, gang: Gang | None = None, avoided_nodes: tuple[str, ...] = ()) -> Body:
    template = dict(job.spec.roles)[slot.role].template
    meta, member = mapping(template.get("metadata")), membership(job, slot.role, gang)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": slot.name,
            "namespace": job.metadata.namespace,
            "labels": {**member.labels, **mapping(meta.get("labels")), **labels(job, slot)},
            "annotations": {
                **member.annotations,
                **mapping(meta.get("annotations")),
                **_annotations(job, slot),
                **_trains(template),
            },
            "ownerReferences": [owner(job)],
            **({"finalizers": meta["finalizers"]} if meta.get("finalizers") else {}),
        },
        "spec": with_preference(_spec(job, slot, {**member.spec, **mapping(template.get("spec"))}), avoided_nodes),
    }


def pod_names(job: Job) -> tuple[str, ...]:
    return tuple(
        n.pod_name(job.metadata.name, role, index) for role, asked in job.spec.roles for index in range(asked.wanted)
    )


def slot_named(job: Job, name: str) -> Slot | None:
    """The slot that a pod of this name fills, also if so many are not wanted any more."""
    for role, _ in job.spec.roles:
        index = n.index_in(name, job.metadata.name, role)
        if index is not None:
            return Slot(role, index, name)
    return None


def missing(job: Job, observed: Observed, now: datetime) -> Iterator[Missing]:
    if not life_of(job).fills(job, observed, now) or not is_admitted(job, observed):
        return
    gang, nodes = gang_of(job, observed.scheduling), avoided(job.status, now)
    for slot in observed.slots:
        if slot.pod is None and not slot.succeeded:
            yield Missing(PODS.name, slot.name, partial(_create, job, slot, gang, nodes))


def _create(job: Job, slot: Slot, gang: Gang | None, avoided_nodes: tuple[str, ...]) -> Create:
    return Create(PODS.name, slot.name, pod(job, slot, gang, avoided_nodes))


def is_cleaned(one: Pod, extent: Extent) -> bool:
    return extent == "everything" or (extent == "what still runs" and one.runs)


def labels(job: Job, slot: Slot) -> dict[str, str]:
    return {
        n.LABEL_RES_NAME: slot.name,
        n.LABEL_RES_TYPE: slot.role,
        n.LABEL_JOB: job.metadata.name,
        n.LABEL_INDEX: str(slot.index),
        n.LABEL_ATTEMPT: str(job.status.attempt),
    }


def _annotations(job: Job, slot: Slot) -> dict[str, str]:
    """A pod on the host's network tells its block: it holds its ports even when its job is gone before it."""
    block = block_of(job) if job.spec.network == "Host" else None
    return {n.ANNOTATION_ROLE: slot.role, **({n.ANNOTATION_PORTS: str(block)} if block else {})}


def _trains(template: Body) -> dict[str, str]:
    """Which container trains, where its name does not tell: a webhook may put others before it."""
    found = containers(template)
    name = found[main_index(found)].get("name") if found else None
    return {n.ANNOTATION_CONTAINER: name} if isinstance(name, str) and name not in ("", n.CONTAINER) else {}


def owner(job: Job) -> Body:
    return {
        "apiVersion": n.API_VERSION,
        "kind": n.KIND,
        "name": job.metadata.name,
        "uid": job.metadata.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _spec(job: Job, slot: Slot, spec: dict[str, Any]) -> Body:
    on_host = HOST_DEFAULTS if job.spec.network == "Host" else {}
    made = {**life_of(job).POD_DEFAULTS, **on_host, **spec}
    found = [{**CONTAINER_DEFAULTS, **container} for container in mappings(spec.get("containers"))]
    if found:
        main = main_index(found)
        made, trains = with_shared_memory(made, found[main])
        found[main] = _training_container(job, slot, trains)
        made["containers"] = found
    if init := mappings(spec.get("initContainers")):
        made["initContainers"] = [{**CONTAINER_DEFAULTS, **container} for container in init]
    return made


def _training_container(job: Job, slot: Slot, container: Body) -> Body:
    source = {"configMapRef": {"name": job.metadata.name}}
    return {
        **container,
        **_host_ports(job, slot, mappings(container.get("ports"))),
        "env": _merged(_variables(job, slot), mappings(container.get("env"))),
        # Of two sources with the same name the later wins: the user's come after ours.
        "envFrom": [source, *mappings(container.get("envFrom"))],
    }


def _variables(job: Job, slot: Slot) -> list[Body]:
    withheld = life_of(job).WITHHELD
    return [variable for variable in pod_environment(job, slot.role, slot.index) if variable["name"] not in withheld]


def _host_ports(job: Job, slot: Slot, users: list[Body]) -> dict[str, list[Body]]:
    if job.spec.network != "Host":
        return {}
    declared = {port.get("containerPort") for port in users}
    wanted = [port for port in host_ports(job, slot.role, slot.index) if port not in declared]
    return {"ports": [*users, *({"containerPort": port, "hostPort": port, "protocol": "TCP"} for port in wanted)]}


def _merged(ours: list[Body], users: list[Body]) -> list[Body]:
    """Ours first, so that the user's values can refer to them; what the user sets is not set by us.

    The endpoint is made of the address and the port: if the user sets one of those, it must come after them.
    """
    taken = {name for variable in users if isinstance(name := variable.get("name"), str)}
    kept = [one for one in ours if one["name"] not in taken]
    late = [one for one in kept if one["name"] == "PADDLE_CURRENT_ENDPOINT" and taken & {"POD_IP", "PADDLE_PORT"}]
    return [*(one for one in kept if one not in late), *users, *late]


PODS = Kind(
    type=Pod,
    plural="pods",
    names=pod_names,
    missing=missing,
    precedes_pods=lambda _: False,
    is_cleaned=is_cleaned,
)
