"""Pods of one namespace, as a person at the keyboard makes, sees and touches them, and how to read their status.

Annotations are given by the last part of their name: `ends="failed"` is `test.paddlejob/ends: failed` (stages/).
"""

import json
from collections.abc import Callable
from typing import Any

from tests.cluster.api import ApiError
from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import wait_until

Json = dict[str, Any]


class Pods:
    """The pods of one namespace, as a person at the keyboard sees and touches them."""

    def __init__(self, control_plane: ControlPlane, namespace: str) -> None:
        self._api = control_plane.api
        self._path = f"/api/v1/namespaces/{namespace}/pods"

    def create(
        self,
        name: str,
        annotations: dict[str, str] | None = None,
        labels: dict[str, str] | None = None,
        **spec: object,
    ) -> None:
        containers = [{"name": "paddle", "image": "paddle:test"}]
        metadata = {"name": name, "annotations": annotations, "labels": labels}
        self._api.post(self._path, {"metadata": metadata, "spec": {"containers": containers, **spec}})

    def create_waiting(self, name: str, **annotations: str) -> None:
        """A pod as the operator makes it: with our label, and the job's environment from a ConfigMap."""
        main = {"name": "paddle", "image": "paddle:test", "envFrom": [{"configMapRef": {"name": "job"}}]}
        sidecar = {"name": "logger", "image": "logger:test"}
        labels = {"batch.paddlepaddle.org/job-name": "job"}
        self.create(
            name,
            _steer(annotations),
            labels,
            containers=[sidecar, main],
            initContainers=[{"name": "copy", "image": "copy:test"}],
            restartPolicy="Never",
        )

    def get(self, name: str) -> Json:
        pod: Json = self._api.get(f"{self._path}/{name}")
        return pod

    def annotate(self, name: str, **annotations: str) -> None:
        self._api.merge(f"{self._path}/{name}", {"metadata": {"annotations": _steer(annotations)}})

    def touch(self, name: str) -> None:
        """What the operator does as soon as the ConfigMap exists."""
        body = {"metadata": {"annotations": {"batch.paddlepaddle.org/environment": "1"}}}
        self._api.merge(f"{self._path}/{name}", body)

    def delete(self, name: str) -> None:
        self._api.delete(f"{self._path}/{name}")

    def remove_finalizers(self, name: str) -> None:
        self._api.merge(f"{self._path}/{name}", {"metadata": {"finalizers": None}})

    def until(self, name: str, check: Callable[[Json], object]) -> Json:
        """The pod's status as soon as `check` likes it."""

        def status() -> Json:
            found: Json = self.get(name)["status"]
            assert check(found), json.dumps(found)
            return found

        return wait_until(status)

    def in_phase(self, name: str, phase: str) -> Json:
        return self.until(name, lambda status: status["phase"] == phase)

    def gone(self, name: str) -> bool:
        try:
            self.get(name)
        except ApiError as error:
            return error.code == 404
        return False


def state_of(status: Json, container: str) -> Json:
    state: Json = next(each["state"] for each in status["containerStatuses"] if each["name"] == container)
    return state


def condition_of(status: Json, kind: str) -> Json:
    condition: Json = {each["type"]: each for each in status["conditions"]}[kind]
    return condition


def _steer(annotations: dict[str, str]) -> dict[str, str]:
    return {f"test.paddlejob/{key.replace('_', '-')}": value for key, value in annotations.items()}
