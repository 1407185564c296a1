"""cleanPodPolicy: five policies by both ends by three modes, as one table, each row SPEC 5's own words.

The end is written first; only then is anything deleted.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from paddlejob.api import Job
from paddlejob.api.spec import CleanPodPolicy, Mode
from paddlejob.api.status import FinalPhase
from paddlejob.core import Delete, Observed, Plan, observe, plan
from paddlejob.core.children import ContainerState, Running, Terminated
from tests.builders import NOW, JobBuilder, PodBuilder, a_config_map, a_job, a_ps_job, a_service, pods_of, services_of

Change = Callable[[PodBuilder], PodBuilder]

ALL, REST, NOTHING = "pods and services", "what still runs", "nothing"
TABLE: dict[CleanPodPolicy, tuple[str, str]] = {
    # policy: (after Completed, after Failed)
    "Always": (ALL, ALL),
    "OnCompletion": (ALL, REST),
    "OnFailure": (REST, ALL),
    "Never": (NOTHING, NOTHING),
    "Running": (REST, REST),
}
MODES: dict[Mode, JobBuilder] = {
    "PS": a_ps_job().by_service(),
    "Collective": a_job().with_workers(2).by_service(),
    "Single": a_job().by_service(),
}
ROWS = [
    (mode, policy, end, extent)
    for mode in MODES
    for policy, extents in TABLE.items()
    for end, extent in zip(("Completed", "Failed"), extents, strict=True)
]


def ended(job: Job, end: FinalPhase) -> dict[str, PodBuilder]:
    """Completed: all workers succeeded. Failed: worker 0 failed. Everything else still runs."""
    pods = {name: one.running() for name, one in pods_of(job).items()}
    if end == "Failed":
        return {**pods, "train-worker-0": pods["train-worker-0"].failed(1)}
    return {name: one.succeeded() if "worker" in name else one for name, one in pods.items()}


def seen(job: Job, pods: dict[str, PodBuilder]) -> Observed:
    return observe(job, [*(one.build() for one in pods.values()), *services_of(job), a_config_map(job)])


def deleted(made: Plan) -> set[tuple[str, str]]:
    assert all(isinstance(one, Delete) for one in made.actions)
    return {(one.kind, one.name) for one in made.actions if isinstance(one, Delete)}


@pytest.mark.parametrize(("mode", "policy", "end", "extent"), ROWS, ids=[" ".join(row) for row in ROWS])
def test_after(mode: Mode, policy: CleanPodPolicy, end: FinalPhase, extent: str) -> None:
    job = MODES[mode].cleaning(policy).in_phase(end).build()
    pods = ended(job, end)
    unfinished = {("Pod", name) for name, one in pods.items() if not one.build().finished}
    everything = {(kind, name) for kind in ("Pod", "Service") for name in pods}
    expected = {ALL: everything, REST: unfinished, NOTHING: set()}[extent]
    made = plan(job, seen(job, pods), NOW)
    assert deleted(made) == expected
    assert made.status == job.status


@pytest.mark.parametrize("policy", TABLE)
@pytest.mark.parametrize("end", ["Completed", "Failed"])
def test_the_end_is_written_before_anything_is_deleted(policy: CleanPodPolicy, end: FinalPhase) -> None:
    job = a_ps_job().cleaning(policy).in_phase("Running").build()
    made = plan(job, seen(job, ended(job, end)), NOW)
    assert made.status.phase == end
    assert ([one.reason for one in made.events], made.actions) == ([end], ())


def test_what_still_runs_is_stopped_unless_the_user_says_otherwise() -> None:
    job = a_ps_job().in_phase("Completed").build()
    made = plan(job, seen(job, ended(job, "Completed")), NOW)
    assert deleted(made) == {("Pod", "train-ps-0"), ("Pod", "train-ps-1")}


def still_running(pod: PodBuilder) -> PodBuilder:
    """Its kubelet has not given it its last phase yet."""
    return pod.in_phase("Running")


ENDED, RUNNING = ContainerState(terminated=Terminated(exit_code=0)), ContainerState(running=Running())
LAGGING: dict[str, tuple[Change, bool]] = {
    # what became of its containers: whether it is stopped
    "all have ended": (lambda pod: pod.succeeded(), False),
    "all have failed": (lambda pod: pod.failed(1), False),
    "a sidecar has ended, too": (lambda pod: pod.succeeded().with_sidecar(ENDED), False),
    "a sidecar runs": (lambda pod: pod.succeeded().with_sidecar(RUNNING), True),
    "its kubelet ends a native sidecar": (lambda pod: pod.succeeded().with_init(RUNNING), False),
    "its kubelet starts it again": (lambda pod: pod.having("paddle", restart_policy="OnFailure").failed(1), True),
    "nothing is known of them": (lambda pod: pod.placed(), True),
}


@pytest.mark.parametrize(("became", "stopped"), LAGGING.values(), ids=LAGGING.keys())
def test_a_pod_stays_for_its_logs_if_its_containers_have_ended_before_its_phase_says_so(
    became: Change, stopped: bool
) -> None:
    job = a_job().in_phase("Completed").build()
    pod = still_running(became(pods_of(job)["train-worker-0"])).build()
    assert deleted(plan(job, observe(job, [pod]), NOW)) == ({("Pod", "train-worker-0")} if stopped else set())


def test_exactly_the_pod_that_was_seen_is_deleted() -> None:
    job = a_job().cleaning("Always").in_phase("Completed").build()
    pods = {"train-worker-0": pods_of(job)["train-worker-0"].succeeded()}
    made = plan(job, observe(job, [one.build() for one in pods.values()]), NOW)
    assert made.actions == (Delete("Pod", "train-worker-0", "uid-of-train-worker-0"),)


def test_what_is_going_away_already_is_left_to_go() -> None:
    job = a_job().by_service().cleaning("Always").in_phase("Completed").build()
    going = pods_of(job)["train-worker-0"].deleting().build()
    made = plan(job, observe(job, [going, a_service(job, "worker", 0, deleting=True)]), NOW)
    assert made.actions == ()


def test_a_pod_beyond_the_wanted_ones_is_cleaned_too() -> None:
    job = a_job().cleaning("Always").in_phase("Completed").build()
    surplus = pods_of(a_job().with_workers(3).build())["train-worker-2"].build()
    assert deleted(plan(job, observe(job, [surplus]), NOW)) == {("Pod", "train-worker-2")}


def test_a_clean_world_needs_no_cleaning() -> None:
    job = a_job().cleaning("Always").in_phase("Failed").build()
    assert plan(job, observe(job), NOW) == Plan(status=job.status)
