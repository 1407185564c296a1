"""Trouble around the jobs: nodes that go, quotas and policies that refuse, names that others have."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from tests.chaos.world import Missed, Undo, World
from tests.cluster.api import ApiError
from tests.cluster.control_plane import CAPACITY, NODE_LABELS
from tests.scenarios.desk import Json

if TYPE_CHECKING:
    from tests.chaos.troubles import Trouble

POLICIES = "/apis/admissionregistration.k8s.io/v1"
# What a policy refuses: the API group and the resource, and at which operation.
REFUSED = (
    ("", "pods", "CREATE"),
    ("", "pods", "CREATE"),
    ("", "pods", "DELETE"),
    ("", "pods", "UPDATE"),
    ("", "configmaps", "CREATE"),
    ("", "services", "CREATE"),
    ("batch.paddlepaddle.org", "paddlejobs/status", "UPDATE"),
)


def add_node(world: World, name: str) -> None:
    status = {"capacity": dict(CAPACITY), "allocatable": dict(CAPACITY)}
    labels = {"kubernetes.io/hostname": name, **NODE_LABELS}
    world.desk.api.post("/api/v1/nodes", {"metadata": {"name": name, "labels": labels}, "status": status})


def lose_node(world: World, trouble: Trouble) -> Undo:
    """As a machine that is gone; the controllers find its pods after a while. Another of its name comes."""
    name = world.nodes[trouble.dice % len(world.nodes)]
    world.plane.remove_node(name)
    return lambda: add_node(world, name)


def drain_node(world: World, trouble: Trouble) -> Undo:
    name = world.nodes[trouble.dice % len(world.nodes)]
    path = f"/api/v1/nodes/{name}"
    world.desk.api.merge(path, {"spec": {"unschedulable": True}})
    for job in world.model.jobs.values():
        for pod in job.live:
            if pod.body["spec"].get("nodeName") == name and not pod.deleting:
                _evict(world, pod.name)

    def uncordon() -> None:
        with suppress(ApiError):
            world.desk.api.merge(path, {"spec": {"unschedulable": None}})

    return uncordon


def _evict(world: World, pod: str) -> None:
    with suppress(ApiError):
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}}
        world.desk.api.post(world.path("pods", f"{pod}/eviction"), body)


def stop_etcd(world: World, _: Trouble) -> Undo:
    """The one where elastic jobs meet."""
    if world.etcd.process.pid is None:
        raise Missed("it is stopped already")
    world.etcd.stop()
    return world.etcd.start


def set_quota(world: World, trouble: Trouble) -> Undo:
    """No more pods than there are now, or a few."""
    live = sum(len(job.live) for job in world.model.jobs.values())
    path, name = world.path("resourcequotas"), f"quota-{trouble.dice}"
    spec = {"hard": {"pods": str(live + trouble.slot)}}
    world.desk.api.post(path, {"metadata": {"name": name}, "spec": spec})
    return lambda: _delete(world, f"{path}/{name}")


def set_policy(world: World, trouble: Trouble) -> Undo:
    """Refuses something for one job."""
    group, resource, operation = REFUSED[trouble.dice % len(REFUSED)]
    job = world.job(trouble.job).name
    name = f"policy-{trouble.dice}-{job}"
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "operations": [operation], "resources": [resource]}
    what = "oldObject" if operation == "DELETE" else "object"
    # Only the operators are refused: kubelets and the campaign itself go on.
    excused = "!request.userInfo.username.startsWith('system:serviceaccount:paddle-system:')"
    expression = f"{excused} || !{what}.metadata.name.startsWith('{job}')"
    where = {"matchLabels": {"kubernetes.io/metadata.name": world.desk.namespace}}
    spec: Json = {
        "matchConstraints": {"resourceRules": [rule], "namespaceSelector": where},
        "validations": [{"expression": expression, "message": f"{operation} {resource} is not allowed"}],
    }
    binding = {"policyName": name, "validationActions": ["Deny"]}
    kinds = {"validatingadmissionpolicies": spec, "validatingadmissionpolicybindings": binding}
    for plural, made in kinds.items():
        world.desk.api.post(f"{POLICIES}/{plural}", {"metadata": {"name": name}, "spec": made})

    def lift() -> None:
        for plural in kinds:
            _delete(world, f"{POLICIES}/{plural}/{name}")

    return lift


def take_name(world: World, trouble: Trouble) -> Undo:
    """Of a pod, Service or ConfigMap that a job will need."""
    if world.model.named(trouble.job):
        raise Missed(f"{trouble.job} is there already")
    kind = ("pods", "configmaps", "services")[trouble.dice % 3]
    bodies: dict[str, Json] = {
        "pods": {"spec": {"containers": [{"name": "a", "image": "a"}]}},
        "configmaps": {"data": {"PADDLE_TRAINERS_NUM": "99"}},
        "services": {"spec": {"ports": [{"port": 80}]}},
    }
    name = trouble.job if kind == "configmaps" else f"{trouble.job}-worker-0"
    world.desk.api.post(world.path(kind), {"metadata": {"name": name}, **bodies[kind]})
    return lambda: _delete(world, world.path(kind, name))


def _delete(world: World, path: str) -> None:
    with suppress(ApiError):
        world.desk.api.delete(path)
