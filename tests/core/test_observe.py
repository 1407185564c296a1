"""What is there: children sorted by role and index, strangers left out, half-made objects read without harm.

Strangers are those that another job owns, that nobody owns, or that this job owns without being in charge.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from paddlejob.api import Job, ObjectMeta, OwnerReference
from paddlejob.api.names import FINALIZER_OF_0_3
from paddlejob.core import KINDS, Child, ConfigMap, Pod, Refusal, observe
from paddlejob.core.children import Verb
from paddlejob.core.kind import Kind
from tests.builders import PodBuilder, a_config_map, a_job, a_pod, a_ps_job, a_refusal, a_service, pods_of

STRANGER = a_job().with_uid("another").build()


def test_places_are_sorted_servers_first_however_pods_come() -> None:
    job = a_ps_job().build()
    pods = [one.build() for one in reversed(pods_of(job).values())]
    seen = observe(job, pods)
    names = ["train-ps-0", "train-ps-1", "train-worker-0", "train-worker-1"]
    assert [slot.name for slot in seen.slots] == names
    assert [slot.pod.metadata.name for slot in seen.slots if slot.pod] == names
    assert [(slot.role, slot.index) for slot in seen.of_role("worker")] == [("worker", 0), ("worker", 1)]


def test_index_ten_comes_after_nine() -> None:
    job = a_job().with_workers(11).build()
    assert [slot.index for slot in observe(job).slots] == list(range(11))


def test_an_empty_place_is_pending() -> None:
    (slot,) = observe(a_job().build()).slots
    assert (slot.pod, slot.state) == (None, "pending")


def test_what_others_own_is_not_seen() -> None:
    job = a_job().by_service().build()
    seen = observe(
        job,
        [
            a_pod().of(STRANGER, "worker", 0).build(),
            a_pod().named("train-worker-0").build(),
            a_service(STRANGER, "worker", 0),
            a_config_map(STRANGER),
        ],
    )
    assert (seen.slots[0].pod, [*filter(None, seen.children.values())], seen.config_map) == (None, [], None)


def test_an_owner_that_is_not_in_charge_does_not_count() -> None:
    job = a_job().build()
    beside = (OwnerReference("v1", "PaddleJob", "train", job.metadata.uid, None, None),)
    pod = Pod(metadata=ObjectMeta(name="train-worker-0", owner_references=beside))
    assert observe(job, [pod]).pods == ()


def test_only_the_config_map_of_the_jobs_own_name_is_its_environment() -> None:
    job = a_job().build()
    other = msgspec.structs.replace(a_config_map(job).metadata, name="train-more")
    assert observe(job, [ConfigMap(metadata=other)]).config_map is None
    assert observe(job, [ConfigMap(metadata=other), a_config_map(job)]).config_map == a_config_map(job)


def test_a_pod_beyond_the_places_is_seen_but_fills_none() -> None:
    job = a_job().build()
    surplus = a_pod().of(job, "worker", 7).build()
    seen = observe(job, [surplus])
    assert seen.pods == (surplus,)
    assert [slot.pod for slot in seen.slots] == [None]


def refused(verb: Verb, kind: str = "Pod", name: str = "train-worker-0") -> Refusal:
    return replace(a_refusal(kind, name), verb=verb)


def held(job: Job) -> Job:
    return replace(job, metadata=replace(job.metadata, finalizers=(FINALIZER_OF_0_3,)))


POD = a_pod().of(a_job().build(), "worker", 0)
MATTERS: dict[str, tuple[Refusal, Job, list[Child], bool]] = {
    "a pod to create, not there": (refused("create"), a_job().build(), [], True),
    "a pod to create, there by now": (refused("create"), a_job().build(), [POD.build()], False),
    "a pod to delete, there": (refused("delete"), a_job().build(), [POD.build()], True),
    "a pod to delete, going by now": (refused("delete"), a_job().build(), [POD.deleting().build()], False),
    "a pod to delete, gone by now": (refused("delete"), a_job().build(), [], False),
    "a pod to touch, starting": (refused("patch"), a_job().build(), [POD.placed().build()], True),
    "a pod to touch, running by now": (refused("patch"), a_job().build(), [POD.running().build()], False),
    "a pod to touch, going by now": (refused("patch"), a_job().build(), [POD.placed().deleting().build()], False),
    "a pod to touch, gone by now": (refused("patch"), a_job().build(), [], False),
    "a ConfigMap of an earlier attempt": (
        refused("update", "ConfigMap", "train"),
        a_job().with_status(attempt=1).build(),
        [a_config_map(a_job().build())],
        True,
    ),
    "a ConfigMap of this attempt by now": (
        refused("update", "ConfigMap", "train"),
        a_job().build(),
        [a_config_map(a_job().build())],
        False,
    ),
    "ports to reserve": (refused("patch", "PaddleJob", "train"), a_job().by("Host").build(), [], True),
    "ports that are reserved by now": (
        refused("patch", "PaddleJob", "train"),
        a_job().by("Host").with_ports(20000).build(),
        [],
        False,
    ),
    "a finalizer to remove": (refused("patch", "PaddleJob", "train"), held(a_job().build()), [], True),
    "a finalizer that is gone by now": (refused("patch", "PaddleJob", "train"), a_job().build(), [], False),
    "ports that a job will not need, for its pods run on as they are": (
        refused("patch", "PaddleJob", "train"),
        a_job().by("Host").with_status(adopted=True).build(),
        [],
        False,
    ),
    "a job to delete": (refused("delete", "PaddleJob", "train"), a_job().with_ports(20000).build(), [], True),
}


@pytest.mark.parametrize("case", MATTERS)
def test_a_refusal_matters_as_long_as_what_was_refused_is_to_be_done(case: str) -> None:
    refusal, job, children, expected = MATTERS[case]
    assert bool(observe(job, children, [refusal]).refusals) == expected


STATES: dict[str, tuple[PodBuilder, str, bool]] = {
    "just made": (a_pod(), "pending", False),
    "placed": (a_pod().placed(), "starting", False),
    "running": (a_pod().running(), "running", False),
    "succeeded": (a_pod().succeeded(), "succeeded", True),
    "failed": (a_pod().failed(), "failed", True),
    "on a lost node": (a_pod().running().in_phase("Unknown"), "unknown", False),
    "in a phase that is not known": (a_pod().in_phase("Dreaming"), "unknown", False),
}


@pytest.mark.parametrize(("pod", "state", "finished"), STATES.values(), ids=STATES.keys())
def test_a_pod_that_is(pod: PodBuilder, state: str, finished: bool) -> None:
    assert (pod.build().state, pod.build().finished, pod.build().deleting) == (state, finished, False)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_half_made_objects_are_read_without_harm(kind: Kind[Any]) -> None:
    made = msgspec.json.decode(b'{"metadata":{},"spec":{"unknown":1},"more":[]}', type=kind.type)
    assert made == kind.type()


def test_a_pod_is_read_as_kubernetes_writes_it() -> None:
    raw = b"""{"metadata": {"name": "p", "deletionTimestamp": "2026-01-01T00:00:00Z"},
      "spec": {"nodeName": "node-1"},
      "status": {"phase": "Pending", "podIP": "10.0.0.1",
        "initContainerStatuses": [{"name": "i", "state": {"terminated": {"exitCode": 2, "finishedAt": "t"}}}],
        "containerStatuses": [{"name": "c", "restartCount": 3, "state": {"waiting": {"reason": "R"}}}]}}"""
    pod = msgspec.json.decode(raw, type=Pod)
    assert (pod.state, pod.deleting, pod.status.pod_ip) == ("starting", True, "10.0.0.1")
    assert [one.name for one in pod.containers] == ["i", "c"]
    ended, waiting = (one.state for one in pod.containers)
    assert ended.terminated is not None
    assert waiting.waiting is not None
    assert (ended.terminated.exit_code, waiting.waiting.reason) == (2, "R")
