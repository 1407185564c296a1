"""Trouble of one pod: deleted, evicted, stripped of its labels, held by a finalizer, moved to another address."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from tests.chaos.world import Missed, Undo, World
from tests.cluster.api import ApiError

if TYPE_CHECKING:
    from tests.chaos.troubles import Trouble

FINALIZER = "test.paddlejob/hold"


def delete(world: World, trouble: Trouble) -> None:
    world.desk.delete_pod(_taken(world, trouble))


def delete_by_force(world: World, trouble: Trouble) -> None:
    world.desk.api.delete(world.path("pods", _taken(world, trouble)), gracePeriodSeconds=0)


def evict(world: World, trouble: Trouble) -> None:
    name = _taken(world, trouble)
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    world.desk.api.post(world.path("pods", f"{name}/eviction"), body)


def end(world: World, trouble: Trouble) -> None:
    """As a kubelet ends pods whose node lacks memory."""
    pod = world.pod(trouble.job, trouble.slot, lambda pod: pod.running)
    world.desk.steer(pod.name, ends="evicted", after="0s")


def strip(world: World, trouble: Trouble) -> None:
    """Of all of its labels, or of ours."""
    pod = world.pod(trouble.job, trouble.slot)
    labels = pod.body["metadata"].get("labels", {})
    some = [name for name in labels if trouble.dice % 2 or "job-name" in name]
    world.desk.api.merge(world.path("pods", pod.name), {"metadata": {"labels": dict.fromkeys(some)}})


def hold(world: World, trouble: Trouble) -> Undo:
    """By a finalizer; half of them are deleted, too, and stay."""
    deletes = bool(trouble.dice % 2)
    name = _taken(world, trouble) if deletes else world.pod(trouble.job, trouble.slot).name
    path = world.path("pods", name)
    world.desk.api.merge(path, {"metadata": {"finalizers": [FINALIZER]}})
    if deletes:
        world.desk.delete_pod(name)

    def let_go() -> None:
        with suppress(ApiError):
            world.desk.api.merge(path, {"metadata": {"finalizers": None}})

    return let_go


def move(world: World, trouble: Trouble) -> None:
    """Its sandbox is made anew before its containers run."""
    pod = world.pod(trouble.job, trouble.slot, lambda pod: pod.phase == "Pending" and pod.address)
    address = f"10.99.{trouble.dice // 250 % 250}.{1 + trouble.dice % 250}"
    found = world.desk.pod(pod.name)  # it may run by now
    if found["status"]["phase"] != "Pending":
        raise Missed(f"{pod.name} runs already")
    meta = {"resourceVersion": found["metadata"]["resourceVersion"]}
    status = {"podIP": address, "podIPs": [{"ip": address}]}
    world.desk.api.merge(world.path("pods", f"{pod.name}/status"), {"metadata": meta, "status": status})


def _taken(world: World, trouble: Trouble) -> str:
    """The name of a pod that is about to be deleted by us: an operator that deletes it too does no harm."""
    pod = world.pod(trouble.job, trouble.slot)
    world.model.taken.add(pod.uid)
    return pod.name
