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
from paddlejob.core.kinds import KINDS
from paddlejob.core.observe import NO_ETCD, NO_PORTS, Etcd, Observed, Ports, Refusal, Slot
from paddlejob.core.pods import PODS


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
        (own if meta.controller_uid == uid else others)[type(child).__name__][meta.name] = child
    pods = cast("dict[str, Pod]", own[PODS.name])
    current = {name: pod for name, pod in pods.items() if _attempt(pod) == attempt}
    config_map = cast("ConfigMap | None", own[CONFIG_MAPS.name].get(job.metadata.name))
    is_current = config_map is not None and _attempt(config_map) == attempt
    return Observed(
        slots=tuple(
            Slot(role, index, name := pod_name(job.metadata.name, role, index), current.get(name))
            for role, wanted in job.spec.roles
            for index in range(wanted.wanted)
        ),
        children={kind: tuple(found[name] for name in sorted(found)) for kind, found in own.items()},
        config_map=config_map if is_current else None,
        leftovers=tuple(pod for name, pod in pods.items() if name not in current),
        old_config_map=None if is_current else config_map,
        refusals=tuple(refusals),
        taken=frozenset(
            (kind.name, name)
            for kind in KINDS
            if others[kind.name]
            for name in others[kind.name].keys() & kind.names(job)
        ),
        etcd=etcd,
        ports=ports,
    )


def _attempt(child: Child) -> str:
    return child.metadata.labels.get(LABEL_ATTEMPT, "0")
