"""Decisions, pure: what is there, what to do next, what to say. No clock, no IO, no logging, no randomness.

A rule stands in the file that is named after it: ending, cleaning, stalls, environment, building.
"""

from paddlejob.core.actions import (
    Action,
    AskEtcd,
    Create,
    Delete,
    ForgetEtcd,
    Inquiry,
    JobEvent,
    Listen,
    Plan,
    Question,
    Touch,
    Update,
)
from paddlejob.core.children import Child, ConfigMap, Pod
from paddlejob.core.kinds import KINDS
from paddlejob.core.observe import (
    Answer,
    Complaint,
    Etcd,
    Listening,
    Observed,
    Reading,
    Refusal,
    Said,
    Scheduling,
    Unread,
)
from paddlejob.core.plan import plan
from paddlejob.core.services import Service
from paddlejob.core.sorting import observe

__all__ = [
    "KINDS",
    "Action",
    "Answer",
    "AskEtcd",
    "Child",
    "Complaint",
    "ConfigMap",
    "Create",
    "Delete",
    "Etcd",
    "ForgetEtcd",
    "Inquiry",
    "JobEvent",
    "Listen",
    "Listening",
    "Observed",
    "Plan",
    "Pod",
    "Question",
    "Reading",
    "Refusal",
    "Said",
    "Scheduling",
    "Service",
    "Touch",
    "Unread",
    "Update",
    "observe",
    "plan",
]
