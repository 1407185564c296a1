"""cleanPodPolicy: what is deleted when a job has ended.

Acts only on an end that is already written in the status: pods that vanish before that would look lost. Once the job
itself is to go, by its ttl, all goes before it: nothing that still runs, or starts, may hold it.
"""

from __future__ import annotations

from datetime import datetime

from paddlejob.api import Job
from paddlejob.api.spec import CleanPodPolicy
from paddlejob.api.status import FinalPhase
from paddlejob.core.actions import Delete, delete
from paddlejob.core.kind import Extent
from paddlejob.core.kinds import KINDS
from paddlejob.core.observe import Observed
from paddlejob.core.ttl import is_expired

EXTENTS: dict[CleanPodPolicy, dict[FinalPhase, Extent]] = {
    "Always": {"Completed": "everything", "Failed": "everything"},
    "OnCompletion": {"Completed": "everything", "Failed": "what still runs"},
    "OnFailure": {"Completed": "what still runs", "Failed": "everything"},
    "Never": {"Completed": "nothing", "Failed": "nothing"},
    "Running": {"Completed": "what still runs", "Failed": "what still runs"},
}


def clean(job: Job, end: FinalPhase, observed: Observed, now: datetime) -> tuple[Delete, ...]:
    extent = "everything" if is_expired(job, now) else EXTENTS[job.spec.cleaning][end]
    return tuple(
        delete(child)
        for kind in KINDS
        for child in observed.of(kind.type)
        if kind.is_cleaned(child, extent) and not child.deleting
    )
