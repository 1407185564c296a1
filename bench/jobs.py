"""What jobs cost on a real API server with simulated nodes: time, API calls, and the operator's CPU and memory.

Figures are noisy: the machine runs the control plane, the nodes and the operator on the same cores. Each load runs
`--rounds` times, interleaved, and every raw number is printed.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from tests.cluster.audit import without_watches
from tests.cluster.binaries import find_binaries
from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import wait_until
from tests.operator.process import OperatorProcess, operator_kubeconfig
from tests.scenarios.desk import Desk, Json, a_job, a_role

ROOT = Path(__file__).parents[1]
MANIFESTS = [ROOT / "deploy" / "v1" / name for name in ("crd.yaml", "operator.yaml")]
TICKS = 100.0
"""Per second, in /proc/PID/stat."""


@dataclass(frozen=True)
class Load:
    name: str
    jobs: int
    servers: int
    workers: int

    def job(self, number: int) -> Json:
        spec: Json = {"worker": a_role(self.workers, ends="succeeded", after="1s")}
        if self.servers:
            spec["ps"] = a_role(self.servers)
        return a_job(f"job-{number}", **spec)

    @property
    def pods(self) -> int:
        return self.jobs * (self.servers + self.workers)


LOADS = [Load("50 jobs of 2 PS + 2 workers", 50, 2, 2), Load("1 job of 1,000 workers", 1, 0, 1000)]


@dataclass(frozen=True)
class Figures:
    all_pods: float
    all_done: float
    calls_per_job: float
    status_writes_per_job: float
    cpu_seconds: float
    peak_mib: float

    def __str__(self) -> str:
        return (
            f"all pods {self.all_pods:5.1f} s, all done {self.all_done:5.1f} s, "
            f"{self.calls_per_job:7.1f} calls per job ({self.status_writes_per_job:.1f} status writes), "
            f"CPU {self.cpu_seconds:.1f} s, peak {self.peak_mib:.0f} MiB"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds: int = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        binaries = find_binaries(print)
        with ControlPlane(binaries, Path(folder) / "cluster", manifests=MANIFESTS) as cluster:
            kubeconfig = operator_kubeconfig(cluster, Path(folder) / "kubeconfig")
            for number in range(rounds):
                for load in LOADS:
                    name = f"round-{number}-{LOADS.index(load)}"
                    cluster.add_namespace(name)
                    figures = run(load, Desk(cluster, name), kubeconfig, Path(folder) / "operator.log")
                    print(f"round {number + 1}  {load.name:30} {figures}", flush=True)


def run(load: Load, desk: Desk, kubeconfig: Path, log: Path) -> Figures:
    operator = OperatorProcess(kubeconfig, log, [f"--namespace={desk.namespace}"]).start()
    try:
        since, began = datetime.now(timezone.utc), time.monotonic()
        cpu = cpu_seconds(operator.pid)
        for number in range(load.jobs):
            desk.submit(load.job(number))
        wait_until(lambda: pods_made(desk, since) >= load.pods, timeout=300)
        all_pods = time.monotonic() - began
        wait_until(lambda: phases(desk)["Completed"] == load.jobs, timeout=300)
        all_done = time.monotonic() - began
        calls = without_watches(desk.control_plane.audit(namespace=desk.namespace, since=since))
        return Figures(
            all_pods=all_pods,
            all_done=all_done,
            calls_per_job=len(calls) / load.jobs,
            status_writes_per_job=sum(call.subresource == "status" for call in calls) / load.jobs,
            cpu_seconds=cpu_seconds(operator.pid) - cpu,
            peak_mib=peak_mib(operator.pid),
        )
    finally:
        operator.stop()
        desk.control_plane.api.delete(f"/api/v1/namespaces/{desk.namespace}")


def pods_made(desk: Desk, since: datetime) -> int:
    calls = desk.control_plane.audit(namespace=desk.namespace, since=since)
    return sum((call.verb, call.resource, call.code) == ("create", "pods", 201) for call in calls)


def phases(desk: Desk) -> Counter[str]:
    path = f"/apis/batch.paddlepaddle.org/v1/namespaces/{desk.namespace}/paddlejobs"
    return Counter(job.get("status", {}).get("phase", "") for job in desk.api.get(path)["items"])


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    main()
