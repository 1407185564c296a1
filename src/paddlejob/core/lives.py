"""The kinds of lives that jobs lead, and the one place where a job's is chosen.

A life is a module with these functions: `fixed`, whose members start and end together, and `elastic`, whose workers
come and go. What both have in common is `plan`'s.
"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from paddlejob.api import Job, RoleStatus, Status
from paddlejob.api.names import RoleName
from paddlejob.api.status import Phase
from paddlejob.core import elastic, fixed
from paddlejob.core.actions import Body, Delete, Plan, Question
from paddlejob.core.ending import Completed, Disrupted, Failed
from paddlejob.core.observe import Observed
from paddlejob.core.stalls import Stall


class Life(Protocol):
    POD_DEFAULTS: Body
    """What a pod's spec says where the user is silent."""
    WITHHELD: frozenset[str]
    """Variables that a pod of such a job is not given."""

    def remember(self, job: Job, base: Status, observed: Observed, now: datetime, /) -> Status:
        """The status with what this look adds to the memory."""

    def judge(
        self, job: Job, status: Status, observed: Observed, now: datetime, /
    ) -> Completed | Failed | Disrupted | None:
        """The end that the world shows, None while there is none. `status` is what is remembered."""

    def counts(self, job: Job, observed: Observed, role: RoleName, /) -> RoleStatus:
        """Of one role: how many pods are in which state."""

    def phase(self, job: Job, status: Status, observed: Observed, /) -> Phase:
        """Of a job that has not ended."""

    def stall(self, job: Job, observed: Observed, /) -> Stall | None:
        """What holds up only such jobs."""

    def reported(self, status: Status, stalled: bool, /) -> Status:
        """The status with the fields that only such jobs have. `stalled`: whether this life's `stall` found one."""

    def environment(self, job: Job, observed: Observed, /) -> dict[str, str] | None:
        """What all pods are told; None while that is not known yet."""

    def builds(self, job: Job, observed: Observed, /) -> bool:
        """Whether anything is created now."""

    def fills(self, job: Job, observed: Observed, now: datetime, /) -> bool:
        """Whether missing pods are created now."""

    def removes(self, job: Job, observed: Observed, /) -> tuple[Delete, ...]:
        """What is no longer wanted although the job has not ended, such as surplus workers."""

    def asks(self, job: Job, observed: Observed, now: datetime, /) -> tuple[Question, ...]:
        """What etcd is asked while the job lives."""

    def wakes_at(self, job: Job, observed: Observed, /) -> datetime | None:
        """When to look again though nothing has happened."""

    def farewell(self, job: Job, status: Status, observed: Observed, now: datetime, /) -> Plan | None:
        """After the end: what is still to do, besides what `cleanPodPolicy` asks for, before the job may go."""


def life_of(job: Job) -> Life:
    # Of workers that another operator made, our etcd knows nothing: they run to their end as they are.
    return elastic if job.spec.is_elastic and not job.status.adopted else fixed
