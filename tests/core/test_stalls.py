"""Why a job is stalled, in words for a person: named worlds and the one sentence each of them gets.

A job that waits in good order is not stalled: those cases stand here too.
"""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from paddlejob.core import Etcd, Observed, Pod, Refusal, observe, plan
from paddlejob.core.children import ContainerState, PodCondition, PodStatus, Terminated, Waiting
from paddlejob.core.environment import environment_key
from paddlejob.core.observe import Ports, Slot
from paddlejob.core.rendezvous import meeting_stall
from paddlejob.core.stalls import Stall, spec_stall, stall
from tests.builders import (
    NOW,
    JobBuilder,
    PodBuilder,
    a_config_map,
    a_job,
    a_pod,
    a_ps_job,
    a_refusal,
    a_template,
    an_elastic_job,
)

JOB = a_job().with_workers(2)
NOT_FOUND = 'configmap "train" not found'
OUR_KEY = environment_key(JOB.build())


def why(*pods: PodBuilder, config_map: bool = True, refusals: tuple[Refusal, ...] = ()) -> Stall | None:
    """Why the job of two workers stalls when these pods are there."""
    job = JOB.build()
    there = [one.of(job, "worker", index).build() for index, one in enumerate(pods)]
    return stall(job, observe(job, [*there, *([a_config_map(job)] if config_map else [])], refusals))


CASES: dict[str, tuple[Stall | None, Stall | None]] = {
    "nothing there yet": (why(), None),
    "all runs": (why(a_pod().running(), a_pod().running()), None),
    "a pod finds no node": (
        why(a_pod().running(), a_pod().unschedulable("0/3 nodes are available")),
        Stall("Unschedulable", "1 of 2 pods: train-worker-1: 0/3 nodes are available"),
    ),
    "both find none": (
        why(a_pod().unschedulable("no nodes"), a_pod().unschedulable("no nodes")),
        Stall("Unschedulable", "2 of 2 pods: train-worker-0: no nodes"),
    ),
    "the scheduler gives no reason": (
        why(a_pod().unschedulable("?", reason="")),
        Stall("Unschedulable", "1 of 2 pods: train-worker-0: ?"),
    ),
    "a pod is gated": (
        why(a_pod().unschedulable("waiting for admission", reason="SchedulingGated")),
        Stall("SchedulingGated", "1 of 2 pods: train-worker-0: waiting for admission"),
    ),
    "two pods wait for two things": (
        why(a_pod().unschedulable("no nodes"), a_pod().waiting("ErrImagePull", "denied")),
        Stall("Unschedulable", "1 of 2 pods: train-worker-0: no nodes"),
    ),
    "an image is not there": (
        why(a_pod().waiting("ErrImagePull", "not found")),
        Stall("ImagePull", "1 of 2 pods: train-worker-0: container paddle: not found"),
    ),
    "one word for all ways of having no image": (
        why(a_pod().waiting("ImagePullBackOff"), a_pod().waiting("ErrImagePull")),
        Stall("ImagePull", "2 of 2 pods: train-worker-0: container paddle: ImagePullBackOff"),
    ),
    "a secret is missing": (
        why(a_pod().waiting("CreateContainerConfigError", 'secret "token" not found')),
        Stall("CreateContainerConfigError", '1 of 2 pods: train-worker-0: container paddle: secret "token" not found'),
    ),
    "a program crashes again and again": (
        why(a_pod().waiting("CrashLoopBackOff")),
        Stall("CrashLoopBackOff", "1 of 2 pods: train-worker-0: container paddle: CrashLoopBackOff"),
    ),
    "an init container hangs on its image": (
        why(a_pod().with_init(ContainerState(waiting=Waiting("ErrImagePull", "denied")), "fetch")),
        Stall("ImagePull", "1 of 2 pods: train-worker-0: container fetch: denied"),
    ),
    "a container is just being made": (why(a_pod().waiting("ContainerCreating")), None),
    "the init container is done, the next begins": (
        why(a_pod().with_init(ContainerState(terminated=Terminated())).waiting("PodInitializing")),
        None,
    ),
    "a pod waits for the ConfigMap we have not written": (
        why(a_pod().waiting("CreateContainerConfigError", NOT_FOUND), config_map=False),
        None,
    ),
    "a pod has not noticed the ConfigMap yet": (why(a_pod().waiting("CreateContainerConfigError", NOT_FOUND)), None),
    "a pod has not noticed that the ConfigMap is that of its own attempt now": (
        why(a_pod().waiting("CreateContainerConfigError", f"couldn't find key {OUR_KEY} in ConfigMap ns/train")),
        None,
    ),
    "a key of the user's own is missing in the ConfigMap": (
        why(a_pod().waiting("CreateContainerConfigError", "couldn't find key RATE in ConfigMap ns/train")),
        Stall(
            "CreateContainerConfigError",
            "1 of 2 pods: train-worker-0: container paddle: couldn't find key RATE in ConfigMap ns/train",
        ),
    ),
    "the API server refused": (
        why(refusals=(a_refusal("Pod", "train-worker-1"),)),
        Stall("QuotaExceeded", "Pod train-worker-1: QuotaExceeded says the API server"),
    ),
    "the API server refused three": (
        why(refusals=tuple(a_refusal("Pod", f"train-worker-{index}", "Forbidden") for index in range(3))),
        Stall("Forbidden", "Pod train-worker-0: Forbidden says the API server (and 2 more like it)"),
    ),
    "a refusal counts before what pods say": (
        why(a_pod().unschedulable("no nodes"), refusals=(a_refusal("Pod", "train-worker-1", "NameTaken"),)),
        Stall("NameTaken", "Pod train-worker-1: NameTaken says the API server"),
    ),
    "the API server failed for a moment": (why(refusals=(a_refusal("Pod", "train-worker-1", "ServerError"),)), None),
    "the API server fails again and again": (
        why(refusals=(replace(a_refusal("Pod", "train-worker-1", "ServerError"), times=3),)),
        Stall("ServerError", "Pod train-worker-1: ServerError says the API server"),
    ),
}


@pytest.mark.parametrize(("found", "expected"), CASES.values(), ids=CASES.keys())
def test_when(found: Stall | None, expected: Stall | None) -> None:
    assert found == expected


def test_a_placed_pod_with_other_conditions_does_not_stall() -> None:
    fine = PodCondition(type="PodScheduled", status="True")
    unready = PodCondition(type="Ready", status="False", reason="ContainersNotReady")
    pod = Pod(status=PodStatus(conditions=(fine, unready)))
    job = JOB.build()
    assert stall(job, Observed(slots=(Slot("worker", 0, "train-worker-0", pod),))) is None


BY_SPEC: dict[str, tuple[JobBuilder, str]] = {
    "heter workers without servers": (a_job().with_heter(1), "NoServers"),
    "heter workers with zero servers": (a_job().with_heter(1).with_servers(0), "NoServers"),
    "elastic with servers": (an_elastic_job().with_servers(1), "NotSupported"),
    "elastic by name": (an_elastic_job().by_service(), "NotSupported"),
    "elastic on the host's network": (an_elastic_job().by("Host"), "NotSupported"),
    "no worker": (a_job().without_workers(), "NoWorkers"),
    "zero workers": (a_job().with_servers(2).with_workers(0), "NoWorkers"),
    "pods that never end": (a_job().template(a_template({"restartPolicy": "Always"})), "NeverEnds"),
    "servers that never end": (a_job().with_servers(1, a_template({"restartPolicy": "Always"})), "NeverEnds"),
    "more workers than any machine can list": (a_job().with_workers(2**31 - 1), "TooManyPods"),
    "more pods than a job may have": (a_ps_job(servers=5_000, workers=5_001), "TooManyPods"),
    "more workers to come than a job may have": (an_elastic_job(most=10_001), "TooManyPods"),
}


@pytest.mark.parametrize(("job", "reason"), BY_SPEC.values(), ids=BY_SPEC.keys())
def test_nothing_is_made_for_a_job_that_cannot_run_right(job: JobBuilder, reason: str) -> None:
    built = job.build()
    made = plan(built, observe(built, refusals=[a_refusal("Pod", "x")]), NOW)
    assert (made.status.reason, made.actions, made.questions, made.ports) == (reason, (), (), 0)


@pytest.mark.parametrize("fields", [{}, {"elastic": 0}, {"suspend": False}, {"intranet": "Service"}])
def test_a_job_that_can_run(fields: dict[str, Any]) -> None:
    assert spec_stall(a_job().asking(**fields).build()) is None
    assert spec_stall(an_elastic_job().build()) is None


@pytest.mark.parametrize(
    "job", [a_job().by("Host"), a_job().by("HostNetwork"), a_ps_job().with_heter(2), a_job().with_heter(0)]
)
def test_a_job_that_can_run_too(job: JobBuilder) -> None:
    assert spec_stall(job.build()) is None


def test_what_is_not_supported_is_named() -> None:
    found = meeting_stall(an_elastic_job().by("Host").build(), Etcd())
    text = "this release cannot run elastic with intranet: Host yet: remove it, or upgrade"
    assert found == Stall("NotSupported", text)


def test_no_free_ports_are_told_before_what_pods_say() -> None:
    job = a_job().with_workers(2).by("Host").build()
    seen = observe(job, refusals=[a_refusal("Pod", "x")], ports=Ports(full="20000,20030"))
    assert stall(job, seen) == Stall(
        "NoPorts",
        "there are no 40 free ports in a row in the operator's --port-range 20000,20030:"
        " the job continues when another job ends, or with a wider range",
    )
    settled = a_job().with_workers(2).by("Host").with_ports(20000).build()
    assert stall(settled, observe(settled, ports=Ports(full="20000,20030"))) is None
