"""What a pod has come to: judged by its training container, and by when it was taken away."""

from __future__ import annotations

import pytest

from paddlejob.api.names import ANNOTATION_CONTAINER
from paddlejob.core.children import ContainerState, PodState, Running, Terminated, Waiting
from tests.builders import EARLIER, NOW_TEXT, PodBuilder, a_pod

LATER = "2026-05-04T12:00:30Z"
RUNS = ContainerState(running=Running(NOW_TEXT))
CRASHED = ContainerState(terminated=Terminated(1, "Error", finished_at=EARLIER))
QUIT = ContainerState(terminated=Terminated(0, "Completed", finished_at=EARLIER))
PULLING = ContainerState(waiting=Waiting("ImagePullBackOff", "denied"))

PAIR = a_pod().having("paddle", "proxy")
AGAIN = a_pod().having("paddle", "proxy", restart_policy="OnFailure")
ALWAYS = a_pod().having("paddle", restart_policy="Always")
# A kubelet reports the proxy first, because it sorts by name.
UNNAMED = a_pod().having("trainer", "proxy")
INJECTED_FIRST = a_pod().having("proxy", "trainer")._meta(annotations={ANNOTATION_CONTAINER: "trainer"})
SIDECARS: dict[str, tuple[PodBuilder, PodState]] = {
    "training runs, the proxy runs": (PAIR.running().with_sidecar(RUNS), "running"),
    "training exited 0, the proxy runs": (
        PAIR.succeeded().with_sidecar(RUNS).in_phase("Running"),
        "succeeded",
    ),
    "training exited 1, the proxy runs": (PAIR.failed(1).with_sidecar(RUNS).in_phase("Running"), "failed"),
    "training exited 0, the proxy failed": (PAIR.succeeded().with_sidecar(CRASHED).in_phase("Failed"), "succeeded"),
    "training exited 1, the proxy exited 0": (PAIR.failed(1).with_sidecar(QUIT), "failed"),
    "training runs, the proxy crashed": (PAIR.running().with_sidecar(CRASHED), "running"),
    "training runs, the proxy cannot be pulled": (
        PAIR.running().with_sidecar(PULLING).in_phase("Pending"),
        "running",
    ),
    "training exited 0, the proxy cannot be pulled": (
        PAIR.succeeded().with_sidecar(PULLING).in_phase("Pending"),
        "succeeded",
    ),
    "training exited 1, its kubelet will start it again": (
        AGAIN.failed(1).with_sidecar(RUNS).in_phase("Running"),
        "running",
    ),
    "training exited 1 alone, its kubelet will start it again": (AGAIN.failed(1).in_phase("Running"), "running"),
    "training exited 1, its kubelet gave up": (AGAIN.failed(1).with_sidecar(RUNS), "failed"),
    "training exited 0, its kubelet starts only what failed": (
        AGAIN.succeeded().with_sidecar(RUNS).in_phase("Running"),
        "succeeded",
    ),
    "training exited 0, its kubelet starts everything again": (ALWAYS.succeeded().in_phase("Running"), "running"),
    "the first of the spec trains, and exited 0": (
        UNNAMED._container(QUIT, "trainer").with_sidecar(RUNS).in_phase("Running"),
        "succeeded",
    ),
    "the first of the spec trains, and runs": (
        UNNAMED._container(RUNS, "trainer").with_sidecar(QUIT).in_phase("Running"),
        "running",
    ),
    "a proxy stands before it in the spec": (
        INJECTED_FIRST._container(QUIT, "trainer").with_sidecar(RUNS).in_phase("Running"),
        "succeeded",
    ),
    "evicted without a word of any container": (PAIR.evicted(), "failed"),
    "Succeeded without a word of any container": (a_pod().in_phase("Succeeded"), "succeeded"),
    "an init container failed": (PAIR.waiting("PodInitializing").with_init(CRASHED).in_phase("Failed"), "failed"),
    "a native sidecar crashed": (PAIR.running().with_init(CRASHED), "running"),
    "a native sidecar outlives the training": (PAIR.succeeded().with_init(RUNS).in_phase("Running"), "succeeded"),
    "its node does not answer": (PAIR.running().in_phase("Unknown"), "unknown"),
    "two containers, and no spec that says which trains": (
        a_pod()._container(QUIT, "one").with_sidecar(RUNS, "two").in_phase("Running"),
        "running",
    ),
}


@pytest.mark.parametrize(("pod", "state"), SIDECARS.values(), ids=SIDECARS.keys())
def test_by_its_training_container(pod: PodBuilder, state: PodState) -> None:
    assert pod.build().state == state


# Somebody asks at 12:00:00 to delete it within 30 s, unless said otherwise.
TAKEN: dict[str, tuple[PodBuilder, PodState]] = {
    "exited 0 before somebody deleted it": (a_pod().succeeded(EARLIER).deleting(LATER, 30), "succeeded"),
    "exited 0 in the second of the deletion": (a_pod().succeeded(NOW_TEXT).deleting(LATER, 30), "failed"),
    "exited 0 after somebody deleted it": (a_pod().succeeded(LATER).deleting(LATER, 30), "failed"),
    "exited 0, and was gone when it was deleted": (a_pod().succeeded(NOW_TEXT).deleting(NOW_TEXT, 0), "succeeded"),
    "exited 0 after it was deleted at once": (a_pod().succeeded(LATER).deleting(NOW_TEXT, 0), "failed"),
    "nobody knows when it exited 0, and it was gone": (
        a_pod().in_phase("Succeeded").deleting(NOW_TEXT, 0),
        "succeeded",
    ),
    "nobody knows when it exited 0, and it had time": (a_pod().in_phase("Succeeded").deleting(LATER, 30), "failed"),
    "its exit is told in odd words": (a_pod().succeeded("soon").deleting(LATER, 30), "failed"),
    "its deletion is told in odd words": (a_pod().succeeded(NOW_TEXT).deleting("soon", 30), "failed"),
    "the training ended, the proxy was deleted": (
        PAIR.succeeded(EARLIER).with_sidecar(RUNS).in_phase("Running").deleting(LATER, 30),
        "succeeded",
    ),
    "exited 0 before it was chosen": (a_pod().succeeded(EARLIER).targeted("EvictionByEvictionAPI"), "succeeded"),
    "exited 0 when it was chosen": (a_pod().succeeded(NOW_TEXT).targeted("EvictionByEvictionAPI"), "failed"),
    "exited 0 after it was chosen": (a_pod().succeeded(LATER).targeted("PreemptionByScheduler"), "failed"),
    "nobody knows when it was chosen": (a_pod().succeeded(EARLIER).targeted("DeletionByPodGC", at=None), "failed"),
    "chosen, then deleted, and exited 0 between": (
        a_pod().succeeded("2026-05-04T12:00:05Z").targeted("DeletionByTaintManager").deleting(LATER, 0),
        "failed",
    ),
    "its kubelet evicted it, and it exited 0": (
        a_pod().succeeded(LATER).targeted("TerminationByKubelet")._status(phase="Failed", reason="Evicted"),
        "failed",
    ),
    "it had exited 0 before its kubelet evicted the proxy": (
        PAIR.succeeded(EARLIER).targeted("TerminationByKubelet")._status(phase="Failed", reason="Evicted"),
        "succeeded",
    ),
    "an old kubelet evicted it, and does not say when": (
        a_pod().succeeded(EARLIER)._status(phase="Failed", reason="Evicted"),
        "failed",
    ),
    "it passed its own deadline, and exited 0": (
        a_pod().succeeded()._status(phase="Failed", reason="DeadlineExceeded"),
        "failed",
    ),
    "it runs, though chosen": (a_pod().running().targeted("EvictionByEvictionAPI"), "running"),
}


@pytest.mark.parametrize(("pod", "state"), TAKEN.values(), ids=TAKEN.keys())
def test_exit_0_of_a_pod_that_was_being_taken_away_is_no_success(pod: PodBuilder, state: PodState) -> None:
    assert pod.build().state == state
