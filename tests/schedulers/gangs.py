"""Jobs whose pods ask for one CPU each, and what a history of pods says about the room that they held."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tests.cluster.control_plane import ControlPlane
from tests.scenarios.desk import Desk, Json, a_job, a_role
from tests.schedulers.history import Change

# Servers before workers, without preemption: a scheduler that knows no gangs places the servers of all jobs first.
SERVERS_FIRST = "servers-first"
JOB = "batch.paddlepaddle.org/job-name"
ATTEMPT = "batch.paddlepaddle.org/attempt"


def role(replicas: int, *, cpu: str = "1", pod: Json | None = None, **annotations: str) -> Json:
    """A role whose simulated pods behave as the annotations say; `pod` is more of their spec."""
    made = a_role(replicas, **annotations)
    spec = made["template"]["spec"]
    spec["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    spec.update(pod or {})
    return made


def four_pods(name: str, *, ends: bool = True, **spec: object) -> Json:
    """Two servers that never end by themselves, two workers that do soon after they run."""
    servers = role(2, pod={"priorityClassName": SERVERS_FIRST})
    workers = role(2, ends="succeeded", after="500ms") if ends else role(2)
    return a_job(name, ps=servers, worker=workers, **spec)


def on_kueue(job: Json, queue: str, **labels: str) -> Json:
    """The job in a queue; labels are given by the last part of their name."""
    more = {f"kueue.x-k8s.io/{name.replace('_', '-')}": value for name, value in labels.items()}
    job["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": queue, **more}
    return job


def pods_path(desk: Desk) -> str:
    return f"/api/v1/namespaces/{desk.namespace}/pods"


def completed(desk: Desk, *names: str) -> bool:
    phases = {name: desk.status(name).get("phase") for name in names}
    assert set(phases.values()) == {"Completed"}, phases
    return True


def lose_node(desk: Desk, name: str) -> None:
    """Its pods are evicted, and nobody is placed there again."""
    taint = {"key": "test.paddlejob/lost", "effect": "NoExecute"}
    desk.api.merge(f"/api/v1/nodes/{name}", {"spec": {"unschedulable": True, "taints": [taint]}})


def version_now(desk: Desk) -> int:
    """Whatever changes from now on has a higher version."""
    return int(desk.api.get(pods_path(desk))["metadata"]["resourceVersion"])


def make_priorities(control_plane: ControlPlane, **values: int) -> None:
    for name, value in values.items():
        body = {"metadata": {"name": name.replace("_", "-")}, "value": value, "preemptionPolicy": "Never"}
        control_plane.api.post("/apis/scheduling.k8s.io/v1/priorityclasses", body)


def is_held(pod: Json) -> bool:
    """Whether the pod has room on a node that nobody else may use."""
    return bool(pod["spec"].get("nodeName")) and pod["status"].get("phase") not in ("Succeeded", "Failed")


@dataclass
class Rooms:
    """What each job holds while the history goes on: by job and attempt, the names of pods."""

    held: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    ever: dict[tuple[str, str], set[str]] = field(default_factory=dict)

    def take(self, change: Change) -> None:
        labels = change.thing["metadata"].get("labels", {})
        key = labels.get(JOB, ""), labels.get(ATTEMPT, "")
        now = self.held.setdefault(key, set())
        if not change.gone and is_held(change.thing):
            now.add(change.name)
            self.ever.setdefault(key, set()).add(change.name)
        else:
            now.discard(change.name)

    def beginning(self, size: int) -> set[tuple[str, str]]:
        """Those that hold some pods of an attempt that has never been whole."""
        return {key for key, pods in self.held.items() if pods and len(self.ever[key]) < size}


def moments(changes: Iterable[Change]) -> Iterator[Rooms]:
    """The same object again and again, after each change of a pod."""
    rooms = Rooms()
    for change in changes:
        rooms.take(change)
        yield rooms


def assert_one_after_the_other(changes: Iterable[Change], size: int, room: int) -> None:
    """At no moment did two jobs hold a part each, nor one a part while others left no room for the rest of it; every
    job that ever got a part became whole."""
    rooms = Rooms()
    for rooms in moments(changes):
        beginning = rooms.beginning(size)
        assert len(beginning) <= 1, f"{sorted(beginning)} held a part each: {rooms.held}"
        others = sum(len(pods) for key, pods in rooms.held.items() if key not in beginning)
        assert not beginning or others + size <= room, f"{sorted(beginning)} held a part without room: {rooms.held}"
    assert rooms.ever
    parts = {key: len(pods) for key, pods in rooms.ever.items() if len(pods) != size}
    assert not parts, f"never whole: {parts}"


def assert_came_back_whole(changes: Iterable[Change], job: str, size: int) -> None:
    """Both attempts of a job were whole once, and the first was gone before the second had anything."""
    rooms = Rooms()
    for rooms in moments(changes):
        assert len([1 for held in rooms.held.values() if held]) <= 1, f"attempts met: {rooms.held}"
    assert {key: len(names) for key, names in rooms.ever.items()} == {(job, "0"): size, (job, "1"): size}


def first_placed(changes: Iterable[Change], attempt: str) -> int:
    """The version at which the first pod of an attempt got its node."""
    return min(one.version for one in changes if is_placed(one, attempt))


def is_placed(change: Change, attempt: str) -> bool:
    labels = change.thing["metadata"].get("labels", {})
    return change.path.endswith("/pods") and labels.get(ATTEMPT) == attempt and is_held(change.thing)
