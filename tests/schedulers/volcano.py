"""The real Volcano beside a control plane: its scheduler, its controllers, its queues."""

from __future__ import annotations

from pathlib import Path

from tests.cluster.binaries import Volcano
from tests.cluster.control_plane import ControlPlane

GROUP = "/apis/scheduling.volcano.sh/v1beta1"
QUEUES = f"{GROUP}/queues"

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
    """Ready when its scheduler has made the default queue. Tests that kill its scheduler start it again."""

    def __init__(self, control_plane: ControlPlane, programs: Volcano) -> None:
        self._conf = control_plane.layout.folder / "volcano.conf"
        self._write(OVERCOMMIT)
        same = [f"--kubeconfig={control_plane.layout.admin_kubeconfig}", "--leader-elect=false"]
        self.controllers = control_plane.start_beside("volcano-controllers", [programs.volcano_controllers, *same])
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
        control_plane.wait(lambda: bool(control_plane.api.get(f"{QUEUES}/default")))

    def start_scheduler(self, overcommit: float = OVERCOMMIT) -> None:
        self._write(overcommit)
        self.scheduler.start()

    def _write(self, overcommit: float) -> None:
        self._conf.write_text(CONF % overcommit)


def add_queue(control_plane: ControlPlane, name: str, **spec: object) -> None:
    body = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": name}}
    control_plane.api.post(QUEUES, {**body, "spec": {"reclaimable": True, **spec}})
