"""The real scheduler of scheduler-plugins, with the coscheduling plugin, and its controller."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cluster.binaries import Coscheduling
from tests.cluster.control_plane import ControlPlane
from tests.cluster.processes import Process

# As its own charts call it.
NAME = "scheduler-plugins-scheduler"
# It looks again at a gang that it has rejected as a whole only when a pod or a group is made, or after so long: neither
# a new node nor the end of another job wakes it. Its default is five minutes.
LOOKS_AGAIN = "--pod-max-in-unschedulable-pods-duration=5s"
# With that flag it does so every half a minute.
BY_THEN = 180


def crds(programs: Coscheduling) -> list[Path]:
    return sorted((programs.coscheduling_scheduler.parent / "config").glob("*.yaml"))


def start_coscheduling(control_plane: ControlPlane, programs: Coscheduling) -> tuple[Process, Process]:
    kubeconfig = control_plane.layout.admin_kubeconfig
    plugin = [{"name": "Coscheduling"}]
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 5000, "burst": 10000},
        "profiles": [
            {
                "schedulerName": NAME,
                "plugins": {
                    "multiPoint": {"enabled": plugin},
                    "queueSort": {"enabled": plugin, "disabled": [{"name": "*"}]},
                },
                "pluginConfig": [{"name": "Coscheduling", "args": {"permitWaitingTimeSeconds": 5}}],
            }
        ],
    }
    file = control_plane.layout.folder / "coscheduling.json"
    file.write_text(json.dumps(config))
    scheduler = control_plane.start_beside(
        "coscheduling-scheduler", [programs.coscheduling_scheduler, f"--config={file}", "--secure-port=0", LOOKS_AGAIN]
    )
    controller = control_plane.start_beside(
        "coscheduling-controller",
        [programs.coscheduling_controller, "--metricsAddr=0", "--probeAddr=0", "--qps=500", "--burst=1000"],
        env={"KUBECONFIG": str(kubeconfig)},
    )
    return scheduler, controller
