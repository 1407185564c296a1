"""`paddlejob logs` on the real API server: many pods at once, restarts and cut connections included.

What the pods print is told by a kubelet of the tests (tests/cli/kubelet.py).
"""

from __future__ import annotations

import pytest

from tests.cli.kubelet import Kubelet
from tests.cli.person import Person
from tests.cluster.waiting import wait_until
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import Desk, Json, a_job, a_role


def talking(replicas: int, **annotations: str) -> Json:
    role = a_role(replicas, **annotations)
    role["template"]["spec"]["nodeSelector"] = {"test.paddlejob/talks": "true"}
    return role


@pytest.fixture
def started(desk: Desk, kubelet: Kubelet, operator: OperatorProcess) -> str:
    """A job of a server and two workers that run, each with a few lines in its log."""
    assert operator.exit_code is None
    desk.submit(a_job("talk", ps=talking(1), worker=talking(2)))
    desk.in_phase("talk", "Running")
    for pod in ("talk-ps-0", "talk-worker-0", "talk-worker-1"):
        kubelet.says(f"{desk.namespace}/{pod}", f"I am {pod}", "", "step 1", "step 2")
    return "talk"


def test_all_workers_are_told_with_their_names(person: Person, started: str) -> None:
    said = person.pipes("logs", started).fine()
    assert said.out.splitlines() == [
        f"[talk-worker-{index}] {line}".rstrip() + ("" if line else " ")
        for index in (0, 1)
        for line in ("I am talk-worker-" + str(index), "", "step 1", "step 2")
    ]
    assert not said.coloured
    assert person.types("logs", started).coloured


def test_what_pods_print_for_a_terminal_is_colours_at_most(
    person: Person, desk: Desk, kubelet: Kubelet, started: str
) -> None:
    kubelet.says(f"{desk.namespace}/talk-worker-0", "\x1b[2J\x1b[1;35mpink\x1b[0m\x1b]0;title\x07", "10%\r20%\r")
    asked = ("logs", started, "--index=0", "--tail=2")
    assert person.pipes(*asked).fine().out == "[talk-worker-0] pink\n[talk-worker-0] 20%\n"
    shown = person.types(*asked).fine()
    assert "\x1b[1;35mpink" in shown.out
    assert not any(one in shown.out for one in ("\x1b[2J", "\x1b]0;", "\x07"))


CHOSEN = {
    "one role": (("--role=ps",), {"talk-ps-0"}),
    "one pod": (("--index=1",), {"talk-worker-1"}),
    "all": (("--role=all",), {"talk-ps-0", "talk-worker-0", "talk-worker-1"}),
}


@pytest.mark.parametrize("case", CHOSEN)
def test_roles_and_pods_can_be_chosen(person: Person, started: str, case: str) -> None:
    flags, pods = CHOSEN[case]
    said = person.pipes("logs", started, *flags).fine()
    assert {line.partition("]")[0].removeprefix("[") for line in said.out.splitlines()} == pods


def test_tail_and_since_shorten(person: Person, started: str) -> None:
    assert person.pipes("logs", started, "--tail=1").fine().out.splitlines() == [
        "[talk-worker-0] step 2",
        "[talk-worker-1] step 2",
    ]
    assert len(person.pipes("logs", started, "--since=10m").fine().out.splitlines()) == 8


def test_following_shows_each_line_once_although_the_connection_is_cut(
    person: Person, desk: Desk, kubelet: Kubelet, started: str
) -> None:
    pods = [f"{desk.namespace}/talk-worker-{index}" for index in (0, 1)]
    with person.follows("logs", "-f", started) as screen:
        screen.shows("[talk-worker-0] step 2", "[talk-worker-1] step 2")
        kubelet.cuts_all()
        for pod in pods:
            kubelet.says(pod, "step 3")
        screen.shows("[talk-worker-0] step 3", "[talk-worker-1] step 3")
        assert screen.text.count("[talk-worker-0] step 2") == 1
        for pod in pods:
            kubelet.says(pod, "the end")
            kubelet.ends(pod)
        desk.finish_workers("talk")
        screen.shows("[talk-worker-0] the end", "[talk-worker-1] the end")
        assert screen.ends() == 0


def test_following_ends_when_the_job_is_deleted(person: Person, desk: Desk, started: str) -> None:
    with person.follows("logs", "-f", started) as screen:
        screen.shows("[talk-worker-0] step 2")
        desk.delete("talk")
        assert screen.ends() == 0


@pytest.mark.usefixtures("operator")
def test_following_begins_before_there_is_a_pod(person: Person, desk: Desk, kubelet: Kubelet) -> None:
    desk.submit(a_job("late", worker=talking(1, starts="never")))
    with person.follows("logs", "-f", "late") as screen:
        kubelet.says(f"{desk.namespace}/late-worker-0", "at last")
        wait_until(lambda: "late-worker-0" in desk.pods())
        desk.steer("late-worker-0", starts="at-once")
        screen.shows("[late-worker-0] at last")


@pytest.mark.usefixtures("operator")
def test_a_job_without_output_says_where_to_look(person: Person, desk: Desk) -> None:
    desk.submit(a_job("mute", worker=a_role(1, stuck="image")))
    said = person.pipes("logs", "mute").fine()
    assert said.out == ""
    assert f"paddlejob describe mute -n {desk.namespace}" in said.sentence


def a_worker(desk: Desk, job: str) -> None:
    """What an operator makes, made by hand: so that the test says when an attempt begins."""
    template = talking(1)["template"]
    name = f"{job}-worker-0"
    owner = {
        "apiVersion": "batch.paddlepaddle.org/v1",
        "kind": "PaddleJob",
        "name": job,
        "uid": desk.job(job)["metadata"]["uid"],
        "controller": True,
    }
    labels = {
        "batch.paddlepaddle.org/job-name": job,
        "batch.paddlepaddle.org/index": "0",
        "paddle-res-type": "worker",
    }
    metadata = {"name": name, "labels": labels, "ownerReferences": [owner]}
    body = {"metadata": metadata, "spec": {**template["spec"], "restartPolicy": "OnFailure"}}
    desk.api.post(f"/api/v1/namespaces/{desk.namespace}/pods", body)
    wait_until(lambda: desk.pod(name)["status"].get("phase") == "Running")


def test_following_goes_on_with_a_restarted_container_and_a_new_attempt(
    person: Person, desk: Desk, kubelet: Kubelet
) -> None:
    desk.submit(a_job("again"))
    pod = f"{desk.namespace}/again-worker-0"
    kubelet.says(pod, "attempt 0")
    a_worker(desk, "again")
    with person.follows("logs", "-f", "again", "--tail=1") as screen:
        screen.shows("[again-worker-0] attempt 0")
        kubelet.forgets(pod)
        kubelet.says(pod, "restarted", "in place")
        containers = desk.pod("again-worker-0")["status"]["containerStatuses"]
        restarted = {"status": {"containerStatuses": [{**one, "restartCount": 1} for one in containers]}}
        desk.api.merge(f"/api/v1/namespaces/{desk.namespace}/pods/again-worker-0/status", restarted)
        screen.shows("[again-worker-0] restarted", "[again-worker-0] in place")
        desk.delete_pod("again-worker-0")
        wait_until(lambda: "again-worker-0" not in desk.pods())
        kubelet.forgets(pod)
        kubelet.says(pod, "attempt 1", "from the beginning")
        a_worker(desk, "again")
        screen.shows("[again-worker-0] attempt 1", "[again-worker-0] from the beginning")
        assert screen.text.count("attempt 0") == 1
