"""Nodes in trouble: whose trouble is named, from when on a node is avoided, and what pods prefer then."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from paddlejob.api import Failure, NodeRecord, Status
from paddlejob.core import Plan, Scheduling, observe
from paddlejob.core.avoiding import COOL_DOWN, MOST_NODES, avoided, with_nodes, with_preference
from paddlejob.core.times import timestamp
from tests.builders import EARLIER, NOW, NOW_TEXT, PodBuilder, a_job, a_pod, a_ps_job, an_elastic_job
from tests.core.world import World

TWO = a_job().with_workers(2).asking(backoff_limit=9)
LATER = timestamp(NOW + timedelta(seconds=COOL_DOWN))
LONG_BEFORE = timestamp(NOW - timedelta(seconds=COOL_DOWN))
FAILURE = Failure(pod="train-worker-0", exit_code=1, reason="Error")


def on(node: str, pod: PodBuilder, index: int = 0, made: str = NOW_TEXT) -> PodBuilder:
    return pod.of(TWO.build(), "worker", index).placed(node)._meta(creation_timestamp=made)


def noted(before: Status, after: Status, *pods: PodBuilder) -> tuple[NodeRecord, ...]:
    job = TWO.with_status(before).build()
    return with_nodes(job, after, observe(job, [pod.build() for pod in pods]), NOW).nodes


def record(name: str = "bad", last: str = EARLIER, **counted: Any) -> NodeRecord:
    return NodeRecord(name=name, last_time=last, **counted)


RUNNING, RESTARTED = Status(phase="Running"), Status(phase="Restarting", restarts=1, failure=FAILURE)
DISRUPTED = Status(phase="Restarting", disruptions=1, failure=FAILURE)
FAILED = on("bad", a_pod().failed(1))
ONCE = record(last=NOW_TEXT, failures=1)
OUT_OF_DISK = a_pod().evicted("Pod ephemeral local storage usage exceeds the total limit of containers 1Gi.")
CASES: dict[str, tuple[Status, Status, list[PodBuilder], tuple[NodeRecord, ...]]] = {
    "nothing happened": (RUNNING, RUNNING, [FAILED], ()),
    "the pod that failed first": (RUNNING, RESTARTED, [FAILED, on("good", a_pod().failed(250), 1)], (ONCE,)),
    "a failure that ends the job": (RUNNING, replace(RESTARTED, phase="Failed", reason="Error"), [FAILED], (ONCE,)),
    "a deadline after an earlier failure is nobody's fault": (
        replace(RUNNING, failure=FAILURE),
        Status(phase="Failed", reason="DeadlineExceeded", failure=FAILURE),
        [on("bad", a_pod().running())],
        (),
    ),
    "workers that come back too often": (
        RUNNING,
        replace(RESTARTED, failure=replace(FAILURE, reason="TooManyComebacks")),
        [FAILED],
        (),
    ),
    "a failed pod that is gone": (RUNNING, RESTARTED, [], ()),
    "a failed pod that had no node": (RUNNING, RESTARTED, [on("", a_pod().failed(1))], ()),
    "an eviction": (RUNNING, DISRUPTED, [on("bad", a_pod().evicted())], (record(last=NOW_TEXT, disruptions=1),)),
    "a node that takes two pods along": (
        RUNNING,
        DISRUPTED,
        [on("bad", a_pod().evicted()), on("bad", a_pod().evicted(), 1)],
        (record(last=NOW_TEXT, disruptions=1),),
    ),
    "a node that is lost": (
        RUNNING,
        DISRUPTED,
        [on("bad", a_pod().running().targeted("DeletionByTaintManager").deleting())],
        (record(last=NOW_TEXT, disruptions=1),),
    ),
    "a node that was started again": (
        RUNNING,
        DISRUPTED,
        [on("bad", a_pod().failed(255, "Unknown"))],
        (record(last=NOW_TEXT, disruptions=1),),
    ),
    "a preemption says nothing of the node": (
        RUNNING,
        DISRUPTED,
        [on("good", a_pod().running().targeted("PreemptionByScheduler").deleting())],
        (),
    ),
    "nor does a pod that somebody deletes": (RUNNING, DISRUPTED, [on("good", a_pod().running().deleting())], ()),
    "nor one beyond its own limit": (RUNNING, DISRUPTED, [on("good", OUT_OF_DISK)], ()),
    "a second time": (
        replace(RUNNING, nodes=(record(failures=1),)),
        RESTARTED,
        [FAILED],
        (record(last=NOW_TEXT, failures=2, avoided_until=LATER),),
    ),
    "a second time, in another way": (
        replace(RUNNING, nodes=(record(disruptions=1),)),
        RESTARTED,
        [FAILED],
        (record(last=NOW_TEXT, failures=1, disruptions=1, avoided_until=LATER),),
    ),
    "a pod that was there at the first time": (
        replace(RUNNING, nodes=(record(last=NOW_TEXT, failures=1),)),
        RESTARTED,
        [on("bad", a_pod().failed(1), made=EARLIER)],
        (ONCE,),
    ),
    "long after the first time": (
        replace(RUNNING, nodes=(record(last=LONG_BEFORE, failures=7, avoided_until=EARLIER),)),
        RESTARTED,
        [FAILED],
        (ONCE,),
    ),
    "a time that nobody can read": (
        replace(RUNNING, nodes=(record(last="once", failures=7),)),
        RESTARTED,
        [FAILED],
        (ONCE,),
    ),
    "only the last eight": (
        replace(RUNNING, nodes=tuple(record(f"n{at}", last=f"2026-05-04T0{at}:00:00Z") for at in range(8))),
        RESTARTED,
        [FAILED],
        (ONCE, *(record(f"n{at}", last=f"2026-05-04T0{at}:00:00Z") for at in range(7, 0, -1))),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_status_names_the_nodes_of_what_it_counts(name: str) -> None:
    before, after, pods, expected = CASES[name]
    assert noted(before, replace(after, nodes=before.nodes), *pods) == expected
    assert len(expected) <= MOST_NODES


def test_this_machine_is_no_node_to_avoid() -> None:
    job = TWO.with_status(RUNNING).build()
    seen = replace(observe(job, [FAILED.build()]), scheduling=Scheduling(local=True))
    assert with_nodes(job, RESTARTED, seen, NOW).nodes == ()


def test_a_node_is_avoided_for_a_day() -> None:
    status = Status(nodes=(record(failures=2, avoided_until=LATER), record("once", failures=1)))
    assert avoided(status, NOW) == ("bad",)
    assert avoided(status, NOW + timedelta(seconds=COOL_DOWN)) == ()


OURS = {
    "weight": 100,
    "preference": {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["bad"]}]},
}
USERS = {"weight": 5, "preference": {"matchExpressions": [{"key": "fast", "operator": "Exists"}]}}
DEMAND = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}]}
WANTED, PREFERRED = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
SPECS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "nothing": ({}, {"nodeAffinity": {PREFERRED: [OURS]}}),
    "other pods": (
        {"podAntiAffinity": {PREFERRED: []}},
        {"podAntiAffinity": {PREFERRED: []}, "nodeAffinity": {PREFERRED: [OURS]}},
    ),
    "nodes": (
        {"nodeAffinity": {WANTED: DEMAND, PREFERRED: [USERS]}},
        {"nodeAffinity": {WANTED: DEMAND, PREFERRED: [USERS, OURS]}},
    ),
    "something odd": ({"nodeAffinity": {PREFERRED: "none"}}, {"nodeAffinity": {PREFERRED: [OURS]}}),
}


@pytest.mark.parametrize("name", SPECS)
def test_what_the_user_prefers_stays(name: str) -> None:
    users, expected = SPECS[name]
    spec = {"schedulerName": "volcano", **({"affinity": users} if users else {})}
    assert with_preference(spec, ("bad",)) == {"schedulerName": "volcano", "affinity": expected}
    assert with_preference(spec, ()) is spec


def test_several_nodes_are_avoided_in_one_term() -> None:
    (term,) = with_preference({}, ("a", "b"))["affinity"]["nodeAffinity"][PREFERRED]
    assert [one["values"] for one in term["preference"]["matchFields"]] == [["a"], ["b"]]


def fail_twice(world: World, name: str = "train-worker-0") -> list[Plan]:
    """Each time on the node on which the world places all pods."""
    turns = []
    for _ in range(2):
        world.run()
        world.fail(name)
        turns += world.settle()
        for _ in range(4):
            world.wait()
            turns += world.settle()
            world.empty()
    return turns


@pytest.mark.parametrize("job", [TWO, a_ps_job().with_gloo(0).asking(backoff_limit=9)])
def test_after_two_failures_new_pods_avoid_the_node_and_an_event_says_so_once(job: Any) -> None:
    world = World(job.build())
    turns = fail_twice(world)
    (node,) = world.job.status.nodes
    assert (node.name, node.failures) == ("node-1", 2)
    told = [one for one in world.events if one.reason == "NodeAvoided"]
    assert [(one.type, one.attempt) for one in told] == [("Warning", 2)]
    assert "node-1 (failures: 2) until 2026-05-05T12:" in told[0].note
    last = [one for made in turns for one in made.creates if one.name == "train-worker-0"][-1]
    (term,) = last.body["spec"]["affinity"]["nodeAffinity"][PREFERRED]
    assert term["preference"]["matchFields"][0]["values"] == ["node-1"]


def test_an_elastic_worker_that_its_node_evicts_names_the_node() -> None:
    world = World(an_elastic_job().build())
    world.run()
    world.evict("train-worker-1")
    world.settle()
    (node,) = world.job.status.nodes
    assert (node.name, node.disruptions, node.avoided_until) == ("node-1", 1, None)
