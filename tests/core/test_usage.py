"""What a job has used: what counts, as what, and that the parts add up to the whole however often somebody looks."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddlejob.api import Status, Usage
from paddlejob.api.status import Phase
from paddlejob.core import observe, plan
from paddlejob.core.usage import LARGEST, MOST, asked, settled, so_far, with_usage
from tests.builders import EARLIER, NOW, NOW_TEXT, JobBuilder, a_job, a_ps_job, a_template, an_elastic_job
from tests.core.world import World

ONE_HOUR = 3600  # from EARLIER to NOW


def with_devices(name: str, amount: Any) -> dict[str, Any]:
    return a_template(resources={"limits": {name: amount, "cpu": 4, "rdma/hca": 1}})


COUNTED = {
    "pods": (a_ps_job(2, 3), ("pods", 5)),
    "accelerators of the workers alone": (a_ps_job(2, 3).with_workers(3, with_devices("nvidia.com/gpu", "8")), 24),
    "as many of each role": (a_ps_job(2, 2).template(with_devices("baidu.com/xpu", 2)), 8),
    "of another maker": (a_job().template(with_devices("huawei.com/Ascend910", 4)), 4),
    "a part of one": (a_job().template(with_devices("nvidia.com/mig-1g.5gb", 1)), 1),
    "the memory of one is none": (a_job().template(with_devices("aliyun.com/gpu-mem", 12)), ("pods", 1)),
    "a resource without a maker is none": (a_job().template(with_devices("gpu", 12)), ("pods", 1)),
    "more than there are": (a_job().template(with_devices("nvidia.com/gpu", "1e30")), MOST),
    "less than nothing": (a_job().template(with_devices("nvidia.com/gpu", "-1e30")), ("pods", 1)),
    "nothing of it": (a_job().template(with_devices("nvidia.com/gpu", 0)), ("pods", 1)),
}


@pytest.mark.parametrize("name", COUNTED)
def test_accelerators_are_counted_or_else_pods(name: str) -> None:
    job, expected = COUNTED[name]
    assert asked(job.build()) == (expected if isinstance(expected, tuple) else ("accelerators", expected))


@pytest.mark.parametrize("cpu", ["9" * 5000, f"{'9' * 4000}e999"])
def test_a_quantity_of_thousands_of_digits_keeps_no_job_from_being_looked_at(cpu: str) -> None:
    job = a_job().template(a_template(resources={"limits": {"cpu": cpu}})).build()
    assert plan(job, observe(job), NOW).status.phase == "Pending"


def using(state: Any, since: str | None = EARLIER, amount: int = 2, **sums: Any) -> Usage:
    return Usage(amount=amount if state else 0, state=state, since=since, **sums)


TWO = a_job().with_workers(2)
CHANGES: dict[str, tuple[Usage | None, Phase, dict[str, Any], Usage | None]] = {
    "a new job waits": (None, "Pending", {}, using("waiting", NOW_TEXT)),
    "it goes on waiting": (using("waiting"), "Pending", {}, using("waiting")),
    "its pods are placed": (using("waiting"), "Starting", {}, using("starting", NOW_TEXT, waiting=2 * ONE_HOUR)),
    "they run": (using("starting"), "Running", {}, using("training", NOW_TEXT, starting=2 * ONE_HOUR)),
    "workers come and go": (using("training"), "Scaling", {}, using("training")),
    "it has completed": (using("training", lost=5), "Completed", {}, using(None, None, training=2 * ONE_HOUR, lost=5)),
    "it has failed": (using("training", training=7), "Failed", {}, using(None, None, lost=2 * ONE_HOUR + 7)),
    "it failed before it trained": (using("waiting"), "Failed", {}, using(None, None, waiting=2 * ONE_HOUR)),
    "it starts over": (
        using("training", lost=5),
        "Restarting",
        {"attempt": 1},
        using("waiting", NOW_TEXT, lost=2 * ONE_HOUR + 5),
    ),
    "it starts over before it ran": (
        using("waiting"),
        "Restarting",
        {"attempt": 1},
        using("waiting", NOW_TEXT, waiting=2 * ONE_HOUR),
    ),
    "it is suspended": (using("training"), "Suspended", {"attempt": 1}, using(None, None, lost=2 * ONE_HOUR)),
    "it stays suspended": (using(None, None, lost=5), "Suspended", {}, using(None, None, lost=5)),
    "it was suspended from the beginning": (None, "Suspended", {}, None),
    "it is resumed": (using(None, None, lost=5), "Pending", {}, using("waiting", NOW_TEXT, lost=5)),
    "it has fewer workers than before": (
        using("training", amount=3),
        "Running",
        {},
        using("training", NOW_TEXT, training=3 * ONE_HOUR),
    ),
    "somebody wrote a time that nobody can read": (
        using("waiting", "once"),
        "Starting",
        {},
        using("starting", NOW_TEXT, waiting=2 * ONE_HOUR),  # since the job was made
    ),
    "somebody wrote a time to come": (
        using("waiting", "2999-01-01T00:00:00Z"),
        "Starting",
        {},
        using("starting", NOW_TEXT),
    ),
    "somebody wrote no time": (using("waiting", None), "Starting", {}, using("starting", NOW_TEXT)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_has_passed_is_summed_up_when_something_changes(name: str) -> None:
    before, phase, fields, expected = CHANGES[name]
    job = TWO.with_status(phase="Pending", usage=before).build()
    status = Status(phase=phase, usage=before, **fields)
    assert with_usage(job, status, NOW).usage == expected


def test_whoever_wrote_the_sums_they_fit_into_a_status() -> None:
    usage = using("training", training=LARGEST, lost=LARGEST)
    job = TWO.with_status(phase="Running", usage=usage).build()
    assert so_far(job, NOW).training == LARGEST
    after = with_usage(job, Status(phase="Failed", usage=usage), NOW).usage
    assert after is not None
    assert after.lost == LARGEST
    assert plan(job, observe(job), NOW).status.usage is not None


def test_whoever_shows_it_adds_what_has_passed_since() -> None:
    job = TWO.with_status(usage=using("training", training=7)).build()
    assert so_far(job, NOW) == using("training", NOW_TEXT, training=2 * ONE_HOUR + 7)
    assert settled(job, NOW) == using(None, None, training=2 * ONE_HOUR + 7)
    assert so_far(TWO.build(), NOW) == Usage()


MOMENTS = st.sampled_from(["turn", "wait", "start", "fail", "evict", "suspend", "resume", "second", "hour", "operator"])


@settings(deadline=None)
@given(
    st.lists(st.tuples(MOMENTS, st.integers(0, 2)), max_size=40),
    st.sampled_from([TWO.asking(backoff_limit=2), a_ps_job().with_gloo(0), an_elastic_job()]),
)
def test_whatever_happens_the_parts_add_up_to_the_time_in_which_the_job_wanted_pods(
    path: list[tuple[str, int]], job: JobBuilder
) -> None:
    world, wanted = World(job.build()), 0
    world.turn()
    for what, which in path:
        before = world.now
        match what:
            case "turn" | "operator":  # a new operator knows what stands in the status, and no more
                world.turn()
            case "start":
                world.run()
            case "fail" | "evict":
                names = sorted(world.pods)
                if names:
                    getattr(world, what)(names[which % len(names)])
            case "suspend" | "resume":
                world.ask(suspend=what == "suspend")
                world.turn()
            case "wait":
                world.wait()
            case _:
                world.now += timedelta(seconds=1 if what == "second" else ONE_HOUR)
        used = world.job.status.usage
        assert used is not None
        wanted += int((world.now - before).total_seconds()) * used.amount
        now = so_far(world.job, world.now)
        assert now.waiting + now.starting + now.training + now.lost == wanted
