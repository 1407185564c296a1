"""Kueue's Workload for the pods of a job: made and removed by Kueue, read only to say what a job waits for."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from paddlejob.api import Job
from paddlejob.api.names import KUEUE
from paddlejob.core.gang import gang_of, kueue_group
from paddlejob.core.groups import Workload
from paddlejob.core.kind import Extent, Kind, Missing
from paddlejob.core.observe import Observed, Scheduling


def missing(_: Job, __: Observed, ___: datetime) -> Iterator[Missing]:
    return iter(())


def is_cleaned(_: Workload, __: Extent) -> bool:
    return False


def wanted_by(job: Job, scheduling: Scheduling) -> bool:
    gang = gang_of(job, scheduling)
    return gang is not None and gang.scheduler == "kueue"


WORKLOADS: Kind[Any] = Kind(
    type=Workload,
    group=KUEUE,
    version="v1beta2",
    older=("v1beta1",),
    plural="workloads",
    names=lambda job: (kueue_group(job),),
    missing=missing,
    precedes_pods=lambda _: False,
    is_cleaned=is_cleaned,
    wanted_by=wanted_by,
    by_name=lambda name: name.rpartition("-")[0],
    is_custom=True,
    is_made=False,
)
