"""Jobs whose pods have a sidecar: an injected proxy never ends by itself, or ends as it likes."""

from __future__ import annotations

import pytest

from paddlejob.api import Job
from paddlejob.api.names import ANNOTATION_CONTAINER
from paddlejob.api.spec import CleanPodPolicy
from paddlejob.core import Plan, observe, plan
from paddlejob.core.children import ContainerState, Running, Terminated, Waiting
from paddlejob.core.pods import pod
from tests.builders import (
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
from tests.core.elastic_looks import answered, deleted, look, running

RUNS = ContainerState(running=Running(NOW_TEXT))
CRASHED = ContainerState(terminated=Terminated(2, "Error", "the proxy fell", finished_at="2026-05-04T11:00:00Z"))
JOB = a_job().with_workers(2).in_phase("Running")


def beside(pod: PodBuilder, phase: str = "Running", proxy: ContainerState = RUNS) -> PodBuilder:
    """The same pod with a proxy in it."""
    return pod.having("paddle", "proxy").with_sidecar(proxy).in_phase(phase)


def look_at(job: Job, *pods: PodBuilder) -> Plan:
    there = [one.of(job, "worker", index).build() for index, one in enumerate(pods)]
    return plan(job, observe(job, [*there, a_config_map(job)]), NOW)


def test_the_job_completes_while_proxies_run() -> None:
    job = JOB.build()
    assert look_at(job, beside(a_pod().succeeded()), beside(a_pod().running())).status.phase == "Running"
    assert look_at(job, beside(a_pod().succeeded()), beside(a_pod().succeeded())).status.phase == "Completed"


def test_a_proxy_that_failed_spoils_no_success() -> None:
    done = beside(a_pod().succeeded(), "Failed", CRASHED)
    assert look_at(JOB.build(), done, done).status.phase == "Completed"


def test_a_proxy_that_crashes_before_the_training_ends_means_nothing() -> None:
    made = look_at(JOB.build(), beside(a_pod().running(), proxy=CRASHED), a_pod().running())
    assert (made.status.phase, made.actions) == ("Running", ())


@pytest.mark.parametrize(("limit", "phase"), [(0, "Failed"), (1, "Restarting")])
def test_a_training_that_failed_fails_while_its_proxy_runs(limit: int, phase: str) -> None:
    job = JOB.asking(backoff_limit=limit).build()
    status = look_at(job, beside(a_pod().failed(3, message="no data")), beside(a_pod().running())).status
    assert status.phase == phase
    assert status.failure is not None
    assert (status.failure.exit_code, status.failure.message) == (3, "no data")


def test_the_training_is_blamed_and_not_a_proxy_that_fell_before_it() -> None:
    fell = beside(a_pod().failed(3, message="no data"), "Failed", CRASHED)
    status = look_at(JOB.build(), fell, a_pod().running()).status
    assert status.failure is not None
    assert (status.failure.exit_code, status.failure.message) == (3, "no data")


def test_a_worker_that_its_kubelet_starts_again_has_not_failed() -> None:
    waits = a_pod().having("paddle", "proxy", restart_policy="OnFailure").failed(3).with_sidecar(RUNS)
    assert look_at(JOB.build(), waits.in_phase("Running"), a_pod().running()).status.phase == "Running"


KEPT: dict[CleanPodPolicy, bool] = {
    "Always": False,
    "OnCompletion": False,
    "OnFailure": False,
    "Running": False,
    "Never": True,
}


@pytest.mark.parametrize(("policy", "kept"), KEPT.items())
def test_a_pod_whose_proxy_still_runs_is_stopped_with_the_job(policy: CleanPodPolicy, kept: bool) -> None:
    job = JOB.in_phase("Completed").cleaning(policy).build()
    made = look_at(job, beside(a_pod().succeeded()), beside(a_pod().succeeded()))
    assert deleted(made) == ([] if kept else ["train-worker-0", "train-worker-1"])


def test_a_server_with_a_proxy_makes_no_difference() -> None:
    job = a_ps_job().in_phase("Running").build()
    pods = {name: beside(one.running()) for name, one in pods_of(job).items()}
    pods |= {name: beside(one.succeeded()) for name, one in pods_of(job).items() if "worker" in name}
    made = plan(job, observe(job, [*(one.build() for one in pods.values()), a_config_map(job)]), NOW)
    assert made.status.phase == "Completed"


def test_an_elastic_worker_is_judged_in_the_same_way() -> None:
    left = beside(a_pod().with_address("10.0.0.1").succeeded())
    assert look(running(), left, a_pod().running(), heard=answered("running", 0)).status.replacing
    made = look(running(), left, left, heard=answered("completed", 0, 1))
    assert made.status.phase == "Completed"


def test_what_a_proxy_waits_for_stalls_no_training_that_runs() -> None:
    pulling = ContainerState(waiting=Waiting("ImagePullBackOff", "denied"))
    trains = beside(a_pod().running(), "Pending", pulling)
    made = look_at(JOB.build(), trains, a_pod().running())
    assert (made.status.phase, made.status.reason) == ("Running", "")
    waits = beside(a_pod().waiting("ContainerCreating"), "Pending", pulling)
    assert look_at(JOB.in_phase("Pending").build(), waits, a_pod().running()).status.reason == "ImagePull"


def named(*names: str) -> JobBuilder:
    return a_job().template({"spec": {"containers": [{"name": name} for name in names]}})


@pytest.mark.parametrize(
    ("job", "told"),
    [(named("trainer", "side"), "trainer"), (named("side", "paddle"), None), (named("paddle"), None), (named(), None)],
)
def test_a_pod_says_which_container_trains_where_its_name_does_not(job: JobBuilder, told: str | None) -> None:
    made = job.build()
    annotations = pod(made, observe(made).slots[0])["metadata"]["annotations"]
    assert annotations.get(ANNOTATION_CONTAINER) == told
