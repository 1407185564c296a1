"""What people do to a job: suspend it, edit it, scale it, delete it or its children, write its status."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from tests.chaos.world import Undo, World
from tests.cluster.api import ApiError
from tests.scenarios.desk import Json
from tests.scenarios.exchange import Answer, Exchange

if TYPE_CHECKING:
    from tests.chaos.troubles import Trouble

EDITS: tuple[Json, ...] = (
    {"cleanPodPolicy": "Always"},
    {"cleanPodPolicy": "Never"},
    {"cleanPodPolicy": "Running"},
    {"ttlSecondsAfterFinished": 15},
    {"activeDeadlineSeconds": 3000},
)
WORDS: tuple[Json, ...] = (
    {"message": "a stranger was here", "reason": "Stranger"},
    {"phase": "Pending"},
    {"phase": "Starting"},
    {"phase": "Running"},
    {"worker": {"running": 7, "succeeded": 0}},
    {"conditions": None},
    {"phase": "Restarting", "nextAttemptTime": "2099-01-01T00:00:00Z"},
    {"replacing": ["not-a-uid"]},
    {"observedGeneration": 99, "startTime": None},
)


def suspend(world: World, trouble: Trouble) -> Undo:
    name = world.job(trouble.job).name
    world.desk.change(name, {"suspend": True})

    def resume() -> None:
        with suppress(ApiError):
            world.desk.change(name, {"suspend": False})

    return resume


def break_webhook(world: World, trouble: Trouble) -> Undo:
    """Every create of a pod of this job is answered with 500, as if an admission webhook were down."""
    name = world.job(trouble.job).name

    def is_meant(exchange: Exchange) -> bool:
        return exchange.method == "POST" and exchange.path.endswith("/pods") and f" {name}-" in exchange.target

    stack = ExitStack()
    for replica in world.replicas:
        stack.enter_context(replica.proxy.faulty(Answer(500), is_meant))
    return stack.close


def edit(world: World, trouble: Trouble) -> None:
    job = world.job(trouble.job)
    order = world.model.orders[job.name]
    if order.fate in ("completes", "fails"):
        world.desk.change(job.name, EDITS[trouble.dice % len(EDITS)])
    else:
        world.desk.change(job.name, {"backoffLimit": job.spec["backoffLimit"] + 1})


def scale(world: World, trouble: Trouble) -> None:
    job = world.job(trouble.job, lambda job: job.spec.get("elastic") and not job.finished)
    world.desk.change(job.name, {"worker": {"replicas": 2 + trouble.dice % 3}})


def write_status(world: World, trouble: Trouble) -> None:
    job = world.job(trouble.job)
    world.model.meddled(job.name)
    world.desk.api.merge(world.job_path(f"{job.name}/status"), {"status": WORDS[trouble.dice % len(WORDS)]})


def delete_child(world: World, trouble: Trouble) -> None:
    job = world.job(trouble.job)
    if job.spec.get("intranet") == "Service" and trouble.dice % 2 and job.live:
        world.desk.api.delete(world.path("services", job.live[trouble.slot % len(job.live)].name))
    else:
        world.desk.api.delete(world.path("configmaps", job.name))


def delete(world: World, trouble: Trouble) -> None:
    job = world.job(trouble.job, lambda _: True)
    world.desk.delete(job.name, propagationPolicy=("Background", "Foreground")[trouble.dice % 2])
