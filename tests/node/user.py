"""What a user does on the cluster, with kubectl and as the documents tell it: create, watch, read logs, delete.

Each test has a namespace of its own, so several can run at once. What a job's pods print is followed while they run:
some are deleted as soon as the job is completed.
"""

import json
import math
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.waiting import wait_until
from tests.node.cluster import Cluster
from tests.training.reports import Report, reports

ROOT = Path(__file__).parents[2]
JOB = "batch.paddlepaddle.org/job-name"
# For a job that trains for real beside others on two cores.
PATIENCE = 300.0
ENDS = ("Completed", "Failed")

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """Of a pod's log; `at` is when it was printed, in seconds since 1970."""

    at: float
    text: str


@dataclass(frozen=True)
class Story:
    """How a job went: its last line in `kubectl get pdj` by column, and what each pod printed."""

    row: dict[str, str]
    lines: dict[str, list[Line]]

    @property
    def logs(self) -> dict[str, str]:
        return {pod: "\n".join(line.text for line in lines) for pod, lines in self.lines.items()}

    def first(self, words: str) -> float:
        """When a pod printed these words for the first time."""
        return min(line.at for lines in self.lines.values() for line in lines if words in line.text)

    @property
    def reports(self) -> list[Report]:
        """What the workers say in the end, by rank."""
        return reports("\n".join(text for pod, text in self.logs.items() if "-worker-" in pod))

    def told(self) -> str:
        """The last lines of every pod, for whom something went wrong."""
        return "\n".join(f"{pod}:\n{text[-1500:]}" for pod, text in self.logs.items())


class User:
    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self.cluster = cluster
        self.namespace = namespace

    def kubectl(self, *args: str, stdin: str | None = None) -> str:
        return self.cluster.kubectl(f"--namespace={self.namespace}", *args, stdin=stdin)

    def create(self, file: str, spec: Mapping[str, Any] | None = None) -> str:
        """A file of this checkout, as it is, or with parts of the job's spec changed; returns the job's name."""
        objects = read(file)
        (job,) = (one for one in objects if one["kind"] == "PaddleJob")
        if spec is None:
            self.kubectl("create", "-f", str(ROOT / file))
        else:
            merge(job["spec"], spec)
            self.submit(*objects)
        return str(job["metadata"]["name"])

    def submit(self, *objects: Manifest) -> None:
        self.kubectl("create", "-f", "-", stdin=yaml.safe_dump_all(objects))

    def until(self, job: str, check: Callable[[Manifest], object], timeout: float = PATIENCE) -> Manifest:
        """The job's status as soon as `check` likes it."""

        def status() -> Manifest:
            found: Manifest = self.job(job).get("status", {})
            assert check(found), json.dumps(found)
            return found

        return wait_until(status, timeout)

    def in_phase(self, job: str, *phases: str, timeout: float = PATIENCE) -> Manifest:
        return self.until(job, lambda status: status.get("phase") in phases, timeout)

    def sees_through(self, job: str) -> Story:
        """Waits for the job's end and reads all that its pods print until then."""
        self.in_phase(job, "Running", *ENDS)
        following = {pod: self._follow(pod) for pod in self.pods(job)}
        self.in_phase(job, *ENDS)
        row = self.row(job)
        # A server says nothing any more, and may go on for the whole of its grace period.
        for pod, process in following.items():
            if "-worker-" not in pod:
                process.terminate()
        return Story(row, {pod: lines(process.communicate(timeout=60)[0]) for pod, process in following.items()})

    def logs(self, *pods: str) -> dict[str, list[Line]]:
        """What these pods have printed so far."""
        return {pod: lines(self.kubectl("logs", pod, "--timestamps")) for pod in pods}

    def row(self, job: str) -> dict[str, str]:
        """The job's line in `kubectl get pdj` by column; columns are found by where their titles begin."""
        title, line = self.kubectl("get", "pdj", job).splitlines()
        begins = [at for at, letter in enumerate(title) if letter != " " and (at == 0 or title[at - 1] == " ")]
        ends = [*begins[1:], None]
        return {title[begin:end].strip(): line[begin:end].strip() for begin, end in zip(begins, ends, strict=True)}

    def job(self, name: str) -> Manifest:
        return self._json("get", "pdj", name)

    def pods(self, job: str) -> dict[str, Manifest]:
        found = self._json("get", "pods", f"--selector={JOB}={job}")["items"]
        return {pod["metadata"]["name"]: pod for pod in found}

    def wait_for_nothing(self, kind: str) -> None:
        """Until no object of this kind is left in the namespace."""
        wait_until(lambda: not self._json("get", kind)["items"], PATIENCE)

    def _follow(self, pod: str) -> "subprocess.Popen[str]":
        kubectl = [str(self.cluster.kubectl_program), f"--kubeconfig={self.cluster.kubeconfig}"]
        return subprocess.Popen(
            [*kubectl, f"--namespace={self.namespace}", "logs", "--follow", "--timestamps", pod],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _json(self, *args: str) -> Manifest:
        found: Manifest = json.loads(self.kubectl(*args, "--output=json"))
        return found


def read(file: str) -> list[Manifest]:
    """The objects in a file of this checkout."""
    return list(yaml.safe_load_all((ROOT / file).read_text()))


def lines(log: str) -> list[Line]:
    """From what `kubectl logs --timestamps` prints. A line without a time is kubectl's own."""
    found = []
    for line in log.splitlines():
        stamp, _, text = line.partition(" ")
        try:
            # To the microsecond: Python knows no nanoseconds.
            at = datetime.strptime(f"{stamp[:26].rstrip('Z')}+0000", "%Y-%m-%dT%H:%M:%S.%f%z").timestamp()
        except ValueError:
            at, text = math.nan, line
        found.append(Line(at, text))
    return found


def merge(into: Manifest, changes: Mapping[str, Any]) -> None:
    for name, value in changes.items():
        if isinstance(value, Mapping) and isinstance(into.get(name), dict):
            merge(into[name], value)
        else:
            into[name] = value
