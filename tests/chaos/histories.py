"""Histories for the model, told in a few words: `tell.job(phase="Running")`, `tell.pod("worker-0")`."""

from __future__ import annotations

from itertools import count
from typing import Any

from paddlejob.api import names as n
from tests.chaos.jobs import Fate, Order, Shape
from tests.chaos.model import Model
from tests.chaos.watching import Change
from tests.scenarios.desk import Json, a_role

NOW = 1_800_000_000.0


def an_order(fate: Fate = "completes", shape: Shape = "collective", **spec: object) -> Order:
    return Order(0, 0.0, shape, fate, {"worker": a_role(2), "backoffLimit": 0, **spec})


class Telling:
    """Tells a model of one job; every call says what changes, the rest stays."""

    def __init__(self, order: Order | None = None) -> None:
        self.order = order or an_order()
        self.name = self.order.name
        self.model = Model({self.name: self.order})
        self._numbers = count(1)
        self._uids = count(1)
        self._bodies: dict[tuple[str, str], Json] = {}
        self.at = NOW

    @property
    def rules(self) -> set[str]:
        """Those that were broken."""
        return {complaint.rule for complaint in self.model.complaints}

    def job(self, **status: Any) -> None:
        key = ("paddlejobs", self.name)
        known = key in self._bodies
        body = self._bodies.get(key) or {**self.order.body, "status": {}}
        body["metadata"].setdefault("uid", "job-uid")
        body = {**body, "status": {**body["status"], **status}}
        self._say(key, "MODIFIED" if known else "ADDED", body)

    def spec(self, **spec: Any) -> None:
        body = self._bodies["paddlejobs", self.name]
        self._say(("paddlejobs", self.name), "MODIFIED", {**body, "spec": {**body["spec"], **spec}})

    def delete_job(self) -> None:
        body = self._bodies["paddlejobs", self.name]
        meta = {**body["metadata"], "deletionTimestamp": "2027-01-01T00:00:00Z"}
        self._say(("paddlejobs", self.name), "MODIFIED", {**body, "metadata": meta})

    def pod(self, suffix: str, phase: str = "Running", attempt: int = 0, **status: Any) -> str:
        """A new pod, or another phase of one that is there; its UID."""
        name = f"{self.name}-{suffix}"
        body = self._bodies.get(("pods", name))
        type_ = "MODIFIED" if body else "ADDED"
        body = body or self._new_pod(name, attempt)
        self._say(("pods", name), type_, {**body, "status": {**body["status"], "phase": phase, **status}})
        return str(body["metadata"]["uid"])

    def pods(self, *suffixes: str, attempt: int = 0) -> None:
        for suffix in suffixes:
            self.pod(suffix, attempt=attempt)

    def placed(self, suffix: str, *, touched: bool) -> None:
        """On a node, with an address, and not started yet."""
        self.pod(suffix, "Pending", podIP="10.0.0.1")
        key = ("pods", f"{self.name}-{suffix}")
        body = self._bodies[key]
        annotations = {n.ANNOTATION_ENVIRONMENT: "a-config-map"} if touched else {}
        meta = {**body["metadata"], "annotations": annotations}
        self._say(key, "MODIFIED", {**body, "metadata": meta, "spec": {"nodeName": "node-0"}})

    def ends(self, suffix: str, code: int) -> None:
        ended = [{"name": "paddle", "state": {"terminated": {"exitCode": code}}}]
        self.pod(suffix, "Failed" if code else "Succeeded", containerStatuses=ended)

    def evicted(self, suffix: str) -> None:
        self.pod(suffix, "Failed", reason="Evicted")

    def deleting(self, suffix: str) -> str:
        key = ("pods", f"{self.name}-{suffix}")
        body = self._bodies[key]
        meta = {**body["metadata"], "deletionTimestamp": "2027-01-01T00:00:00Z"}
        self._say(key, "MODIFIED", {**body, "metadata": meta})
        return str(meta["uid"])

    def gone(self, *suffixes: str) -> None:
        for suffix in suffixes:
            key = ("pods", f"{self.name}-{suffix}")
            self._say(key, "DELETED", self._bodies[key])
            del self._bodies[key]

    def config_map(self, **data: str) -> None:
        meta = {"name": self.name, "ownerReferences": self._owners()}
        self._say(("configmaps", self.name), "ADDED", {"metadata": meta, "data": data})

    def _new_pod(self, name: str, attempt: int) -> Json:
        labels = {n.LABEL_ATTEMPT: str(attempt)}
        meta = {"name": name, "uid": f"pod-{next(self._uids)}", "labels": labels, "ownerReferences": self._owners()}
        return {"metadata": meta, "spec": {}, "status": {}}

    def _owners(self) -> list[Json]:
        return [{"kind": n.KIND, "uid": "job-uid", "controller": True}]

    def _say(self, key: tuple[str, str], type_: str, body: Json) -> None:
        self._bodies[key] = body
        number = next(self._numbers)
        self.model.see(Change(number, number, key[0], type_, body, self.at))


def running(tell: Telling) -> None:
    tell.job(phase="Pending")
    tell.pods("worker-0", "worker-1")
    tell.job(phase="Running")


def completes(tell: Telling) -> None:
    running(tell)
    tell.ends("worker-0", 0)
    tell.ends("worker-1", 0)
    tell.job(phase="Completed")
