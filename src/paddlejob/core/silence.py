"""How long workers have been silent, and who went on meanwhile.

Jobs are large: no worker is compared with every other one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from paddlejob.api import Job
from paddlejob.core.children import Pod
from paddlejob.core.observe import Said
from paddlejob.core.pauses import is_halfway
from paddlejob.core.times import NEVER, after


class Silence(msgspec.Struct, frozen=True):
    """A running worker that has printed something, and does so no more."""

    pod: Pod
    said: Said
    since: datetime
    budget: int | None
    """For how many seconds it may be silent; None while nobody can know."""
    half: datetime
    ends: datetime
    """When half of that, and when all of it is spent. The clock of its node may be slow: what was heard for the first
    time may have been printed just then."""

    def lasts(self, until: datetime) -> bool:
        """Whether somebody has listened since then, in vain."""
        return self.said.at >= until and not self.said.error


def silence(pod: Pod, said: Said, since: datetime, budget: int | None) -> Silence:
    if budget is None:
        return Silence(pod, said, since, None, NEVER, NEVER)
    sure = max(since, said.first or since)
    return Silence(pod, said, since, budget, after(sure, budget // 2), after(sure, budget))


def all_end(silences: Sequence[Silence]) -> datetime | None:
    """When it has been silent for too long that none of them says anything; of one of them at least that is sure."""
    known = [one for one in silences if one.budget is not None]
    if not known:
        return None
    spent = after(max(one.since for one in silences), max(one.budget or 0 for one in known))
    return max(spent, min(one.ends for one in known))


def alone(job: Job, silences: Sequence[Silence]) -> Iterator[tuple[Silence, datetime]]:
    """Who is silent while others went on, and up to when they did. At the end of one's own work that means nothing.
    Others that fall silent with it, and come back before it, did not go on."""
    latest = max((one.since for one in silences), default=NEVER)
    late = [
        one for one in silences if one.budget is not None and one.ends <= latest and is_halfway(job, one.said.readings)
    ]
    late.sort(key=lambda one: one.ends)
    return _without(late, _told(silences, late))


def _told(silences: Sequence[Silence], late: Sequence[Silence]) -> list[tuple[datetime, datetime]]:
    """What was told since the budget of one of these was half spent, by others who spoke later: when, and since when
    they are silent themselves."""
    if not late:
        return []
    half, others = min(one.half for one in late), (one for one in silences if one.since >= late[0].ends)
    return sorted((reading.at, one.since) for one in others for reading in one.said.readings if reading.at >= half)


def _without(late: Sequence[Silence], told: Sequence[tuple[datetime, datetime]]) -> Iterator[tuple[Silence, datetime]]:
    """Each of those with the newest line of who told something in the second half of its budget. Of what was told
    only that is kept than which nothing told later leads farther."""
    ats: list[datetime] = []
    untils: list[datetime] = []
    index = 0
    for one in late:
        while index < len(told) and told[index][0] <= one.ends:
            at, until = told[index]
            while untils and untils[-1] <= until:
                ats.pop()
                untils.pop()
            ats.append(at)
            untils.append(until)
            index += 1
        found = bisect_left(ats, one.half)
        if found < len(ats) and untils[found] >= one.ends:
            yield one, untils[found]
