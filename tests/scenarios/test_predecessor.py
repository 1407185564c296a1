"""Jobs that paddle-operator 0.3 left behind, under our CRD and our operator: what ended stays, what runs goes on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from paddlejob.api import crd
from paddlejob.api import names as n
from paddlejob.core.pods import PODS
from tests.cli.person import Person
from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import wait_until
from tests.etcd.server import EtcdServer
from tests.operator.fixtures import StartOperator
from tests.scenarios.desk import Desk, Json, a_job, a_role
from tests.scenarios.predecessor import CRD, Predecessor
from tests.scenarios.test_unreadable import takes_nonsense

PATH = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{crd.definition()['metadata']['name']}"
LONG = 60


@pytest.fixture
def predecessor(control_plane: ControlPlane, desk: Desk) -> Iterator[Predecessor]:
    """While it works, its CRD is there; `replace_crd` puts ours in its place."""
    (old,) = CRD["spec"]["versions"]
    control_plane.api.merge(PATH, {"spec": {"versions": [old]}})
    try:
        wait_until(lambda: takes_nonsense(desk, a_job("nonsense", cleanPodPolicy="Whatever")))
        yield Predecessor(desk)
    finally:
        replace_crd(desk)


def replace_crd(desk: Desk) -> None:
    (ours,) = crd.definition()["spec"]["versions"]
    desk.api.merge(PATH, {"spec": {"versions": [ours]}})
    wait_until(lambda: not takes_nonsense(desk, a_job("nonsense", cleanPodPolicy="Whatever")))


def uids(desk: Desk) -> dict[str, str]:
    return {name: pod["metadata"]["uid"] for name, pod in desk.pods().items()}


def told_of(desk: Desk, name: str, reason: str) -> str:
    def note() -> str:
        found = [str(one["note"]) for one in desk.events(name) if one["reason"] == reason]
        return found[0]

    return wait_until(note)


RUNNING: dict[str, Json] = {
    "a collective job": {},
    "a PS job": {"ps": a_role(1)},
    "a PS job without gloo": {"ps": a_role(1), "withGloo": 0},
    "a job by the names of Services": {"intranet": "Service"},
    "a job on the hosts' network": {"intranet": "Host"},
    "an elastic job": {"elastic": 1},
    "a job with a SampleSet": {"sampleSetRef": {"name": "criteo", "mountPath": "/data"}},
}


@pytest.mark.parametrize("spec", RUNNING.values(), ids=RUNNING)
def test_what_it_was_running_runs_on_and_completes(
    desk: Desk, predecessor: Predecessor, start_operator: StartOperator, spec: Json
) -> None:
    predecessor.runs("old", **spec)
    pods = uids(desk)
    replace_crd(desk)
    start_operator(f"--namespace={desk.namespace}")
    status = desk.until("old", lambda one: one.get("adopted"), LONG)
    assert (status["phase"], status["worker"]["ready"]) == ("Running", "2/2")
    assert (status["startTime"], "refs" in status["worker"]) == ("2026-05-04T11:00:00Z", False)
    assert "made by another operator, so left running" in told_of(desk, "old", "Adopted")
    desk.finish_workers("old")
    status = desk.in_phase("old", "Completed", LONG)
    assert (status.get("disruptions", 0), status.get("restarts", 0), status.get("attempt", 0)) == (0, 0, 0)
    assert {name: uid for name, uid in uids(desk).items() if "worker" in name}.items() <= pods.items()
    wait_until(lambda: not [name for name in desk.pods() if "-ps-" in name])  # stopped, as the policy asks


@pytest.mark.parametrize("spec", [{}, {"ps": a_role(1), "withGloo": 0}], ids=["collective", "PS without gloo"])
def test_a_pod_that_it_made_and_that_is_lost_starts_the_job_over_with_pods_of_ours(
    desk: Desk, predecessor: Predecessor, start_operator: StartOperator, spec: Json
) -> None:
    predecessor.runs("old", **spec)
    old = uids(desk)
    replace_crd(desk)
    start_operator(f"--namespace={desk.namespace}")
    desk.until("old", lambda one: one.get("adopted"), LONG)
    desk.delete_pod("old-worker-0")
    status = desk.until("old", lambda one: one["phase"] == "Running" and one.get("disruptions"), LONG)
    assert (status["attempt"], "adopted" in status) == (1, False)
    assert not set(uids(desk).values()) & set(old.values())
    addresses = [desk.pod(f"old-worker-{index}")["status"]["podIP"] for index in range(2)]
    assert desk.config("old")["PADDLE_TRAINERS"] == ",".join(addresses)  # in its ConfigMap, not its words
    desk.finish_workers("old")
    desk.in_phase("old", "Completed", LONG)


def test_its_elastic_job_is_elastic_of_ours_after_a_restart(
    desk: Desk, predecessor: Predecessor, start_operator: StartOperator, etcd: EtcdServer
) -> None:
    predecessor.runs("old", elastic=1)
    replace_crd(desk)
    start_operator(f"--namespace={desk.namespace}", f"--etcd-server={etcd.address}")
    desk.until("old", lambda one: one.get("adopted"), LONG)
    desk.delete_pod("old-worker-0")
    desk.until("old", lambda one: one["phase"] == "Running" and one.get("disruptions"), LONG)
    assert desk.config("old")["PADDLE_NNODES"] == "2:2"


def test_pods_that_had_not_begun_are_made_again(
    desk: Desk, predecessor: Predecessor, start_operator: StartOperator
) -> None:
    """They would wait for it without end."""
    predecessor.runs("old", phase="Starting", ps=a_role(1), worker=a_role(2, starts="never"))
    old = uids(desk)
    replace_crd(desk)
    start_operator(f"--namespace={desk.namespace}")
    assert "deleted and made again" in told_of(desk, "old", "UnknownPod")
    wait_until(lambda: len(desk.pods()) == 3 and not set(uids(desk).values()) & set(old.values()), LONG)
    assert not desk.status("old").get("adopted")


def test_a_container_that_is_not_called_paddle_decides_about_its_pod(
    desk: Desk, predecessor: Predecessor, start_operator: StartOperator
) -> None:
    """It gave the environment to the first container, whatever the others are called."""
    worker = a_role(1)
    worker["template"]["spec"]["containers"] = [{"name": "main", "image": "a"}, {"name": "paddle", "image": "b"}]
    predecessor.runs("old", worker=worker)
    replace_crd(desk)
    start_operator(f"--namespace={desk.namespace}")
    desk.until("old", lambda one: one.get("adopted"), LONG)
    assert desk.pod("old-worker-0")["metadata"]["annotations"][n.ANNOTATION_CONTAINER] == "main"


def test_what_had_ended_stays_as_it_is_and_every_job_can_be_deleted(
    desk: Desk, predecessor: Predecessor, start_operator: StartOperator, person: Person
) -> None:
    for phase in ("Completed", "Succeed", "Failed", "Aborted"):
        predecessor.runs(phase.lower())
        predecessor.says(phase.lower(), phase=phase, completionTime="2026-05-04T12:00:00Z")
    predecessor.runs("running")
    pods = uids(desk)
    replace_crd(desk)
    start_operator(f"--namespace={desk.namespace}")
    wait_until(lambda: desk.status("running").get("adopted"), LONG)
    rows = {line.split()[0]: line.split()[1] for line in person.pipes("list").fine().out.splitlines()[1:]}
    ended = {"completed": "Completed", "succeed": "Completed", "failed": "Failed", "aborted": "Failed"}
    assert rows == {**ended, "running": "Running"}
    assert uids(desk) == pods
    assert desk.status("succeed")["phase"] == "Succeed"
    wait_until(lambda: not any(desk.job(name)["metadata"].get("finalizers") for name in rows))
    for name in rows:
        desk.delete(name)
    wait_until(lambda: all(desk.gone(name) for name in rows), LONG)
    wait_until(lambda: not desk.of_kind(PODS), LONG)


def test_a_job_whose_deletion_was_asked_for_before_we_came_goes(
    desk: Desk, predecessor: Predecessor, start_operator: StartOperator
) -> None:
    predecessor.runs("old")
    desk.delete("old")
    replace_crd(desk)
    assert not desk.gone("old")
    start_operator(f"--namespace={desk.namespace}")
    wait_until(lambda: desk.gone("old"), LONG)


def test_no_policy_that_it_took_is_dropped_silently(
    desk: Desk, predecessor: Predecessor, start_operator: StartOperator
) -> None:
    """OnFailed means OnFailure. Of a word that means nothing the job itself tells; its pods run on."""
    predecessor.runs("known", worker=a_role(1), cleanPodPolicy="OnFailed")
    predecessor.runs("unknown", worker=a_role(1), cleanPodPolicy="Whatever")
    replace_crd(desk)
    start_operator(f"--namespace={desk.namespace}")
    desk.until("known", lambda one: one.get("adopted"), LONG)
    note = told_of(desk, "unknown", "Unreadable")
    assert "spec.cleanPodPolicy" in note
    assert desk.pod("unknown-worker-0")["status"]["phase"] == "Running"
    desk.finish_workers("known", "failed")
    desk.in_phase("known", "Failed", LONG)
    wait_until(lambda: "known-worker-0" not in desk.pods())
