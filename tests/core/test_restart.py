"""Whole-job restarts, from the decision to the next start. Each test is a moment, or a few that follow each other."""

from __future__ import annotations

from datetime import timedelta

import pytest

from paddlejob.api import Condition, Failure, Job
from paddlejob.core import Create, Delete, JobEvent, Plan, Update, observe, plan
from tests.builders import (
    EARLIER,
    NOW,
    NOW_TEXT,
    JobBuilder,
    PodBuilder,
    a_config_map,
    a_job,
    a_pod,
    a_ps_job,
    pods_of,
)
from tests.core.world import World, attempt_of

TWO = a_job().with_workers(2).asking(backoff_limit=1)


def failed_once(job: JobBuilder, pod: PodBuilder) -> Plan:
    """What follows when worker 0 of a running job has come to `pod` and the other one runs."""
    built = job.in_phase("Running").build()
    pods = pods_of(built)
    meta = pods["train-worker-0"].pod.metadata
    ended = PodBuilder(pod.pod)._meta(
        name=meta.name, uid=meta.uid, labels=meta.labels, owner_references=meta.owner_references
    )
    others = [one.running().build() for name, one in pods.items() if name != "train-worker-0"]
    return plan(built, observe(built, [ended.build(), *others, a_config_map(built)]), NOW)


def test_a_failure_within_the_limit_restarts_the_whole_job_later() -> None:
    made = failed_once(TWO, a_pod().failed(3, message="no such file"))
    status = made.status
    assert (status.phase, status.restarts, status.disruptions, status.attempt) == ("Restarting", 1, 0, 1)
    assert status.next_attempt_time == "2026-05-04T12:00:10Z"
    assert status.failure == Failure(pod="train-worker-0", exit_code=3, reason="Error", message="no such file")
    assert made.events == (JobEvent("Warning", "Restarted", "train-worker-0 failed with exit code 3 (Error)", 1),)
    assert made.actions == ()  # nothing is deleted before the decision is written
    assert made.wake_at == NOW + timedelta(seconds=2)


def test_a_failure_beyond_the_limit_is_the_end() -> None:
    status = failed_once(TWO.with_status(restarts=1, attempt=1), a_pod().failed(3)).status
    assert (status.phase, status.restarts) == ("Failed", 1)


@pytest.mark.parametrize("pod", [a_pod().evicted(), a_pod().running().deleting(), a_pod().failed(143).deleting()])
def test_a_disruption_restarts_a_running_job_at_once_and_is_counted_apart(pod: PodBuilder) -> None:
    status = failed_once(TWO.with_status(restarts=1, attempt=1), pod).status
    assert (status.phase, status.restarts, status.disruptions, status.attempt) == ("Restarting", 1, 1, 2)
    assert status.next_attempt_time == NOW_TEXT


def test_a_disruption_that_kubernetes_explains_is_told_in_its_words() -> None:
    pod = a_pod().running().targeted("PreemptionByScheduler", "preempted by another pod").deleting()
    status = failed_once(TWO, pod).status
    assert status.failure == Failure(
        pod="train-worker-0", reason="PreemptionByScheduler", message="preempted by another pod"
    )
    assert status.message == "train-worker-0 was lost (PreemptionByScheduler)"


def test_a_disruption_before_the_job_ran_waits_so_that_it_cannot_spin() -> None:
    job = TWO.with_status(phase="Starting", disruptions=2, attempt=2).build()
    pods = [one.evicted().build() for one in pods_of(job).values()]
    assert plan(job, observe(job, pods), NOW).status.next_attempt_time == "2026-05-04T12:00:40Z"


def test_a_pause_is_never_shorter_than_it_says() -> None:
    job = TWO.in_phase("Running").build()
    pods = [one.failed(1).build() for one in pods_of(job).values()]
    at = NOW + timedelta(milliseconds=1)
    assert plan(job, observe(job, pods), at).status.next_attempt_time == "2026-05-04T12:00:11Z"


def restarting(job: JobBuilder) -> Job:
    """Attempt 1, decided and written; what attempt 0 left may still be there."""
    failure = Failure(pod="train-worker-0", exit_code=3, reason="Error")
    stopped = Condition(type="Running", status="False", last_transition_time=EARLIER)
    return job.with_status(
        phase="Restarting",
        attempt=1,
        restarts=1,
        next_attempt_time=NOW_TEXT,
        failure=failure,
        mode=job.job.spec.mode,
        conditions=(stopped,),
    ).build()


def test_what_the_earlier_attempt_left_is_deleted_first_and_waited_for() -> None:
    job, old = restarting(TWO), TWO.build()
    first, second = pods_of(old).values()
    made = plan(job, observe(job, [first.failed(3).build(), second.running().build()]), NOW)
    assert [one for one in made.actions if isinstance(one, Delete)] == [
        Delete("Pod", "train-worker-0", "uid-of-train-worker-0"),
        Delete("Pod", "train-worker-1", "uid-of-train-worker-1"),
    ]
    made = plan(job, observe(job, [second.running().deleting().build()]), NOW)
    assert (made.actions, made.status.phase) == ((), "Restarting")
    assert made.status.message == "train-worker-0 failed with exit code 3 (Error)"


def test_nothing_is_made_before_its_time() -> None:
    job = restarting(TWO)
    assert plan(job, observe(job), NOW - timedelta(seconds=1)).actions == ()
    created = [one.name for one in plan(job, observe(job), NOW).creates]
    assert created == ["train-worker-0", "train-worker-1"]


def test_a_pod_of_an_earlier_attempt_that_does_not_go_is_told_with_its_node() -> None:
    job, old = restarting(TWO), TWO.build()
    late = pods_of(old)["train-worker-0"].running().placed("node-7").deleting()
    soon = plan(job, observe(job, [late.build()]), NOW)
    assert soon.wake_at == NOW + timedelta(seconds=30)
    status = plan(job, observe(job, [late.build()]), NOW + timedelta(seconds=30)).status
    assert (status.phase, status.reason) == ("Restarting", "PodsRemain")
    assert "train-worker-0 on node node-7" in status.message
    nowhere = plan(job, observe(job, [late.placed("").build()]), NOW + timedelta(seconds=30)).status
    assert "train-worker-0: if the node" in nowhere.message


@pytest.mark.parametrize("network", ["PodIP", "Service"])
def test_the_config_map_is_rewritten_for_the_new_attempt(network: str) -> None:
    world = World(TWO.asking(intranet=network).build())
    world.run()
    world.fail("train-worker-1")
    before = world.children["ConfigMap"]["train"]
    world.settle()
    assert not any(pod.deleting for pod in world.pods.values())  # what falls with it may still be read
    world.wait()
    world.settle()
    world.empty()
    world.wait()
    world.run()
    after = world.children["ConfigMap"]["train"]
    assert (attempt_of(after), after.metadata.uid) == (1, before.metadata.uid)
    assert {attempt_of(pod) for pod in world.pods.values()} == {1}
    status = world.job.status
    assert (status.phase, status.restarts, status.next_attempt_time, status.message) == ("Running", 1, None, "")
    assert status.failure is not None  # what led to it can still be read


def test_a_stranger_in_place_of_the_config_map_is_not_overwritten() -> None:
    job = restarting(a_ps_job().by_service())
    other = a_config_map(a_job().with_uid("another").build())
    made = plan(job, observe(job, [other]), NOW)
    assert not [one for one in made.actions if isinstance(one, Create | Update)]


def test_of_a_failed_job_the_first_cause_may_come_to_light_later() -> None:
    job = a_job().with_workers(2).in_phase("Running").build()
    one, other = pods_of(job).values()
    world = World(job, [one.running().build(), other.failed(250, at="2026-05-04T12:00:02Z").build()])
    world.turn()
    assert world.job.status.failure == Failure(pod="train-worker-1", exit_code=250, reason="Error")
    world.pods["train-worker-0"] = one.failed(139, at="2026-05-04T12:00:01Z").build()
    status = world.turn().status
    assert status.failure == Failure(pod="train-worker-0", exit_code=139, reason="Error")
    assert (status.phase, status.reason, status.message) == (
        "Failed",
        "Error",
        "train-worker-0 failed with exit code 139 (Error)",
    )
    condition = status.condition("Failed")
    assert condition is not None
    assert condition.message == status.message


def test_what_falls_after_the_end_changes_nothing() -> None:
    job = a_job().with_workers(2).in_phase("Running").build()
    one, other = pods_of(job).values()
    world = World(job, [one.running().build(), other.failed(1).build()])
    end = world.turn().status
    world.pods["train-worker-0"] = one.failed(143).deleting().build()
    assert world.turn().status == end


def test_a_deletion_after_the_end_does_not_make_another_pod_the_cause() -> None:
    job = a_job().with_workers(2).in_phase("Running").build()
    one, other = pods_of(job).values()
    world = World(job, [one.running().build(), other.failed(1).build()])
    end = world.turn().status
    world.pods |= {"train-worker-0": one.failed(1).build(), "train-worker-1": other.failed(1).deleting().build()}
    assert world.turn().status == end
