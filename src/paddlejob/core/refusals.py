"""What the world refused waits, and all that is like it waits too; then one goes ahead, and the others follow it.

So a quota that is used up costs one call at a time, however large the job, as with the Job controller of Kubernetes.
Whoever was asked for longest ago goes ahead: one object that can never be done does not hold up the others for ever.
A name that is taken concerns that name alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple, Protocol, TypeVar

from paddlejob.api import reasons
from paddlejob.core.children import KindName, Verb
from paddlejob.core.observe import Observed, Refusal
from paddlejob.core.times import LONG_AGO

Sort = tuple[Verb, KindName]


class Refusable(Protocol):
    """Anything that the world may refuse."""

    @property
    def verb(self) -> Verb: ...

    @property
    def kind(self) -> KindName: ...

    @property
    def name(self) -> str: ...


class Wish(NamedTuple):
    """What is asked for, where that is all there is to say."""

    verb: Verb
    kind: KindName
    name: str


A = TypeVar("A", bound=Refusable)


def permitted(wanted: Iterable[A], observed: Observed, now: datetime) -> Iterator[A]:
    """What of it is asked for now."""
    held, refused = _sorted(observed, now)
    closed = {group for group, tried in refused.items() if now < max(tried.values())}
    ahead: dict[Sort, A] = {}
    for one in wanted:
        group = (one.verb, one.kind)
        tried = refused.get(group)
        if group in closed or (*group, one.name) in held:
            continue
        if tried is None:
            yield one
        elif group not in ahead or _last(tried, one) < _last(tried, ahead[group]):
            ahead[group] = one
    yield from ahead.values()


def is_permitted(wish: Wish, observed: Observed, now: datetime) -> bool:
    return any(permitted([wish], observed, now))


def concerns_one(refusal: Refusal) -> bool:
    """Whether others of its kind may well be allowed."""
    return refusal.reason == reasons.NAME_TAKEN


def _sorted(observed: Observed, now: datetime) -> tuple[set[Wish], dict[Sort, dict[str, datetime]]]:
    """Single names that are held back, and of the other refusals by group: what may be tried again when."""
    held = {Wish("create", kind, name) for kind, name in observed.taken}
    refused: dict[Sort, dict[str, datetime]] = {}
    for one in observed.refusals:
        if not concerns_one(one):
            refused.setdefault((one.verb, one.kind), {})[one.name] = one.retry_at
        elif now < one.retry_at:
            held.add(Wish(one.verb, one.kind, one.name))
    return held, refused


def _last(tried: dict[str, datetime], one: Refusable) -> datetime:
    return tried.get(one.name, LONG_AGO)
