"""A person at the keyboard: submits jobs into one namespace, looks at them, and pushes simulated pods along."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from paddlejob.core.kind import Kind
from paddlejob.core.kinds import BUILT_IN
from tests.cluster.api import ApiError
from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import TIMEOUT, wait_until

Json = dict[str, Any]
IMAGE = "paddle:test"


def a_role(replicas: int, **annotations: str) -> Json:
    """A role whose simulated pods behave as the annotations say (tests/cluster/stages)."""
    steer = {f"test.paddlejob/{name.replace('_', '-')}": value for name, value in annotations.items()}
    template = {"metadata": {"annotations": steer}, "spec": {"containers": [{"name": "paddle", "image": IMAGE}]}}
    return {"replicas": replicas, "template": template}


def a_job(name: str, **spec: object) -> Json:
    return {
        "apiVersion": "batch.paddlepaddle.org/v1",
        "kind": "PaddleJob",
        "metadata": {"name": name},
        "spec": {"worker": a_role(2), **spec},
    }


class Desk:
    def __init__(self, control_plane: ControlPlane, namespace: str) -> None:
        self.control_plane = control_plane
        self.namespace = namespace
        self.api = control_plane.api
        self._jobs = f"/apis/batch.paddlepaddle.org/v1/namespaces/{namespace}/paddlejobs"
        self._core = f"/api/v1/namespaces/{namespace}"

    def kubectl(self, *args: str, stdin: str | None = None) -> str:
        return self.control_plane.kubectl("-n", self.namespace, *args, stdin=stdin)

    def submit(self, job: Json, *, dry_run: bool = False) -> Json:
        made: Json = self.api.post(f"{self._jobs}?fieldValidation=Strict{'&dryRun=All' if dry_run else ''}", job)
        return made

    def job(self, name: str) -> Json:
        found: Json = self.api.get(f"{self._jobs}/{name}")
        return found

    def change(self, name: str, spec: Json) -> Json:
        changed: Json = self.api.merge(f"{self._jobs}/{name}", {"spec": spec})
        return changed

    def annotate(self, name: str, annotations: dict[str, str]) -> None:
        self.api.merge(f"{self._jobs}/{name}", {"metadata": {"annotations": annotations}})

    def delete(self, name: str, **options: object) -> None:
        self.api.delete(f"{self._jobs}/{name}", **options)

    def status(self, name: str) -> Json:
        return dict(self.job(name).get("status", {}))

    def until(self, name: str, check: Callable[[Json], object], timeout: float = TIMEOUT) -> Json:
        """The job's status as soon as `check` likes it."""

        def status() -> Json:
            found = self.status(name)
            assert check(found), json.dumps(found)
            return found

        return wait_until(status, timeout)

    def in_phase(self, name: str, phase: str, timeout: float = TIMEOUT) -> Json:
        return self.until(name, lambda status: status.get("phase") == phase, timeout)

    def stalled(self, name: str, reason: str, timeout: float = TIMEOUT) -> Json:
        return self.until(name, lambda status: status.get("reason") == reason, timeout)

    def pods(self) -> dict[str, Json]:
        return {one["metadata"]["name"]: one for one in self.objects("pods")}

    def objects(self, plural: str) -> list[Json]:
        return list(self.api.get(f"{self._core}/{plural}")["items"])

    def of_kind(self, kind: Kind[Any]) -> list[Json]:
        return list(self.api.get(self.path(kind))["items"])

    def path(self, kind: Kind[Any]) -> str:
        group = f"apis/{kind.group}" if kind.group else "api"
        return f"/{group}/{kind.version}/namespaces/{self.namespace}/{kind.plural}"

    def pod(self, name: str) -> Json:
        found: Json = self.api.get(f"{self._core}/pods/{name}")
        return found

    def config(self, name: str) -> dict[str, str]:
        return dict(self.api.get(f"{self._core}/configmaps/{name}")["data"])

    def steer(self, pod: str, **annotations: str) -> None:
        steer = {f"test.paddlejob/{name.replace('_', '-')}": value for name, value in annotations.items()}
        self.api.merge(f"{self._core}/pods/{pod}", {"metadata": {"annotations": steer}})

    def finish_workers(self, name: str, how: str = "succeeded", **annotations: str) -> None:
        for pod in self.pods():
            if pod.startswith(f"{name}-worker-"):
                self.steer(pod, ends=how, **annotations)

    def delete_pod(self, name: str) -> None:
        self.api.delete(f"{self._core}/pods/{name}")

    def events(self, name: str) -> list[Json]:
        path = f"/apis/events.k8s.io/v1/namespaces/{self.namespace}/events"
        return [one for one in self.api.get(path)["items"] if one["regarding"].get("name") == name]

    def told(self, name: str) -> list[str]:
        """The reasons of the events about the job, in order."""
        return [one["reason"] for one in sorted(self.events(name), key=lambda one: str(one["eventTime"]))]

    def gone(self, name: str) -> bool:
        try:
            self.job(name)
        except ApiError as error:
            return error.code == 404
        return False

    def nothing_left(self, name: str) -> bool:
        """Whether the job and all it made are gone."""
        children = [
            one["metadata"]["name"]
            for kind in BUILT_IN
            for one in self.of_kind(kind)
            if one["metadata"].get("labels", {}).get("batch.paddlepaddle.org/job-name") == name
        ]
        assert not children, children
        return self.gone(name)
