"""cleanPodPolicy: what is deleted when a job has ended.

Acts only on an end that is already written in the status: pods that vanish before that would look lost.
"""

from __future__ import annotations

from typing import Literal

from paddlejob.api.spec import CleanPodPolicy
from paddlejob.api.status import FinalPhase
from paddlejob.core.actions import Delete
from paddlejob.core.observe import Observed

Extent = Literal["everything", "what still runs", "nothing"]

EXTENTS: dict[CleanPodPolicy, dict[FinalPhase, Extent]] = {
    "Always": {"Completed": "everything", "Failed": "everything"},
    "OnCompletion": {"Completed": "everything", "Failed": "what still runs"},
    "OnFailure": {"Completed": "what still runs", "Failed": "everything"},
    "Never": {"Completed": "nothing", "Failed": "nothing"},
    "Running": {"Completed": "what still runs", "Failed": "what still runs"},
}


def clean(policy: CleanPodPolicy, end: FinalPhase, observed: Observed) -> tuple[Delete, ...]:
    extent = EXTENTS[policy][end]
    if extent == "nothing":
        return ()
    pods = tuple(pod for pod in observed.pods if extent == "everything" or not pod.finished)
    services = observed.services if extent == "everything" else ()
    return tuple(
        [Delete("Pod", pod.metadata.name, pod.metadata.uid) for pod in pods if not pod.deleting]
        + [Delete("Service", one.metadata.name, one.metadata.uid) for one in services if not one.deleting]
    )
