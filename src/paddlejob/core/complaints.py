"""Pods that are placed and do not start, while their status does not say why: what stands in their events alone.

A volume that cannot be mounted, an address that cannot be had: kubelets tell that in events. They are read for such
pods only, first after a few seconds and then ever more rarely; a job that starts as it should costs no call.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from paddlejob.api import reasons
from paddlejob.core.actions import Inquiry
from paddlejob.core.children import Pod
from paddlejob.core.observe import Complaint, Observed
from paddlejob.core.times import moment

FIRST = timedelta(seconds=5)
LONGEST = timedelta(minutes=5)
# Large images take their time on every node: a few pods tell enough.
MOST_AT_ONCE = 8


def inquiries(observed: Observed, now: datetime) -> tuple[Inquiry, ...]:
    """Whose events to read now: those that wait longest."""
    due = sorted(
        (moment(pod.status.start_time or ""), pod.metadata.name, pod) for at, pod in _silent(observed) if now >= at
    )
    return tuple(Inquiry(pod.metadata.name, pod.metadata.uid) for _, _, pod in due[:MOST_AT_ONCE])


def inquires_at(observed: Observed, now: datetime) -> datetime | None:
    return min((at for at, _ in _silent(observed) if at > now), default=None)


def complaint_about(observed: Observed, pod: Pod) -> Complaint | None:
    """What its events said, while its status still says nothing."""
    found = observed.complaints.get(pod.metadata.uid)
    return found if found is not None and found.reason and _is_silent(pod) else None


def next_inquiry(last: Complaint | None, first: datetime) -> datetime:
    """When to read events, after they were read so often already."""
    return first if last is None else last.at + min(LONGEST, FIRST * 2 ** min(last.times, 10))


def _silent(observed: Observed) -> Iterator[tuple[datetime, Pod]]:
    """Pods whose status does not say why they do not start, and when their events should be read next."""
    for slot in observed.slots:
        if slot.pod is not None and _is_silent(slot.pod):
            first = moment(slot.pod.status.start_time or "") + FIRST
            yield next_inquiry(observed.complaints.get(slot.pod.metadata.uid), first), slot.pod


def _is_silent(pod: Pod) -> bool:
    """Whether its kubelet has it, no container runs yet, and none says what it waits for."""
    if pod.state != "starting" or pod.deleting or pod.status.start_time is None:
        return False
    states = (container.state for container in pod.containers)
    return all(state.terminated or (state.waiting and state.waiting.reason in reasons.SILENT) for state in states)
