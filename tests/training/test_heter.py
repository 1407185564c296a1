"""Heter jobs for real, as far as PaddlePaddle 2.6.2 goes: every pod finds its place in the pipeline by itself.

Its own heter training does not get further on any machine: see docs/heter.md.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.local.workbench import Workbench, a_role
from tools.environments import PADDLE, python_of

pytestmark = [pytest.mark.timeout(300), pytest.mark.paddle]


def heard(laptop: Workbench, role: str) -> list[dict[str, Any]]:
    """What the pods of a role say, in order of their ids."""
    text = laptop.paddlejob("logs", "pipeline", "--role", role).stdout
    lines = [line.partition("RESULT ")[2] for line in text.splitlines() if "RESULT " in line]
    return sorted((json.loads(line) for line in lines), key=lambda one: int(one["id"]))


@pytest.mark.parametrize("network", ["PodIP", "Host"])
def test_every_pod_of_a_heter_job_finds_its_place_in_the_pipeline(bench: Workbench, network: str) -> None:
    bench.env["PADDLEJOB_PYTHON"] = str(python_of(f"paddle-{PADDLE}"))
    role = a_role(2, "python", str(Path(__file__).parent / "roles.py"), workingDir=str(bench.folder))
    job = bench.write("pipeline", ps=role, worker=role, heter=role, intranet=network)
    done = bench.paddlejob("run", job, timeout=200)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    servers, workers, heter = (heard(bench, name) for name in ("ps", "worker", "heter"))
    assert [len(one) for one in (servers, workers, heter)] == [2, 2, 2]
    endpoints = {name: [one["endpoint"] for one in pods] for name, pods in (("w", workers), ("h", heter))}
    for one in (*servers, *workers, *heter):
        assert (one["workers"], one["heter"]) == (2, endpoints["h"])
        assert one["servers"] == [server["endpoint"] for server in servers]
    for one in workers:
        assert (one["stage"], one["stages"], one["sizes"]) == (1, 2, [2, 2])
        assert (one["next"], one["previous"]) == (endpoints["h"], [])
    for one in heter:
        assert (one["stage"], one["stages"], one["sizes"], one["device"]) == (2, 2, [2, 2], "cpu")
        assert (one["next"], one["previous"]) == ([], endpoints["w"])
    # Paddle numbers heter workers after the ordinary ones.
    assert [one["id"] for one in (*workers, *heter)] == [0, 1, 2, 3]
