"""What users write and read: PaddleJob, its spec, its status, and the names of everything it becomes.

Imports msgspec only, so that any tool can read a job without bringing Kubernetes along.
"""

from paddlejob.api.job import Job
from paddlejob.api.meta import ObjectMeta, OwnerReference
from paddlejob.api.spec import PaddleJobSpec, Role, SchedulingPolicy
from paddlejob.api.status import Condition, Failure, NodeRecord, RoleStatus, Status, World

__all__ = [
    "Condition",
    "Failure",
    "Job",
    "NodeRecord",
    "ObjectMeta",
    "OwnerReference",
    "PaddleJobSpec",
    "Role",
    "RoleStatus",
    "SchedulingPolicy",
    "Status",
    "World",
]
