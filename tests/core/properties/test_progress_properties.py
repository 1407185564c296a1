"""Whatever is read from the output of a job: a plan comes of it, the status can be written, and settles."""

from __future__ import annotations

import math

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from paddlejob.api import Job, Status
from paddlejob.api.status import as_json
from paddlejob.core import Listening, Observed, Pod, Said, observe, plan
from paddlejob.core.progress import progressed
from tests.builders import NOW, a_job, a_pod
from tests.core.strategies import EXAMPLES, jobs, listenings, pods, progresses, saids, words

many = settings(
    deadline=None, max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def seen(job: Job, there: list[Pod], heard: dict[str, Said], listening: Listening) -> Observed:
    return replace(observe(job, there), said=heard, listening=listening)


@many
@given(jobs, st.lists(pods, max_size=4), st.dictionaries(words, saids, max_size=3), listenings)
def test_a_plan_comes_of_it(job: Job, there: list[Pod], heard: dict[str, Said], listening: Listening) -> None:
    made = plan(job, seen(job, there, heard, listening), NOW)
    assert msgspec.convert(msgspec.json.decode(msgspec.json.encode(as_json(made.status))), Status) is not None
    assert made.wake_at is None or made.wake_at > NOW


@many
@given(st.none() | progresses, st.lists(saids, min_size=1, max_size=2), st.booleans())
def test_it_settles_and_makes_sense(before: object, heard: list[Said], runs: bool) -> None:
    job = a_job().with_workers(2).in_phase("Running").with_status(progress=before).build()
    pod = a_pod().running() if runs else a_pod().succeeded()
    there = [pod.of(job, "worker", index).build() for index in range(2)]
    world = seen(job, there, {f"uid-of-train-worker-{index}": one for index, one in enumerate(heard)}, Listening())
    made = progressed(job, world)
    again = progressed(replace(job, status=replace(job.status, progress=made)), world)
    assert again == made
    if made is not None and made != before:
        assert made.percent is None or 0 <= made.percent <= 100
        assert made.speed is None or (made.speed >= 0 and math.isfinite(made.speed))
