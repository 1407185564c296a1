"""What is there: children sorted by role and index, strangers left out, half-made objects read without harm.

Strangers are those that another job owns, that nobody owns, or that this job owns without being in charge.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from paddlejob.api import ObjectMeta, OwnerReference
from paddlejob.core import KINDS, ConfigMap, Pod, observe
from paddlejob.core.kind import Kind
from tests.builders import NOW, PodBuilder, a_config_map, a_job, a_pod, a_ps_job, a_refusal, a_service, pods_of

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


def test_only_fresh_refusals_hold_back() -> None:
    fresh, stale = a_refusal("Pod", "a", seconds=1), a_refusal("Pod", "b", seconds=0)
    assert observe(a_job().build(), refusals=[fresh, stale]).held_back(NOW) == {("Pod", "a")}


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
