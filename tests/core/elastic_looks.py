"""One look at an elastic job whose workers and whose etcd are as a test says."""

from __future__ import annotations

from datetime import datetime, timedelta

from paddlejob.api import World
from paddlejob.core import Answer, Delete, Etcd, Plan, observe, plan
from tests.builders import (
    NOW,
    NOW_TEXT,
    JobBuilder,
    PodBuilder,
    a_config_map,
    a_pod,
    an_elastic_job,
)

ID = "team-train-8f432e67-0000"
LATER = NOW + timedelta(minutes=5)
SETTLED = World(replicas=2)


def running(world: World = SETTLED, workers: int = 2) -> JobBuilder:
    """A job that trains with two workers, asked for so many."""
    return an_elastic_job(workers).with_status(phase="Running", start_time=NOW_TEXT, world=world)


def answered(value: str = "running", *exited: int, error: str = "") -> Answer:
    """An answer that judges the workers with these numbers."""
    return Answer(ID, NOW, value, frozenset(f"uid-of-train-worker-{one}" for one in exited), error)


def look(job: JobBuilder, *pods: PodBuilder | None, heard: Answer | None = None, at: datetime = NOW) -> Plan:
    """One look at a job whose workers are these."""
    made = job.build()
    there = [one.of(made, "worker", index).build() for index, one in enumerate(pods) if one is not None]
    seen = observe(made, [*there, *([a_config_map(made)] if there else [])], etcd=Etcd(answer=heard or answered()))
    return plan(made, seen, at)


def runs(address: str = "10.0.0.1") -> PodBuilder:
    return a_pod().with_address(address).running().touched()


def deleted(made: Plan) -> list[str]:
    return [one.name for one in made.actions if isinstance(one, Delete)]


def created(made: Plan) -> list[str]:
    return [one.name for one in made.creates]


def world(made: Plan) -> World:
    assert made.status.world is not None
    return made.status.world
