"""Random jobs of every kind, and what each must come to: their pods' exits are the campaign's to decide.

An order says all that is known of a job before it is submitted. Nothing here looks at a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Literal

from tests.scenarios.desk import Json, a_job, a_role

# What must become of a job, whatever befalls it.
Fate = Literal["completes", "fails", "runs out of time", "never starts"]
Shape = Literal["ps", "collective", "single", "heter", "elastic"]

SHAPES: tuple[Shape, ...] = ("ps", "ps", "ps", "collective", "collective", "single", "heter", "elastic")
FATES: dict[Fate, int] = {"completes": 8, "fails": 2, "runs out of time": 1, "never starts": 1}
POLICIES = (None, None, "Always", "Never", "OnFailure", "OnCompletion", "Running")


@dataclass(frozen=True)
class Order:
    number: int
    at: float  # when it is submitted, in seconds from the start
    shape: Shape
    fate: Fate
    spec: Json = field(repr=False)
    failures: int = 0  # how often its program fails before it succeeds
    runs: float = 5.0  # how long all of its pods run before something ends
    slow: float = 0.0  # how long its workers take to start

    @property
    def name(self) -> str:
        return f"j{self.number}-{self.shape}"

    @property
    def body(self) -> Json:
        return a_job(self.name, **self.spec)

    def __str__(self) -> str:
        asked = {name: value for name, value in self.spec.items() if name not in ("ps", "worker", "heter")}
        pods = " ".join(
            f"{role}={self.spec[role]['replicas']}" for role in ("ps", "worker", "heter") if role in self.spec
        )
        return f"{self.name}: {self.fate}, {pods}, {self.failures} failures, {asked}"


def random_order(rng: Random, number: int, at: float) -> Order:
    shape = rng.choice(SHAPES)
    fate: Fate = "completes" if shape == "elastic" else rng.choices([*FATES], [*FATES.values()])[0]
    intranet = "PodIP" if shape == "elastic" else rng.choice(("PodIP", "PodIP", "Service", "Host"))
    slow = rng.choice((0.0, 0.0, 0.0, rng.uniform(3, 12)))
    failures = rng.choice((0, 0, 0, 1)) if fate == "completes" and shape != "elastic" else 0
    spec: Json = {
        "intranet": intranet,
        "backoffLimit": failures + rng.choice((0, 0, 1)) if fate != "fails" else rng.choice((0, 0, 1)),
        **_roles(rng, shape, intranet, _starts(rng, fate, slow, intranet)),
        **_limits(rng, fate),
    }
    if shape in ("ps", "heter"):
        spec["withGloo"] = rng.choice((0, 1, 2))
    if rng.random() < 0.08:
        spec["suspend"] = True
    if policy := rng.choice(POLICIES):
        spec["cleanPodPolicy"] = policy
    return Order(number, at, shape, fate, spec, failures, round(rng.uniform(2, 12), 1), slow)


def _starts(rng: Random, fate: Fate, slow: float, intranet: str) -> dict[str, str]:
    """Of a slow job, kubelets do not come to the pods, or their image takes long, when they have an address already."""
    late = fate == "never starts" or slow > 0
    if late and rng.random() < 0.4:
        return {"starts": "never"}
    starts = {"starts": "at-once"} if intranet == "Service" else {}
    return {**starts, "stuck": "image"} if late else starts


def _roles(rng: Random, shape: Shape, intranet: str, starts: dict[str, str]) -> Json:
    # Of a slow job only the workers are slow: the others wait for them with an address.
    others = {} if intranet != "Service" else {"starts": "at-once"}
    if shape == "single":
        return {"worker": a_role(1, **starts)}
    if shape == "collective":
        return {"worker": a_role(rng.randint(2, 5), **starts)}
    if shape == "elastic":
        return {"elastic": 1, "worker": {**a_role(rng.randint(2, 3), **starts), "requests": 2, "limits": 4}}
    roles = {"ps": a_role(rng.randint(1, 2), **others), "worker": a_role(rng.randint(1, 3), **starts)}
    if shape == "heter":
        roles["heter"] = a_role(rng.randint(1, 2), **others)
    return roles


def _limits(rng: Random, fate: Fate) -> Json:
    limits: Json = {}
    if fate == "runs out of time":
        limits["activeDeadlineSeconds"] = rng.randint(8, 25)
    elif fate == "never starts":
        limits["startingDeadlineSeconds"] = rng.randint(8, 25)
    elif rng.random() < 0.15:
        limits["activeDeadlineSeconds"] = limits["startingDeadlineSeconds"] = 3600
    if rng.random() < 0.15:
        limits["ttlSecondsAfterFinished"] = rng.randint(0, 20)
    return limits
