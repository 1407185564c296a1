"""Random trouble: what is done, when, to whom and for how long, all decided by the seed before anything begins.

What each does is in `on_operators.py`, `on_pods.py`, `on_jobs.py` and `on_cluster.py`. Who is named here may be gone by
then; that is told in the log, and the campaign goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from tests.chaos import on_cluster, on_jobs, on_operators, on_pods
from tests.chaos.jobs import Order
from tests.chaos.world import Missed, Undo, World

Whom = Literal["operator", "pod", "job", "cluster"]
# Trouble of operators comes in waves: in between they have time to do what must be done, which is then checked.
WAVE, CREST = 100.0, 0.5


@dataclass(frozen=True)
class Kind:
    do: Callable[[World, Trouble], Undo | None]
    whom: Whom
    weight: int = 2
    longest: float = 15.0


@dataclass(frozen=True)
class Trouble:
    at: float
    name: str
    lasts: float
    job: str  # for pods and jobs
    slot: int  # the how-manieth pod of it, around the corner
    replica: int  # for operators: 0 is the one that leads, 1 the other
    dice: int  # whatever else has to be decided

    @property
    def kind(self) -> Kind:
        return KINDS[self.name]

    def begin(self, world: World) -> Undo | None:
        """What ends it; None if it is over at once. Raises `Missed` when it cannot be done now."""
        return self.kind.do(world, self)

    def __str__(self) -> str:
        whom = {
            "operator": "of the one that waits" if self.replica else "of the leader",
            "pod": f"{self.job} pod {self.slot}",
            "job": self.job,
        }
        return f"{self.name} {whom.get(self.kind.whom, '')} {self.lasts:.1f} s".replace("  ", " ")


KINDS: dict[str, Kind] = {
    "operator killed": Kind(on_operators.kill, "operator", 4),
    "operator stopped": Kind(on_operators.stop, "operator"),
    "operator frozen": Kind(on_operators.freeze, "operator", 3, 25.0),
    "operator cut off": Kind(on_operators.cut_off, "operator", 3, 25.0),
    "clock wrong": Kind(on_operators.set_clock, "operator", 2, 40.0),
    "calls refused": Kind(on_operators.refuse, "operator", 4, 12.0),
    "answers slow": Kind(on_operators.slow_down, "operator", 3, 20.0),
    "calls unanswered": Kind(on_operators.leave_unanswered, "operator", 2, 10.0),
    "watches ended": Kind(on_operators.end_watches, "operator", 4),
    "watches silenced": Kind(on_operators.silence_watches, "operator", 2),
    "watches gone": Kind(on_operators.refuse_watches, "operator", 2, 8.0),
    "pod deleted": Kind(on_pods.delete, "pod", 5),
    "pod deleted by force": Kind(on_pods.delete_by_force, "pod", 3),
    "pod evicted": Kind(on_pods.evict, "pod", 4),
    "pod ended by its kubelet": Kind(on_pods.end, "pod", 4),
    "labels stripped": Kind(on_pods.strip, "pod", 4),
    "finalizer added": Kind(on_pods.hold, "pod", 3, 45.0),
    "sandbox changed": Kind(on_pods.move, "pod", 5),
    "node lost": Kind(on_cluster.lose_node, "cluster", 2, 70.0),
    "node drained": Kind(on_cluster.drain_node, "cluster", 2),
    "etcd stopped": Kind(on_cluster.stop_etcd, "cluster", 1, 15.0),
    "quota": Kind(on_cluster.set_quota, "cluster", 2, 35.0),
    "policy": Kind(on_cluster.set_policy, "job", 6, 40.0),
    "name taken": Kind(on_cluster.take_name, "job", 3, 35.0),
    "suspended": Kind(on_jobs.suspend, "job", 4, 20.0),
    "webhook down": Kind(on_jobs.break_webhook, "job", 3, 40.0),
    "spec edited": Kind(on_jobs.edit, "job", 4),
    "scaled": Kind(on_jobs.scale, "job", 4),
    "status written by a stranger": Kind(on_jobs.write_status, "job", 4),
    "ConfigMap or Service deleted": Kind(on_jobs.delete_child, "job", 3),
    "job deleted": Kind(on_jobs.delete, "job", 3),
}


def random_troubles(rng: Random, seconds: float, orders: Sequence[Order], pause: float) -> list[Trouble]:
    """One every `pause` seconds, more or less, until the time is over."""
    names = [name for name, kind in KINDS.items() for _ in range(kind.weight)]
    troubles, at = [], 5.0
    while at < seconds:
        name = rng.choice(names)
        near = [one.name for one in orders if _is_near(one, at, name)] or [orders[0].name]
        lasts = rng.uniform(1.0, KINDS[name].longest)
        made = Trouble(at, name, lasts, rng.choice(near), rng.randrange(8), rng.choice((0, 0, 1)), rng.randrange(2**16))
        if made.kind.whom != "operator" or at % WAVE < WAVE * CREST:
            troubles.append(made)
        at += rng.expovariate(1 / pause)
    return troubles


def _is_near(order: Order, at: float, name: str) -> bool:
    """Whether the job is probably there and not over; a name is taken before its job comes."""
    if name == "name taken":
        return at < order.at < at + 15
    if name == "scaled" and order.shape != "elastic":
        return False
    return at - 30 < order.at < at - 0.5


__all__ = ["KINDS", "Kind", "Missed", "Trouble", "random_troubles"]
