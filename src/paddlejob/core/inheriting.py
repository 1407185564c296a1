"""What an earlier operator, paddle-operator 0.3, left on a job that goes on under this one.

Its finalizer goes: nobody else would remove it, and the job could never be deleted. Its pods, where all had begun, run
on; who acts has marked them. That is noted at the first look, before the status is ours.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from paddlejob.api import Job
from paddlejob.api.names import ANNOTATION_ADOPTED, FINALIZER_OF_0_3
from paddlejob.core.observe import Observed
from paddlejob.core.refusals import Wish, is_permitted


def inherited(job: Job, observed: Observed) -> Job:
    """The job, with the knowledge that its pods were made by another operator."""
    if not job.status.is_of_another:
        return job
    if not any(slot.pod and ANNOTATION_ADOPTED in slot.pod.metadata.annotations for slot in observed.slots):
        return job
    return msgspec.structs.replace(job, status=msgspec.structs.replace(job.status, adopted=True))


def is_held(job: Job) -> bool:
    return FINALIZER_OF_0_3 in job.metadata.finalizers


def releases(job: Job, observed: Observed, now: datetime) -> bool:
    """Whether to remove the finalizer now."""
    return is_held(job) and is_permitted(Wish("patch", job.kind, job.metadata.name), observed, now)
