"""What the events of pods say that do not start, read when a plan asks for it and kept for the next look.

May be forgotten at any time without harm: it is asked for again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

import structlog

from paddlejob.api import Job, reasons
from paddlejob.core import Complaint, Inquiry
from paddlejob.core.complaints import LONGEST
from paddlejob.core.times import moment
from paddlejob.kube.client import Client
from paddlejob.kube.errors import KubeError
from paddlejob.kube.fairness import FairLimiter
from paddlejob.kube.objects import key_of
from paddlejob.operator.resources import EVENTS, KubeEvent

log = structlog.get_logger()

PAGE = 100
STALLS = reasons.KUBELET_STALLS | reasons.GROUP_STALLS
# With these words Volcano repeats in an event what stands in the group's condition.
ECHO = " tasks in gang unschedulable: "


class Inquiries:
    """By the UID of the job, and of the pod."""

    def __init__(self, client: Client, limiter: FairLimiter, now: Callable[[], datetime]) -> None:
        self._client = client
        self._limiter = limiter
        self._now = now
        self._known: dict[str, dict[str, Complaint]] = {}

    def known(self, uid: str) -> Mapping[str, Complaint]:
        return self._known.get(uid, {})

    def forget(self, uid: str) -> None:
        self._known.pop(uid, None)

    async def ask(self, job: Job, inquiry: Inquiry) -> None:
        """An answer that does not come is one that says nothing: the plan asks again, later."""
        found: KubeEvent | None = None
        try:
            async with self._limiter.slot(key_of(job)):
                page = await self._client.list_page(
                    EVENTS, job.metadata.namespace, fields=f"regarding.uid={inquiry.uid}", limit=PAGE
                )
            found = last_complaint(one for one in page.items if one.regarding.uid == inquiry.uid)
        except KubeError as error:
            log.warning("events not read", namespace=job.metadata.namespace, pod=inquiry.name, error=str(error))
        at = self._now()
        of_job = self._known.get(job.metadata.uid, {})
        times = of_job[inquiry.uid].times + 1 if inquiry.uid in of_job else 1
        reason, note = (found.reason, found.note) if found else ("", "")
        # Pods that are gone, or run by now, were not asked about for long.
        kept = {uid: one for uid, one in of_job.items() if at - one.at < 2 * LONGEST}
        self._known[job.metadata.uid] = {**kept, inquiry.uid: Complaint(at, times, reason, note)}


def last_complaint(events: Iterable[KubeEvent]) -> KubeEvent | None:
    """The last thing that happened to a pod or PodGroup, if that is what it waits for: what came after it has got over
    it."""

    def order(one: KubeEvent) -> tuple[datetime, bool]:
        # Kubelets tell whole seconds, schedulers parts of them.
        return moment(one.last_seen).replace(microsecond=0), one.reason in STALLS

    last = max((one for one in events if ECHO not in one.note), key=order, default=None)
    return last if last is not None and last.reason in STALLS else None
