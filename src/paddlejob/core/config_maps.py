"""The ConfigMap that holds what all pods of a job are told: one per job, rewritten in place for each attempt."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import partial

from paddlejob.api import Job
from paddlejob.api import names as n
from paddlejob.core.actions import Body, Create, Update
from paddlejob.core.children import Child, ConfigMap
from paddlejob.core.intranet import has_names
from paddlejob.core.kind import Extent, Kind, Missing
from paddlejob.core.lives import life_of
from paddlejob.core.observe import Observed
from paddlejob.core.pods import owner


def config_map(job: Job, data: dict[str, str]) -> Body:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": job.metadata.name,
            "namespace": job.metadata.namespace,
            "labels": {n.LABEL_JOB: job.metadata.name, n.LABEL_ATTEMPT: str(job.status.attempt)},
            "ownerReferences": [owner(job)],
        },
        "data": data,
    }


def missing(job: Job, observed: Observed, _: datetime) -> Iterator[Missing]:
    data = life_of(job).environment(job, observed) if observed.config_map is None else None
    if data is not None:
        old = observed.old_config_map
        make = partial(_write, job, data, old)
        yield Missing(CONFIG_MAPS.name, job.metadata.name, make, "update" if old else "create")


def _write(job: Job, data: dict[str, str], old: Child | None) -> Create | Update:
    name, body = job.metadata.name, config_map(job, data)
    return Update(CONFIG_MAPS.name, name, old.metadata.uid, body) if old else Create(CONFIG_MAPS.name, name, body)


def is_cleaned(_: ConfigMap, __: Extent) -> bool:
    """It stays with the job: it is small, and pods that are kept refer to it."""
    return False


CONFIG_MAPS = Kind(
    type=ConfigMap,
    plural="configmaps",
    names=lambda job: (job.metadata.name,),
    missing=missing,
    precedes_pods=has_names,  # by address, pods come first and wait for it
    is_cleaned=is_cleaned,
)
