"""One job in full: how it is and why, its time line, its pods and events, and what can be done with it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from paddlejob.api.names import LABEL_ATTEMPT, LABEL_INDEX, LABEL_RES_TYPE, ROLES
from paddlejob.api.status import Failure, Progress
from paddlejob.core.children import Pod
from paddlejob.places.place import Event, Found
from paddlejob.places.words import pace, pod_word, restarts, why
from paddlejob.ui.rows import Row, row
from paddlejob.ui.timeline import Moment, timeline

# Of a job with thousands of pods, those that are told one by one; the counts are of all.
MOST_PODS = 400
_TROUBLED_FIRST = {"failed": 0, "unknown": 1, "pending": 2, "starting": 3, "running": 4, "succeeded": 5}


class PodView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    name: str
    role: str
    index: int
    attempt: int
    state: str
    word: str
    node: str
    address: str
    restarts: int
    exit_code: int | None
    since: str
    until: str


class ScaleRange(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    now: int
    least: int
    most: int


class Possible(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What may be asked of the job now."""

    suspend: bool = False
    resume: bool = False
    scale: ScaleRange | None = None
    delete: bool = True


class RoleView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    name: str
    replicas: int
    ready: str


class ProgressView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How far it is: as the status tells it, and its speed in words."""

    at: str
    percent: int | None
    step: int | None
    total: int | None
    epoch: int | None
    loss: float | None
    metrics: dict[str, float]
    pace: str


class JobDetails(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    row: Row
    why: str
    about: tuple[tuple[str, str], ...]
    failure: Failure | None
    progress: ProgressView | None
    roles: tuple[RoleView, ...]
    network: str
    attempt: int
    backoff_limit: int
    moments: tuple[Moment, ...]
    pods: tuple[PodView, ...]
    pods_in_all: int
    events: tuple[Event, ...]
    possible: Possible
    refused: dict[str, str] = {}
    """Why the person may not see its `pods` or its `events`."""


def details(place: str, found: Found, pods: Sequence[Pod], events: Sequence[Event]) -> JobDetails:
    job, status = found.job, found.job.status
    shown = [pod_view(one) for one in pods]
    if len(shown) > MOST_PODS:
        shown = sorted(shown, key=lambda one: _TROUBLED_FIRST.get(one.state, 0))[:MOST_PODS]
    return JobDetails(
        row=row(place, found),
        why=why(found),
        about=found.about,
        failure=status.failure,
        progress=_progress(status.progress) if status.progress else None,
        roles=tuple(_role(found, name) for name, _ in job.spec.roles),
        network=str(job.spec.network),
        attempt=status.attempt,
        backoff_limit=job.spec.backoff_limit,
        moments=timeline(found, pods, events),
        pods=tuple(sorted(shown, key=_order)),
        pods_in_all=len(pods),
        events=tuple(events),
        possible=_possible(place, found),
    )


def _progress(told: Progress) -> ProgressView:
    return ProgressView(
        at=told.at,
        percent=told.percent,
        step=told.step,
        total=told.total,
        epoch=told.epoch,
        loss=told.loss,
        metrics=told.metrics,
        pace=pace(told),
    )


def _role(found: Found, name: str) -> RoleView:
    asked = next(one for role, one in found.job.spec.roles if role == name)
    counts = next((found.job.status.role(one) for one in ROLES if one == name), None)
    return RoleView(name=name, replicas=asked.replicas, ready=counts.ready if counts else "")


def pod_view(pod: Pod) -> PodView:
    labels = pod.metadata.labels
    training = pod.training
    ended = training.state.terminated or training.last_state.terminated
    running = training.state.running
    since = (running.started_at if running else None) or pod.status.start_time or pod.metadata.creation_timestamp
    return PodView(
        name=pod.metadata.name,
        role=labels.get(LABEL_RES_TYPE, ""),
        index=_number(labels.get(LABEL_INDEX)),
        attempt=_number(labels.get(LABEL_ATTEMPT)),
        state=pod.state,
        word=pod_word(pod),
        node=pod.spec.node_name,
        address=pod.status.pod_ip,
        restarts=restarts(pod),
        exit_code=ended.exit_code if ended else None,
        since=since or "",
        until=(training.state.terminated.finished_at or "") if training.state.terminated else "",
    )


def _order(pod: PodView) -> tuple[int, int, int, str]:
    role = next((place for place, name in enumerate(ROLES) if name == pod.role), len(ROLES))
    return (role, pod.index, pod.attempt, pod.name)


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdecimal() else 0


def _possible(place: str, found: Found) -> Possible:
    job, worker = found.job, found.job.spec.worker
    if found.over or job.metadata.deletion_timestamp:
        return Possible(delete=not job.metadata.deletion_timestamp)
    on_cluster = place == "cluster"  # this machine's jobs cannot be changed, except for their number of workers
    scale = None
    if job.spec.is_elastic and worker:
        least, most = worker.bounds
        scale = ScaleRange(now=worker.wanted, least=least, most=most) if most > least else None
    suspended = job.spec.suspend
    return Possible(suspend=on_cluster and not suspended, resume=on_cluster and suspended, scale=scale)
