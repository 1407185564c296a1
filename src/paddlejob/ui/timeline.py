"""The life of a job as moments in order: created, placed, started, every attempt and disruption, its end.

Drawn from its status, its events and its pods. Events are kept for an hour on a cluster: what the status and the pods
say stays. Tells nothing that none of them says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import floor
from typing import Literal

import msgspec

from paddlejob.api import reasons
from paddlejob.core.children import Pod
from paddlejob.core.times import moment
from paddlejob.places.place import Event, Found

What = Literal[
    "created",
    "pods",
    "placed",
    "started",
    "restarted",
    "replaced",
    "scaled",
    "stalled",
    "suspended",
    "completed",
    "failed",
]
_MAKES_PODS: tuple[What, ...] = ("pods", "restarted", "replaced", "scaled")
_ENDS: tuple[What, ...] = ("completed", "failed")
_OF_EVENTS: dict[str, What] = {
    reasons.CREATED: "pods",
    reasons.STARTED: "started",
    reasons.RESTARTED: "restarted",
    reasons.REPLACED: "replaced",
    reasons.SCALING: "scaled",
    reasons.SUSPENDED: "suspended",
    reasons.COMPLETED: "completed",
    reasons.FAILED: "failed",
}


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    at: str
    what: What
    reason: str = ""
    text: str = ""


def timeline(found: Found, pods: Sequence[Pod], events: Iterable[Event]) -> tuple[Moment, ...]:
    told = tuple(_told(events))
    known = {one.what for one in told}
    own = (one for one in _from_status(found) if one.what not in known)
    placed = [(moment(one.at).timestamp(), 3 if one.what in _ENDS else 0, one) for one in told]
    placed += [(*_within(one, told), one) for one in (*own, *_placed(pods))]
    return tuple(one for _, _, one in sorted(placed, key=lambda each: each[:2]))


def _within(one: Moment, told: Iterable[Moment]) -> tuple[float, int]:
    """Status and pods tell whole seconds: where in theirs they belong, among events that say more."""
    second = float(floor(moment(one.at).timestamp()))
    if one.what == "created":
        return (second, -1)
    if one.what in _ENDS:
        return (second + 1, -1)
    before = [at for each in told if each.what in _MAKES_PODS and floor(at := moment(each.at).timestamp()) == second]
    return (max(before, default=second), 1 if one.what == "placed" else 2)


def _from_status(found: Found) -> Iterator[Moment]:
    meta, status = found.job.metadata, found.job.status
    if meta.creation_timestamp:
        yield Moment(at=meta.creation_timestamp, what="created")
    if status.start_time:
        yield Moment(at=status.start_time, what="started")
    if status.completion_time:
        what: What = "completed" if status.phase == "Completed" else "failed"
        yield Moment(at=status.completion_time, what=what, reason=status.reason, text=status.message)


def _told(events: Iterable[Event]) -> Iterator[Moment]:
    for one in events:
        what = _OF_EVENTS.get(one.reason, "stalled" if one.type == "Warning" else None)
        if what and moment(one.at).year > 1:
            yield Moment(at=one.at, what=what, reason=one.reason, text=one.message)


def _placed(pods: Sequence[Pod]) -> Iterator[Moment]:
    """When the last of the pods that are there got its node."""
    placed = [_scheduled(pod) for pod in pods]
    times = [at for at in placed if at]
    if times and len(times) == len(pods):
        nodes = len({pod.spec.node_name for pod in pods})
        yield Moment(at=max(times, key=moment), what="placed", text=str(nodes))


def _scheduled(pod: Pod) -> str | None:
    of = (one for one in pod.status.conditions if one.type == "PodScheduled" and one.status == "True")
    return next((one.last_transition_time for one in of), None) if pod.spec.node_name else None
