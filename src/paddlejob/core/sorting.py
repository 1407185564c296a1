"""From what was found to what is seen: a job's children, sorted once by kind, role and index.

Of other owners' objects only a name that the job needs is noted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from paddlejob.api import Job
from paddlejob.api.names import LABEL_ATTEMPT, pod_name
from paddlejob.core.children import Child, ConfigMap, KindName, Pod
from paddlejob.core.config_maps import CONFIG_MAPS
from paddlejob.core.groups import Group
from paddlejob.core.indexes import read
from paddlejob.core.inheriting import is_held
from paddlejob.core.kinds import GROUP_KINDS, KINDS
from paddlejob.core.observe import NO_ETCD, NO_PORTS, Etcd, Observed, Ports, Refusal, Slot
from paddlejob.core.pods import PODS
from paddlejob.core.ports import block_of, uses_block


def observe(
    job: Job,
    children: Iterable[Child] = (),
    refusals: Iterable[Refusal] = (),
    etcd: Etcd = NO_ETCD,
    ports: Ports = NO_PORTS,
) -> Observed:
    own: dict[KindName, dict[str, Child]] = {kind.name: {} for kind in KINDS}
    others: dict[KindName, dict[str, Child]] = {kind.name: {} for kind in KINDS}
    uid, attempt = job.metadata.uid, str(job.status.attempt)
    for child in children:
        meta = child.metadata
        (own if meta.controller_uid == uid else others)[child.kind][meta.name] = child
    pods = cast("dict[str, Pod]", own[PODS.name])
    current = {name: pod for name, pod in pods.items() if _attempt(pod) == attempt}
    done = succeeded(job)
    config_map = cast("ConfigMap | None", own[CONFIG_MAPS.name].get(job.metadata.name))
    is_current = config_map is not None and _attempt(config_map) == attempt
    return Observed(
        slots=tuple(
            Slot(
                role,
                index,
                name := pod_name(job.metadata.name, role, index),
                current.get(name),
                role == "worker" and index in done,
            )
            for role, wanted in job.spec.roles
            for index in range(wanted.wanted)
        ),
        children={kind: tuple(found[name] for name in sorted(found)) for kind, found in own.items()},
        config_map=config_map if is_current else None,
        leftovers=tuple(pod for name, pod in pods.items() if name not in current),
        old_config_map=None if is_current else config_map,
        refusals=tuple(one for one in refusals if _matters(job, one, own, ports)),
        taken=frozenset(
            (kind.name, name)
            for kind in KINDS
            if others[kind.name]
            for name in others[kind.name].keys() & kind.names(job)
            if not _is_lent(others[kind.name][name])
        ),
        lent=tuple(one for kind in GROUP_KINDS for one in others[kind.name].values() if _is_lent(one)),
        etcd=etcd,
        ports=ports,
    )


def _matters(job: Job, refusal: Refusal, own: dict[KindName, dict[str, Child]], ports: Ports) -> bool:
    """Whether what was refused is still to be done, as far as its object tells."""
    if refusal.kind == job.kind:
        unplaced = uses_block(job) and (block_of(job) is None or ports.disputed)
        return refusal.verb == "delete" or is_held(job) or unplaced
    child = own.get(refusal.kind, {}).get(refusal.name)
    match refusal.verb:
        case "create":
            return child is None
        case "update":
            return child is None or _attempt(child) != str(job.status.attempt)
        case "patch":
            return isinstance(child, Pod) and child.state == "starting" and not child.deleting
        case _:
            return child is not None and not child.deleting


def succeeded(job: Job) -> frozenset[int]:
    """The workers of which the status remembers that they have succeeded in this attempt."""
    written, worker = job.status.succeeded_indexes, job.spec.worker
    return read(written, worker.wanted) if written and worker else frozenset()


def _is_lent(child: Child) -> bool:
    return isinstance(child, Group) and child.metadata.controller_uid is None


def _attempt(child: Child) -> str:
    return child.metadata.labels.get(LABEL_ATTEMPT, "0")
