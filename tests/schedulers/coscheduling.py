"""The real scheduler of scheduler-plugins, with the coscheduling plugin, and its controller."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cluster.binaries import Coscheduling
from tests.cluster.control_plane import ControlPlane
from tests.cluster.processes import Process

# As its own charts call it.
NAME = "scheduler-plugins-scheduler"


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
        "coscheduling-scheduler", [programs.coscheduling_scheduler, f"--config={file}", "--secure-port=0"]
    )
    controller = control_plane.start_beside(
        "coscheduling-controller",
        [programs.coscheduling_controller, "--metricsAddr=0", "--probeAddr=0", "--qps=500", "--burst=1000"],
        env={"KUBECONFIG": str(kubeconfig)},
    )
    return scheduler, controller
