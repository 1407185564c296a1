"""A job as one row of the list: all that the page sorts, filters and shows of it, and nothing else."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from paddlejob.places.place import Found, Place
from paddlejob.places.words import mode


class At(NamedTuple):
    """Which job: where it lives, and its name there."""

    place: str
    namespace: str
    name: str


class Row(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    place: str
    namespace: str
    name: str
    uid: str
    phase: str
    over: bool
    mode: str
    ps: str
    worker: str
    restarts: int
    disruptions: int
    reason: str
    progress: str
    eta: str
    created: str
    ended: str

    @property
    def at(self) -> At:
        return At(self.place, self.namespace, self.name)


def row(place: str, found: Found) -> Row:
    meta, status = found.job.metadata, found.job.status
    return Row(
        place=place,
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        phase=found.phase,
        over=found.over,
        mode=mode(found.job),
        ps=status.ps.ready if status.ps else "",
        worker=status.worker.ready if status.worker else "",
        restarts=status.restarts,
        disruptions=status.disruptions,
        reason=status.reason,
        progress=status.progress.summary if status.progress else "",
        eta=(status.progress.eta or "") if status.progress else "",
        created=meta.creation_timestamp or "",
        ended=status.completion_time or "",
    )


def name_of(place: Place) -> str:
    """As addresses of the page have it: cluster, machine."""
    return place.where.rpartition(" ")[2]
