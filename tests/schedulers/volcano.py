"""The real Volcano beside a control plane: its scheduler, its controllers, its queues, and its webhooks of what jobs
become."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from tests.cluster.binaries import Volcano
from tests.cluster.control_plane import ControlPlane
from tests.cluster.processes import Process
from tests.cluster.waiting import wait_until
from tests.scenarios.desk import Desk
from tests.schedulers.history import Json
from tests.schedulers.loopback import Loopback

GROUP = "/apis/scheduling.volcano.sh/v1beta1"
QUEUES = f"{GROUP}/queues"
COMMANDS = "/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands"

CERTIFICATES = {"tls-cert-file": "tls.crt", "tls-private-key-file": "tls.key", "ca-cert-file": "ca.crt"}

# All but those whose kinds are not among its CRDs: they hold up the others, which wait until all watches are synced.
CONTROLLERS = "+gc-controller,+job-controller,+pg-controller,+queue-controller"

# What it says of a group that the cluster has no room for, and of one that its queue has none for.
OVERUSED, QUOTA = "resource in cluster is overused", "queue resource quota insufficient"

# Its own default: groups are admitted up to so much of the cluster's room.
OVERCOMMIT = 1.2
CONF = """
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: overcommit
    arguments:
      overcommit-factor: %s
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
"""


def crds(volcano: Volcano) -> list[Path]:
    return sorted((volcano.volcano_scheduler.parent / "config").glob("*.yaml"))


class RunningVolcano:
    """Ready when its webhooks answer and its default queue is open. Tests that kill its scheduler start
    it again."""

    def __init__(self, control_plane: ControlPlane, programs: Volcano) -> None:
        self._conf = control_plane.layout.folder / "volcano.conf"
        self._write(OVERCOMMIT)
        same = [f"--kubeconfig={control_plane.layout.admin_kubeconfig}", "--leader-elect=false"]
        self.controllers = control_plane.start_beside(
            "volcano-controllers", [programs.volcano_controllers, *same, f"--controllers={CONTROLLERS}"]
        )
        self.scheduler = control_plane.start_beside(
            "volcano-scheduler",
            [
                programs.volcano_scheduler,
                *same,
                f"--scheduler-conf={self._conf}",
                "--schedule-period=200ms",
                "--cache-dumper=false",
            ],
        )
        self.webhooks = _start_webhooks(control_plane, programs, same[0])
        control_plane.wait(lambda: _is_open(control_plane, "default"))

    def start_scheduler(self, overcommit: float = OVERCOMMIT) -> None:
        self._write(overcommit)
        self.scheduler.start()

    def _write(self, overcommit: float) -> None:
        self._conf.write_text(CONF % overcommit)


def _start_webhooks(control_plane: ControlPlane, programs: Volcano, kubeconfig: str) -> Process:
    """As its charts register them, but by address."""
    loopback = Loopback(control_plane.layout.folder / "volcano-webhooks")
    for kind, path, resource, group in (
        ("Mutating", "/podgroups/mutate", "podgroups", "scheduling.volcano.sh"),
        ("Validating", "/pods/validate", "pods", ""),
    ):
        rule = {"apiGroups": [group], "resources": [resource], "apiVersions": ["*"], "operations": ["CREATE"]}
        webhook = {"name": f"{resource}.volcano.sh", "clientConfig": loopback.client(path), "rules": [rule]}
        registered = _registration(kind, path, webhook)
        control_plane.kubectl("apply", "-f", "-", stdin=json.dumps(registered))
    process = control_plane.start_beside(
        "volcano-webhook-manager",
        [
            programs.volcano_webhook_manager,
            kubeconfig,
            *(f"--{flag}={loopback.folder / file}" for flag, file in CERTIFICATES.items()),
            f"--webhook-url={loopback.url}",
            "--listen-address=127.0.0.1",
            f"--port={loopback.port}",
            "--enabled-admission=/podgroups/mutate,/pods/validate",
        ],
    )
    probe: Json = {"kind": "PodGroup", "metadata": {"name": "probe"}, "spec": {"minMember": 1}}
    probe["apiVersion"] = "scheduling.volcano.sh/v1beta1"
    at = f"{GROUP}/namespaces/default/podgroups?dryRun=All"
    control_plane.wait(lambda: bool(control_plane.api.post(at, probe)))
    return process


def _registration(kind: str, path: str, webhook: Json) -> Json:
    how = {"failurePolicy": "Fail", "sideEffects": "NoneOnDryRun", "admissionReviewVersions": ["v1"]}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": f"volcano-admission-service{path.replace('/', '-')}"},
        "webhooks": [{**webhook, **how}],
    }


def groups_path(desk: Desk) -> str:
    return f"{GROUP}/namespaces/{desk.namespace}/podgroups"


def groups(desk: Desk) -> dict[str, Json]:
    return {one["metadata"]["name"]: one for one in desk.api.get(groups_path(desk))["items"]}


def tell_queue(control_plane: ControlPlane, name: str, action: Literal["CloseQueue", "OpenQueue"]) -> None:
    """As `vcctl queue operate` does it. Returns when the queue is in that state."""
    queue = control_plane.api.get(f"{QUEUES}/{name}")
    target = {"apiVersion": queue["apiVersion"], "kind": "Queue", "name": name, "uid": queue["metadata"]["uid"]}
    body = {"apiVersion": "bus.volcano.sh/v1alpha1", "kind": "Command", "metadata": {"generateName": "told-"}}
    control_plane.api.post(COMMANDS, {**body, "action": action, "target": target})
    wanted = {"CloseQueue": ("Closing", "Closed"), "OpenQueue": ("Open",)}[action]
    wait_until(lambda: control_plane.api.get(f"{QUEUES}/{name}")["status"]["state"] in wanted)


def add_queue(control_plane: ControlPlane, name: str, **spec: object) -> None:
    body = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": name}}
    control_plane.api.post(QUEUES, {**body, "spec": {"reclaimable": True, **spec}})
    wait_until(lambda: _is_open(control_plane, name))


def _is_open(control_plane: ControlPlane, queue: str) -> bool:
    return bool(control_plane.api.get(f"{QUEUES}/{queue}")["status"]["state"] == "Open")
