"""Which pods were ended by something outside their program."""

from __future__ import annotations

import pytest

from paddlejob.core.children import ContainerState, Terminated
from paddlejob.core.disruption import is_disrupted
from tests.builders import PodBuilder, a_pod

OWN_LIMITS = (
    "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ",
    'Container paddle exceeded its local ephemeral storage limit "1Gi". ',
    'Usage of EmptyDir volume "scratch" exceeds the limit "1Gi". ',
)
PRESSURE = (
    "The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. "
    "Container paddle was using 1250Mi, request is 512Mi, has larger consumption of memory. ",
    "The node was low on resource: memory. Container paddle was using 1250Mi, which exceeds its request of 512Mi. ",
    "The node was low on resource: ephemeral-storage. Container a was using 120Ki, which exceeds its request of 0. ",
    "The node had condition: [MemoryPressure]. ",
    "Pod was rejected: The node had condition: [DiskPressure]. ",
)
NOT_ADMITTED = (
    *("InvalidNodeInfo", "UnexpectedAdmissionError", "UnknownReason", "UnexpectedPredicateFailureType"),
    *("OutOfcpu", "OutOfmemory", "OutOfephemeral-storage", "OutOfpods", "OutOfnvidia.com/gpu"),
    *("NodeAffinity", "NodeName", "NodePorts", "TaintToleration", "TopologyAffinityError"),
    *("MatchNodeSelector", "HostName", "PodFitsHostPorts", "PodToleratesNodeTaints"),
    *("NodeShutdown", "VolumeAttachmentLimitExceeded"),
)
NEVER_ADMITTED = (
    *("AppArmor", "SysctlForbidden", "PodOSNotSupported", "PodOSSelectorNodeLabelDoesNotMatch", "SMTAlignmentError"),
    *("PodLevelResourcesNotSupported", "SupplementalGroupsPolicyNotSupported", "InitContainerRestartPolicyForbidden"),
)
UNKNOWN = ContainerState(terminated=Terminated(255, "Unknown", finished_at="1970-01-01T00:00:00Z"))
PODS: dict[str, tuple[PodBuilder, bool]] = {
    "a program that failed": (a_pod().failed(1), False),
    "a program that ran out of memory": (a_pod().failed(137, reason="OOMKilled"), False),
    "a program that exited 255": (a_pod().failed(255), False),
    "a pod that runs": (a_pod().running(), False),
    "evicted by a node in need": (a_pod().evicted(), True),
    **{f"evicted: {words}": (a_pod().evicted(words), True) for words in PRESSURE},
    **{f"evicted by its own doing: {words}": (a_pod().evicted(words), False) for words in OWN_LIMITS},
    "evicted by Kubernetes' word": (a_pod().evicted(OWN_LIMITS[0]).targeted("TerminationByKubelet"), True),
    "preempted": (a_pod().failed(143).targeted("PreemptionByScheduler"), True),
    "on a node that is gone": (a_pod().failed(137).targeted("DeletionByPodGC"), True),
    "deleted by somebody": (a_pod().failed(143).deleting(), True),
    **{
        f"ended by its kubelet: {reason}": (a_pod().failed(143)._status(reason=reason), True)
        for reason in ("Terminated", "Shutdown", "NodeShutdown", "Preempting", "NodeLost")
    },
    **{f"not admitted: {one}": (a_pod()._status(phase="Failed", reason=one), True) for one in NOT_ADMITTED},
    **{f"asks for too much: {one}": (a_pod()._status(phase="Failed", reason=one), False) for one in NEVER_ADMITTED},
    "its own deadline": (a_pod().failed(143)._status(reason="DeadlineExceeded"), False),
    "its node was started again": (a_pod().failed(255, reason="Unknown", at="1970-01-01T00:00:00Z"), True),
    "its kubelet lost it": (a_pod().failed(137, reason="ContainerStatusUnknown", at=None), True),
    "lost after it filled its disk": (
        a_pod().failed(137, reason="ContainerStatusUnknown")._status(reason="Evicted", message=OWN_LIMITS[1]),
        False,
    ),
    "its node was started again while it was prepared": (
        a_pod()._status(phase="Failed").waiting("PodInitializing").with_init(UNKNOWN),
        True,
    ),
    "only its sidecar was lost": (a_pod().having("paddle", "proxy").failed(1).with_sidecar(UNKNOWN), False),
}


@pytest.mark.parametrize(("pod", "disrupted"), PODS.values(), ids=PODS.keys())
def test_disrupted(pod: PodBuilder, disrupted: bool) -> None:
    assert is_disrupted(pod.build()) is disrupted
