"""What is refused waits, one goes ahead, the others follow; it is told for as long as it stands, also after the end."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from paddlejob.api import Job, Status
from paddlejob.core import Action, Delete, Observed, Pod, Refusal, observe, plan
from paddlejob.core.children import Verb
from paddlejob.core.refusals import Wish, permitted
from tests.builders import NOW, JobBuilder, a_config_map, a_job, a_ps_job, a_refusal, pods_of

FOUR = [Wish("delete", "Pod", f"train-worker-{index}") for index in range(4)]


def refused(name: str, seconds: int, reason: str = "Forbidden", verb: Verb = "delete") -> Refusal:
    return replace(a_refusal("Pod", name, reason, seconds), verb=verb)


ASKED: dict[str, tuple[tuple[Refusal, ...], list[str]]] = {
    "nothing was refused": ((), ["0", "1", "2", "3"]),
    "one was refused a moment ago: all wait": ((refused("train-worker-2", 5),), []),
    "another verb was refused": ((refused("train-worker-2", 5, verb="create"),), ["0", "1", "2", "3"]),
    "its time has come: one goes ahead, and not the same again": ((refused("train-worker-0", 0),), ["1"]),
    "all were refused: the one that was tried longest ago goes ahead": (
        tuple(refused(f"train-worker-{index}", at) for index, at in enumerate((-1, -2, -9, -3))),
        ["2"],
    ),
    "what was refused is not wanted any more: another goes ahead": ((refused("train-ps-0", -1),), ["0"]),
    "a taken name concerns that name alone": ((refused("train-worker-2", 5, "NameTaken"),), ["0", "1", "3"]),
    "a taken name is asked for again": ((refused("train-worker-2", 0, "NameTaken"),), ["0", "1", "2", "3"]),
}


@pytest.mark.parametrize("case", ASKED)
def test_asking(case: str) -> None:
    refusals, expected = ASKED[case]
    assert [one.name[-1] for one in permitted(FOUR, Observed(refusals=refusals), NOW)] == expected


def test_a_name_that_an_object_of_another_has_is_not_asked_for() -> None:
    seen = Observed(taken=frozenset({("Pod", "train-worker-1")}))
    wanted = [replace_verb(one) for one in FOUR]
    assert [one.name[-1] for one in permitted(wanted, seen, NOW)] == ["0", "2", "3"]


def replace_verb(wish: Wish) -> Wish:
    return wish._replace(verb="create")


def pods(job: Job, how: str = "running") -> list[Pod]:
    return [getattr(one, how)().build() for one in pods_of(job).values()]


def deletes(actions: tuple[Action, ...]) -> list[str]:
    return [one.name for one in actions if isinstance(one, Delete)]


def stalled(status: Status) -> tuple[str, str]:
    found = status.condition("Stalled")
    return (found.status, found.reason) if found else ("", "")


ENDED = (
    a_job().with_workers(2).cleaning("Always").in_phase("Completed").with_status(completion_time="2026-05-04T12:00:00Z")
)
SUSPENDED = a_job().with_workers(2).asking(suspend=True).in_phase("Suspended").with_status(attempt=1)
RESTARTING = a_job().with_workers(2).in_phase("Restarting").with_status(attempt=1)
LEAVING: dict[str, JobBuilder] = {"ended": ENDED, "suspended": SUSPENDED, "restarting": RESTARTING}


@pytest.mark.parametrize("case", LEAVING)
def test_what_may_not_be_deleted_waits_is_told_and_is_tried_again(case: str) -> None:
    job = LEAVING[case].build()
    there = pods(replace(job, status=replace(job.status, attempt=0)), "succeeded")
    assert deletes(plan(job, observe(job, there), NOW).actions) == ["train-worker-0", "train-worker-1"]
    seen = observe(job, there, [refused("train-worker-0", 5)])
    made = plan(job, seen, NOW)
    assert (made.actions, made.wake_at) == ((), NOW + timedelta(seconds=5))
    assert stalled(made.status) == ("True", "Forbidden")
    assert "Forbidden" in [one.reason for one in made.events]
    told = replace(job, status=made.status)
    again = plan(told, seen, NOW + timedelta(seconds=5))
    assert deletes(again.actions) == ["train-worker-1"]
    assert "Forbidden" not in [one.reason for one in again.events]
    after = plan(told, observe(told), NOW + timedelta(seconds=6))
    assert stalled(after.status) == ("False", "Progressing")


@pytest.mark.parametrize("case", LEAVING)
def test_a_pod_that_was_deleted_and_does_not_go_is_told(case: str) -> None:
    job = LEAVING[case].build()
    there = [one.running().placed("node-7").deleting().build() for one in pods_of(job).values()]
    seen = observe(job, [replace(one, metadata=replace(one.metadata, labels={})) for one in there])
    soon = plan(job, seen, NOW)
    assert (soon.wake_at, stalled(soon.status)) == (NOW + timedelta(seconds=30), ("", ""))
    late = plan(job, seen, NOW + timedelta(seconds=30))
    assert stalled(late.status) == ("True", "PodsRemain")
    assert [one.note for one in late.events if "train-worker-0 on node node-7" in one.note]
    assert late.wake_at is None


def test_a_pod_that_does_not_go_is_told_also_while_a_job_waits_for_it_to_be_made_anew() -> None:
    job = a_job().with_workers(2).in_phase("Pending").build()
    one, other = pods_of(job).values()
    seen = observe(job, [one.deleting().build(), other.build()])
    assert plan(job, seen, NOW + timedelta(seconds=30)).status.reason == "PodsRemain"


def test_how_a_job_ended_stays_beside_what_keeps_it_from_being_cleaned_up() -> None:
    job = ENDED.with_status(message="2 of 2 workers succeeded").build()
    made = plan(job, observe(job, pods(job, "succeeded"), [refused("train-worker-0", 5)]), NOW)
    assert (made.status.phase, made.status.reason) == ("Completed", "")
    assert made.status.message == "2 of 2 workers succeeded"


def test_a_job_that_may_not_expire_is_cleaned_up_and_tried_again() -> None:
    job = ENDED.asking(ttl_seconds_after_finished=0).build()
    there = pods(job, "succeeded")
    assert plan(job, observe(job, there), NOW).expired
    held = replace(a_refusal("PaddleJob", "train", "Forbidden", 5), verb="delete")
    made = plan(job, observe(job, there, [held]), NOW)
    assert (made.expired, made.wake_at) == (False, NOW + timedelta(seconds=5))
    assert deletes(made.actions) == ["train-worker-0", "train-worker-1"]
    assert plan(job, observe(job, there, [held]), NOW + timedelta(seconds=5)).expired


def test_what_was_not_made_before_the_end_is_not_told_after_it() -> None:
    job = ENDED.build()
    made = plan(job, observe(job, (), [a_refusal("Pod", "train-worker-0")]), NOW)
    assert (stalled(made.status), made.wake_at) == (("", ""), None)


def test_a_touch_that_is_refused_waits() -> None:
    job = a_ps_job(1, 1).in_phase("Starting").build()
    there = [*(one.build() for one in pods_of(job).values()), a_config_map(job)]
    assert len(plan(job, observe(job, there), NOW).actions) == 2
    held = refused("train-ps-0", 5, verb="patch")
    made = plan(job, observe(job, there, [held]), NOW)
    assert (made.actions, made.status.reason) == ((), "Forbidden")
