"""What users write and read: PaddleJob, its spec, its status, and the names of everything it becomes.

Imports msgspec and RE2 only, so that any tool can read a job without bringing Kubernetes along.
"""

from paddlejob.api.job import Job
from paddlejob.api.meta import ObjectMeta, OwnerReference
from paddlejob.api.spec import HangPolicy, PaddleJobSpec, ProgressPolicy, Role, SchedulingPolicy
from paddlejob.api.status import (
    Condition,
    Failure,
    HangStatus,
    Mark,
    NodeRecord,
    Progress,
    RoleStatus,
    Status,
    Usage,
    World,
)

__all__ = [
    "Condition",
    "Failure",
    "HangPolicy",
    "HangStatus",
    "Job",
    "Mark",
    "NodeRecord",
    "ObjectMeta",
    "OwnerReference",
    "PaddleJobSpec",
    "Progress",
    "ProgressPolicy",
    "Role",
    "RoleStatus",
    "SchedulingPolicy",
    "Status",
    "Usage",
    "World",
]
