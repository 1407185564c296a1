"""The page under load: hundreds of jobs on a real API server that change all the time, and a browser that looks on.

`python -m tests.ui.load` prints how long the main thread of the page was blocked at most, how much of a core the server
used, and how its memory and the page's grew.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.cli.person import Person
from tests.cluster.binaries import find_binaries
from tests.cluster.control_plane import ControlPlane
from tests.cluster.fixtures import CRD
from tests.scenarios.desk import Json, a_job
from tests.ui.blocking import Blocked, watched
from tests.ui.browser import Driver, Visitor, a_browser
from tests.ui.served import Served, serving

WATCH_LONG_TASKS = """() => {
  window.longest = 0;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) window.longest = Math.max(window.longest, one.duration);
  }).observe({ entryTypes: ["longtask"] });
}"""
PHASES = ("Pending", "Starting", "Running", "Restarting")
TICKS = os.sysconf("SC_CLK_TCK")
BETWEEN_LOOKS = 5.0
PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Measured:
    """`server` and `heap`: MB, at the beginning and at the end. `longest_ms` is by the clock, `blocked` is not."""

    changes: int = 0
    seconds: float = 0.0
    longest_ms: float = 0.0
    blocked: Blocked = field(default_factory=Blocked)
    core: float = 0.0
    server: list[float] = field(default_factory=list)
    heap: list[float] = field(default_factory=list)
    shown: bool = False

    def __str__(self) -> str:
        return (
            f"{self.changes} changes in {self.seconds:.0f} s ({self.changes / self.seconds:.0f}/s): main thread blocked"
            f" for {self.longest_ms:.0f} ms at most (0: never 50 ms), by its own time for {self.blocked.ms:.0f} ms;"
            f" server {self.core:.1%} of a core, its memory"
            f" {self.server[0]:.0f} -> {self.server[-1]:.0f} MB, the page's heap {self.heap[0]:.1f} ->"
            f" {self.heap[-1]:.1f} MB, last change shown: {self.shown}"
        )


class Crowd:
    """Jobs that nobody runs: their status changes as we say. Each has `pods` pods of its own that do nothing."""

    def __init__(self, cluster: ControlPlane, namespace: str, jobs: int, pods: int) -> None:
        self._api = cluster.api
        self._path = f"/apis/batch.paddlepaddle.org/v1/namespaces/{namespace}/paddlejobs"
        self.names = [f"job-{number:03}" for number in range(jobs)]
        for name in self.names:
            made: Json = self._api.post(self._path, {**a_job(name)})
            for index in range(pods):
                self._api.post(f"/api/v1/namespaces/{namespace}/pods", _a_pod(made, index))
            self.change(name, 0)

    def change(self, name: str, number: int) -> None:
        running = number % 3
        status = {
            "phase": PHASES[number % len(PHASES)],
            "mode": "Collective",
            "restarts": number % 7,
            "reason": f"Change{number}",
            "worker": {"running": running, "ready": f"{running}/2"},
        }
        self._api.merge(f"{self._path}/{name}/status", {"status": status})


def _a_pod(job: Json, index: int) -> Json:
    meta = job["metadata"]
    owner = {
        "apiVersion": job["apiVersion"],
        "kind": job["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
    }
    labels = {
        "batch.paddlepaddle.org/job-name": meta["name"],
        "paddle-res-type": "worker",
        "batch.paddlepaddle.org/index": str(index),
    }
    return {
        "metadata": {"name": f"{meta['name']}-worker-{index}", "labels": labels, "ownerReferences": [owner]},
        "spec": job["spec"]["worker"]["template"]["spec"],
    }


def measure(crowd: Crowd, page: Visitor, served: Served, *, seconds: float, rate: float) -> Measured:
    """Changes jobs at that rate; the page is looked at from time to time, as its driver has to be."""
    found = Measured()
    chance = random.Random(1)
    page.page.evaluate(WATCH_LONG_TASKS)
    _look(found, page, served)
    began, cpu = time.monotonic(), _cpu(served.pid)
    name = crowd.names[0]
    while time.monotonic() < began + seconds:
        with watched(page, found.blocked):
            until = min(began + seconds, time.monotonic() + BETWEEN_LOOKS)
            while time.monotonic() < until:
                found.changes += 1
                name = chance.choice(crowd.names)
                crowd.change(name, found.changes)
                page.page.wait_for_timeout(max(0.0, (began + found.changes / rate - time.monotonic()) * 1000))
        _look(found, page, served)
    found.seconds = time.monotonic() - began
    found.core = (_cpu(served.pid) - cpu) / found.seconds
    page.page.get_by_label("Search jobs").fill(f"Change{found.changes}")
    page.page.locator("tr", has_text=f"Change{found.changes}").get_by_role("link", name=name).wait_for()
    found.shown = True
    _look(found, page, served)
    found.longest_ms = page.page.evaluate("() => window.longest")
    return found


def _look(found: Measured, page: Visitor, served: Served) -> None:
    resident = int(Path(f"/proc/{served.pid}/statm").read_text().split()[1]) * PAGE_SIZE
    found.server.append(resident / 1e6)
    session = page.page.context.new_cdp_session(page.page)
    session.send("HeapProfiler.collectGarbage")
    found.heap.append(session.send("Runtime.getHeapUsage")["usedSize"] / 1e6)
    session.detach()


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@contextmanager
def looked_at(person: Person, folder: Path, browser: Driver) -> Iterator[tuple[Visitor, Served]]:
    with serving(person.env, folder) as served:
        page = Visitor(browser, served.address)
        yield page, served
        page.close()
        assert page.errors == []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--jobs", type=int, default=500)
    parser.add_argument("--pods", type=int, default=4, help="of each job")
    parser.add_argument("--rate", type=float, default=50, help="changes a second")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with ControlPlane(find_binaries(print), folder / "cluster", manifests=[CRD]) as cluster:
            cluster.add_namespace("crowd")
            crowd = Crowd(cluster, "crowd", asked.jobs, asked.pods)
            home = folder / "home"
            home.mkdir()
            person = Person(home, cluster.kubeconfig(folder / "kubeconfig"))
            with a_browser() as browser, looked_at(person, folder, browser) as (page, served):
                page.page.get_by_text(f"{asked.jobs} of {asked.jobs} jobs").wait_for()
                print(measure(crowd, page, served, seconds=asked.seconds, rate=asked.rate), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
