"""Whether the pods of a gang may be made, and what the gang waits for, in its scheduler's own words.

Volcano admits a group before it has pods: they are made then. The others decide when all pods are there. A scheduler
that says nothing is told of, too: perhaps it does not run.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from paddlejob.api import Job, reasons
from paddlejob.api.names import LABEL_QUEUE
from paddlejob.core.actions import Inquiry
from paddlejob.core.complaints import next_inquiry
from paddlejob.core.gang import Gang, gang_of, group_of
from paddlejob.core.groups import Group
from paddlejob.core.observe import Observed, Unread
from paddlejob.core.stalls import Stall
from paddlejob.core.times import moment

# Schedulers turn about once a second, and say something of every pod that they cannot place.
PATIENCE = timedelta(seconds=10)
# When the events of a group are read that is not admitted.
FIRST = timedelta(seconds=2)


def is_admitted(job: Job, observed: Observed) -> bool:
    """Whether pods may be made."""
    gang = gang_of(job, observed.scheduling)
    if gang is None:
        return True
    if gang.scheduler == "kueue" and job.spec.is_elastic:
        return False
    unread = observed.scheduling.unread.get(gang.group.kind)
    if unread is not None:
        return not _holds_back(gang, unread)
    if gang.scheduler == "kueue":
        return True
    group = group_of(job, gang, observed)
    return group is not None and group.admitted


def gang_stall(job: Job, observed: Observed, now: datetime) -> Stall | None:
    """What holds up the gang as a whole, while pods of it have no node."""
    gang = gang_of(job, observed.scheduling)
    if gang is None or all(slot.state != "pending" for slot in observed.slots):
        return None
    if gang.scheduler == "kueue" and job.spec.is_elastic:
        text = "workers of an elastic job come and go, and a group of Kueue cannot grow"
        return Stall(reasons.NOT_SUPPORTED, f"{text}: remove spec.elastic or the label {LABEL_QUEUE}")
    unread = observed.scheduling.unread.get(gang.group.kind)
    if unread is not None:
        told = unread.reason and _holds_back(gang, unread)
        return Stall(unread.reason, unread.message) if told else _silence(gang, observed, now)
    group = group_of(job, gang, observed)
    if group is not None:
        return _waiting(gang, group, observed) or _silence(gang, observed, now)
    if gang.made or gang.scheduler == "kueue":
        return None
    text = f"waiting for PodGroup {job.metadata.name}, as the template names the scheduler {gang.scheduler_name}"
    return Stall(reasons.POD_GROUP_MISSING, f"{text}: create it, or set schedulingPolicy to have it made")


def gang_inquiries(job: Job, observed: Observed, now: datetime) -> tuple[Inquiry, ...]:
    """Volcano says only in events why a group is not admitted."""
    due = [group for group, at in _unexplained(job, observed) if now >= at]
    return tuple(Inquiry(group.metadata.name, group.metadata.uid) for group in due)


def gang_looked_at(job: Job, observed: Observed, now: datetime) -> datetime | None:
    """When to look again at a gang of which nothing is heard."""
    ends = [at for _, at in _unexplained(job, observed)]
    if gang_of(job, observed.scheduling) is not None and (unseen := _unseen_since(observed)):
        ends.append(unseen + PATIENCE)
    return min((at for at in ends if at > now), default=None)


def _holds_back(gang: Gang, unread: Unread) -> bool:
    """Whether pods wait until groups can be read. Without the right to read them, those that others make are taken to
    be there; a user's own also where they are not known at all, but pods that no Kueue holds back would simply run."""
    if gang.made or not unread.reason:
        return True
    return gang.scheduler == "kueue" and unread.reason == reasons.SCHEDULER_MISSING


def _unexplained(job: Job, observed: Observed) -> Iterator[tuple[Group, datetime]]:
    """A group that is not admitted, and when its events should be read next: its conditions do not say why."""
    gang = gang_of(job, observed.scheduling)
    group = group_of(job, gang, observed) if gang else None
    if group is not None and not group.admitted:
        made = moment(group.metadata.creation_timestamp or "")
        yield group, next_inquiry(observed.complaints.get(group.metadata.uid), made + FIRST)


def _waiting(gang: Gang, group: Group, observed: Observed) -> Stall | None:
    kind, words, said = group.kind.partition(".")[0], group.words, observed.complaints.get(group.metadata.uid)
    if not group.waits or (said is None and (words is None or not group.admitted)):
        return None  # nothing holds it up, or its events are read in a moment
    told = said.message if said and not group.admitted else ""
    text = told or (words.message if words else "")
    text = text or f"{gang.scheduler} has not admitted it yet: does it run, and is its queue open?"
    reason = reasons.UNSCHEDULABLE if group.admitted and gang.scheduler != "kueue" else reasons.NOT_ADMITTED
    return Stall(reason, f"{kind} {group.metadata.name}: {text}")


def _silence(gang: Gang, observed: Observed, now: datetime) -> Stall | None:
    since = _unseen_since(observed)
    if since is None or now < since + PATIENCE:
        return None
    name = gang.scheduler_name or "of this cluster"
    text = f"{len(observed.slots)} pods wait, and the scheduler {name} has said nothing of any: does it run?"
    return Stall(reasons.SCHEDULER_SILENT, text)


def _unseen_since(observed: Observed) -> datetime | None:
    """Since when all pods are there and no scheduler has touched any of them."""
    pods = [slot.pod for slot in observed.slots if slot.pod and slot.state == "pending"]
    if len(pods) < len(observed.slots) or any(pod.status.conditions for pod in pods):
        return None
    return max((moment(pod.metadata.creation_timestamp or "") for pod in pods), default=None)
