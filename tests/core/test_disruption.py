"""Which pods were ended by something outside their program."""

from __future__ import annotations

import pytest

from paddlejob.core.disruption import is_disrupted
from tests.builders import PodBuilder, a_pod

DISK_FULL = "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi."
PODS: dict[str, tuple[PodBuilder, bool]] = {
    "a program that failed": (a_pod().failed(1), False),
    "a program that ran out of memory": (a_pod().failed(137, reason="OOMKilled"), False),
    "a pod that runs": (a_pod().running(), False),
    "evicted by a node in need": (a_pod().evicted(), True),
    "evicted for filling its own disk": (a_pod().evicted(DISK_FULL), False),
    "evicted by Kubernetes' word": (a_pod().evicted(DISK_FULL).targeted("TerminationByKubelet"), True),
    "preempted": (a_pod().failed(143).targeted("PreemptionByScheduler"), True),
    "on a node that is gone": (a_pod().failed(137).targeted("DeletionByPodGC"), True),
    "deleted by somebody": (a_pod().failed(143).deleting(), True),
    "on a node that shut down": (a_pod().failed(143)._status(reason="Terminated"), True),
    "not taken in by its kubelet": (a_pod()._status(phase="Failed", reason="OutOfcpu"), True),
    "without a device": (a_pod()._status(phase="Failed", reason="UnexpectedAdmissionError"), True),
}


@pytest.mark.parametrize(("pod", "disrupted"), PODS.values(), ids=PODS.keys())
def test_disrupted(pod: PodBuilder, disrupted: bool) -> None:
    assert is_disrupted(pod.build()) is disrupted
