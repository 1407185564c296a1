"""What progress costs: 300 running jobs on a real API server, each of which prints a step a second; a stand-in for a
kubelet has their logs. The operator runs without --progress and with it, in turns.

Three promises: nobody sees a percentage that has been wrong for more than 20 seconds, at most 20 logs are read in a
second, and the operator needs less than 5 % of a core more. Every raw number is printed; who breaks one ends with 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.jobs import MANIFESTS, cpu_seconds, phases
from tests.cli.kubelet import Kubelet
from tests.cluster.binaries import find_binaries
from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import wait_until
from tests.operator.process import OperatorProcess, operator_kubeconfig
from tests.scenarios.desk import Desk, Json, a_job, a_role

RIGHTS = MANIFESTS[0].parent / "progress.yaml"
# An hour of training: a hundredth lasts 36 seconds.
STEPS = 3600
OLDEST, READS, CPU = 20.0, 20, 0.05


class Printing(Kubelet):
    """Every program has begun at its own moment, and prints a step a second."""

    keeps_connections = True

    def __init__(self, control_plane: ControlPlane, folder: Path) -> None:
        self.begun: dict[str, float] = {}
        self.reads: dict[str, list[float]] = defaultdict(list)
        self._printed: dict[str, list[bytes]] = defaultdict(list)
        super().__init__(control_plane, folder)

    def percent(self, pod: str, at: float) -> int:
        return int(at - self.begun[pod]) * 100 // STEPS

    def since(self, pod: str, percent: int) -> float:
        """When it printed that it had come so far."""
        return self.begun[pod] + -(-percent * STEPS // 100)

    def _answer(self, pod: str, asked: dict[str, str], to: Any) -> None:
        now = time.time()
        self.reads[pod].append(now)
        printed = self._printed[pod]
        printed += [self._line(pod, step) for step in range(len(printed) + 1, int(now - self.begun[pod]) + 1)]
        text = b"".join(printed[-int(asked["tailLines"]) :])[: int(asked["limitBytes"])]
        to.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(text), text) if text else b"0\r\n\r\n")
        to.flush()

    def _line(self, pod: str, step: int) -> bytes:
        at = datetime.fromtimestamp(self.begun[pod] + step, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")
        said = f"[2026-11-19 20:00:00] INFO train: step {step}/{STEPS}, loss: {10 / step:.4f}, lr: 0.001"
        return f"{at}000Z {said}\n".encode()


@dataclass
class Figures:
    cpu: float
    """Of one core."""
    reads: int = 0
    """In the busiest second."""
    mean_reads: float = 0.0
    pause: float = 0.0
    """The longest between two reads of one job."""
    oldest: float = 0.0
    """For how many seconds a percentage had been wrong at most, when somebody looked."""
    writes: float = 0.0
    """Of status, in a second."""

    def __str__(self) -> str:
        return (
            f"CPU {100 * self.cpu:5.2f} % of a core, {self.mean_reads:4.1f} logs read a second (at most {self.reads}), "
            f"each job at least every {self.pause:4.1f} s, wrong for {self.oldest:4.1f} s at most, "
            f"{self.writes:4.1f} status writes a second"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=120)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        manifests = [*MANIFESTS, RIGHTS]
        with ControlPlane(find_binaries(print), Path(folder) / "cluster", manifests=manifests) as cluster:
            kubelet = Printing(cluster, Path(folder))
            try:
                rounds = _measure(cluster, kubelet, Path(folder), given)
            finally:
                kubelet.close()
    return _judge(rounds)


def _measure(
    cluster: ControlPlane, kubelet: Printing, folder: Path, given: argparse.Namespace
) -> list[tuple[Figures, Figures]]:
    kubeconfig = operator_kubeconfig(cluster, folder / "kubeconfig")
    cluster.add_namespace("many")
    desk, rounds = Desk(cluster, "many"), []

    def watched(*flags: str) -> Figures:
        operator = OperatorProcess(kubeconfig, folder / "operator.log", ["--namespace=many", *flags]).start()
        try:
            if not kubelet.begun:
                _begin(desk, kubelet, given.jobs)
            return _watch(desk, kubelet, operator, given.seconds, listens=bool(flags))
        finally:
            operator.stop()

    for number in range(given.rounds):
        found = watched(), watched("--progress")
        rounds.append(found)
        for name, one in zip(("without progress", "with progress"), found, strict=True):
            load = os.getloadavg()[0]
            print(f"round {number + 1}  {given.jobs} jobs, {name:16} {one}, load of the machine {load:.1f}", flush=True)
    return rounds


def _begin(desk: Desk, kubelet: Printing, jobs: int) -> None:
    for number in range(jobs):
        kubelet.begun[f"many/job-{number}-worker-0"] = time.time() - 600 - 7 * number % 500
        desk.submit(_talking(f"job-{number}"))
    wait_until(lambda: phases(desk)["Running"] == jobs, timeout=900)


def _talking(name: str) -> Json:
    role = a_role(1)
    role["template"]["spec"]["nodeSelector"] = {"test.paddlejob/talks": "true"}
    return a_job(name, worker=role)


def _watch(desk: Desk, kubelet: Printing, operator: OperatorProcess, seconds: int, *, listens: bool) -> Figures:
    kubelet.reads.clear()
    if listens:  # since the beginning every job was heard twice
        wait_until(lambda: sum(len(reads) > 1 for reads in kubelet.reads.values()) == len(kubelet.begun), timeout=300)
    time.sleep(10)  # so long after its beginning nothing of it counts any more
    since, begun, cpu = datetime.now(timezone.utc), time.time(), cpu_seconds(operator.pid)
    oldest = 0.0
    while time.time() < begun + seconds:
        oldest = max(oldest, _oldest(desk, kubelet) if listens else 0.0)
        time.sleep(2)
    spent = (cpu_seconds(operator.pid) - cpu) / (time.time() - begun)
    calls = desk.control_plane.audit(namespace="many", since=since)
    writes = sum(call.subresource == "status" for call in calls) / seconds
    reads = sorted(at for one in kubelet.reads.values() for at in one if at >= begun)
    return Figures(
        cpu=spent,
        reads=max((sum(at <= one < at + 1 for one in reads) for at in reads), default=0),
        mean_reads=len(reads) / seconds,
        pause=max((later - at for one in kubelet.reads.values() for at, later in pairwise(one)), default=0.0),
        oldest=oldest,
        writes=writes,
    )


def _oldest(desk: Desk, kubelet: Printing) -> float:
    """For how long the percentage that somebody sees now has been wrong."""
    path = "/apis/batch.paddlepaddle.org/v1/namespaces/many/paddlejobs"
    now = time.time()
    ages = [0.0]
    for job in desk.api.get(path)["items"]:
        pod, shown = f"many/{job['metadata']['name']}-worker-0", job["status"]["progress"]["percent"]
        if kubelet.percent(pod, now) > shown:
            ages.append(now - kubelet.since(pod, shown + 1))
    return max(ages)


def _judge(rounds: list[tuple[Figures, Figures]]) -> int:
    listening = [one for _, one in rounds]
    more = [after.cpu - before.cpu for before, after in rounds]
    oldest, reads = max(one.oldest for one in listening), max(one.reads for one in listening)
    kept = {
        f"the oldest percentage: {oldest:.1f} s of {OLDEST:.0f}": oldest <= OLDEST,
        f"logs read in a second: {reads} of {READS}": reads <= READS,
        f"more CPU: {', '.join(f'{100 * one:.2f}' for one in more)} of {100 * CPU:.0f} % of a core": max(more) < CPU,
    }
    for text, is_kept in kept.items():
        print(f"{'kept  ' if is_kept else 'BROKEN'}  {text}")
    return 0 if all(kept.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
