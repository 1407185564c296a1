"""What the model remembers of each job and of each of its pods."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from paddlejob.api import names as n
from tests.scenarios.desk import Json

FINAL = ("Completed", "Failed")
_POD = re.compile(r".+-(ps|worker|heter)-(\d+)")


def owner_of(body: Json) -> str | None:
    """The UID of the PaddleJob that controls it."""
    owners = body["metadata"].get("ownerReferences", ())
    return next((one["uid"] for one in owners if one.get("controller") and one["kind"] == n.KIND), None)


@dataclass
class PodLife:
    uid: str
    name: str
    role: str
    index: int
    attempt: int
    body: Json = field(repr=False)
    gone: bool = False
    succeeded: bool = False  # before anybody deleted it
    counted: bool = False  # the job's status has said that it succeeded
    failed: bool = False  # by its program
    address: str = ""

    @property
    def phase(self) -> str:
        return str(self.body.get("status", {}).get("phase", ""))

    @property
    def deleting(self) -> bool:
        return "deletionTimestamp" in self.body["metadata"]

    @property
    def running(self) -> bool:
        return self.phase == "Running" and not self.deleting and not self.gone

    @property
    def annotations(self) -> dict[str, str]:
        return dict(self.body["metadata"].get("annotations", {}))

    @property
    def environment(self) -> dict[str, str]:
        return {one["name"]: one.get("value", "") for one in self.body["spec"]["containers"][0].get("env", ())}


def a_pod_life(body: Json) -> PodLife | None:
    meta = body["metadata"]
    matched = _POD.fullmatch(meta["name"])
    if matched is None:
        return None
    label = meta.get("labels", {}).get(n.LABEL_ATTEMPT, "0")
    attempt = int(label) if label.isdigit() else -1
    return PodLife(meta["uid"], meta["name"], matched[1], int(matched[2]), attempt, body)


@dataclass
class JobLife:
    uid: str
    name: str
    body: Json = field(repr=False)
    gone: bool = False
    meddled: bool = False  # somebody else wrote its status
    launched: bool = False  # all of its pods have run at the same time
    changed_at: float = 0.0
    running_since: float | None = None
    deleting_since: float | None = None
    asked: dict[str, int] = field(default_factory=dict)  # the most replicas of each role that were ever asked for
    least_backoff: int = 0
    suspends: int = 0  # how often it was suspended
    suspends_used: int = 0  # ... and that explained a new attempt
    pods: dict[str, PodLife] = field(default_factory=dict)
    causes: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))

    @property
    def spec(self) -> Json:
        return dict(self.body["spec"])

    @property
    def status(self) -> dict[str, Any]:
        return dict(self.body.get("status", {}))

    @property
    def phase(self) -> str:
        return str(self.status.get("phase", ""))

    @property
    def attempt(self) -> int:
        return int(self.status.get("attempt", 0))

    @property
    def finished(self) -> bool:
        return self.phase in FINAL

    @property
    def deleting(self) -> bool:
        return "deletionTimestamp" in self.body["metadata"]

    @property
    def reason(self) -> str:
        return str(self.status.get("reason", ""))

    @property
    def next_attempt(self) -> float | None:
        text = self.status.get("nextAttemptTime")
        return seconds(text) if text else None

    @property
    def live(self) -> list[PodLife]:
        return [pod for pod in self.pods.values() if not pod.gone]

    @property
    def failures(self) -> int:
        """How often its program has failed."""
        return sum(pod.failed for pod in self.pods.values())


def seconds(timestamp: str) -> float:
    return datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp()
