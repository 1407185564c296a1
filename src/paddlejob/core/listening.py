"""Whose last lines are read, and when: of each job one worker at a time, the one that says how far the job is.

Nothing is read where nobody is allowed to listen. The longer a program runs, the more rarely: its progress is slow too.
A pod that has ended is listened to once more, if it was before.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from paddlejob.core.actions import Listen
from paddlejob.core.children import Pod
from paddlejob.core.observe import Observed, Said
from paddlejob.core.times import LONG_AGO, after, moment

# While none says how far the job is, so many workers take turns: which of them talks, depends on the program.
TURNS = 4
# After so many pauses without a break the pauses grow, up to so many times as long.
STEADY, RAREST = 240, 8
A_WHILE = timedelta(seconds=60)


def listens(observed: Observed, now: datetime) -> tuple[Listen, ...]:
    """Whose lines to read now."""
    at, pod = _next(observed)
    due = () if pod is None or now < at else (listen_to(pod),)
    return (*last_listens(observed), *due)


def listens_at(observed: Observed, now: datetime) -> datetime | None:
    at, pod = _next(observed)
    return None if pod is None or at <= now else at


def last_listens(observed: Observed) -> tuple[Listen, ...]:
    """Of a job that has ended: what else its workers said, of which one was listened to before."""
    return tuple(listen_to(pod) for pod, said in heard(observed) if pod.ended and not said.last)


def heard_out(observed: Observed) -> bool:
    """Whether nothing more is to come of a job that has ended, of which something was heard."""
    return bool(observed.said) and all(said.last for _, said in heard(observed))


def listen_to(pod: Pod) -> Listen:
    container = pod.training
    return Listen(pod.metadata.name, pod.metadata.uid, container.name, container.restart_count, last=pod.ended)


def merged(*several: tuple[Listen, ...]) -> tuple[Listen, ...]:
    """Each pod once."""
    return tuple({one.uid: one for listens_ in several for one in listens_}.values())


def speaker(observed: Observed) -> tuple[Pod, Said] | None:
    """The worker that says how far the job is, and what it said. Workers may be at different steps: it is the first
    that runs, unless another has gone on without it for a while."""
    telling = [one for one in heard(observed) if one[1].readings]
    latest = max(telling, key=_told_at, default=None)
    if latest is None:
        return None
    newest = _told_at(latest)
    return next(
        (one for one in telling if one[0].state == "running" and newest - _told_at(one) <= A_WHILE),
        latest,
    )


def _told_at(one: tuple[Pod, Said]) -> datetime:
    return one[1].readings[-1].at


def heard(observed: Observed) -> Iterator[tuple[Pod, Said]]:
    """The workers that were listened to."""
    for pod in _workers(observed):
        if (said := observed.said.get(pod.metadata.uid)) is not None:
            yield pod, said


def _next(observed: Observed) -> tuple[datetime, Pod | None]:
    """Who is listened to next, if anybody, and when."""
    every = observed.listening.every
    if every is None:
        return LONG_AGO, None
    found = speaker(observed)
    if found is not None and found[0].state == "running":
        return _after(every, found[1].at, found[0]), found[0]
    running = [pod for pod in _workers(observed) if pod.state == "running"][:TURNS]
    if not running:
        return LONG_AGO, None
    turns = {pod.metadata.uid: said.at for pod, said in heard(observed)}
    silent = min(running, key=lambda pod: turns.get(pod.metadata.uid, LONG_AGO))
    last = max((at for at in turns.values()), default=_started(silent))
    return _after(every, last, silent), silent


def _workers(observed: Observed) -> Iterator[Pod]:
    return (slot.pod for slot in observed.of_role("worker") if slot.pod is not None and not slot.pod.deleting)


def _after(every: timedelta, last: datetime, pod: Pod) -> datetime:
    """When to listen again to whom nobody has listened since then."""
    return after(last, min(every * RAREST, max(every, (last - _started(pod)) / STEADY)))


def _started(pod: Pod) -> datetime:
    running = pod.training.state.running
    return moment(running.started_at or "") if running is not None else LONG_AGO
