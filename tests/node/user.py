"""What a user does on the cluster, with kubectl and as the documents tell it: create, watch, read logs, delete.

Each test has a namespace of its own, so several can run at once. What a job's pods print is followed while they run:
some are deleted as soon as the job is completed.
"""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
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

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Story:
    """How a job went: its last line in `kubectl get pdj` by column, and what each pod printed."""

    row: dict[str, str]
    logs: dict[str, str]

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
        path = ROOT / file
        objects = list(yaml.safe_load_all(path.read_text()))
        (job,) = (one for one in objects if one["kind"] == "PaddleJob")
        if spec is None:
            self.kubectl("create", "-f", str(path))
        else:
            _merge(job["spec"], spec)
            self.kubectl("create", "-f", "-", stdin=yaml.safe_dump_all(objects))
        return str(job["metadata"]["name"])

    def sees_through(self, job: str) -> Story:
        """Waits for the job's end and reads all that its pods print until then."""
        wait_until(lambda: self.job(job)["status"]["phase"] in {"Running", "Completed", "Failed"}, PATIENCE)
        following = {pod: self._follow(pod) for pod in self.pods(job)}
        wait_until(lambda: self.job(job)["status"]["phase"] in {"Completed", "Failed"}, PATIENCE)
        row = self.row(job)
        # A server says nothing any more, and may go on for the whole of its grace period.
        for pod, process in following.items():
            if "-worker-" not in pod:
                process.terminate()
        return Story(row, {pod: process.communicate(timeout=60)[0] for pod, process in following.items()})

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
            [*kubectl, f"--namespace={self.namespace}", "logs", "--follow", pod],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _json(self, *args: str) -> Manifest:
        found: Manifest = json.loads(self.kubectl(*args, "--output=json"))
        return found


def _merge(into: Manifest, changes: Mapping[str, Any]) -> None:
    for name, value in changes.items():
        if isinstance(value, Mapping) and isinstance(into.get(name), dict):
            _merge(into[name], value)
        else:
            into[name] = value
