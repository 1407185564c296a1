"""managedBy: a job that another controller, or the operator of another cluster, sees through is left alone entirely."""

from __future__ import annotations

from paddlejob.api import Job
from paddlejob.api.names import OPERATOR


def is_ours(job: Job) -> bool:
    return job.spec.managed_by in (None, "", OPERATOR)
