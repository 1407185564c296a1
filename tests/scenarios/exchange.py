"""One request as the fault-injecting proxy saw it, and the faults that may befall it.

A fault is a test (`is_write`, `concerning("job")`, ...) and what is done to the requests that pass it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


@dataclass(slots=True)
class Exchange:
    """Times are of the monotonic clock. `sent_at` None: it never went on to the API server."""

    at: float
    method: str
    path: str
    watch: bool
    client: str
    body: bytes
    sent_at: float | None = None
    answered_at: float | None = None
    status: int = 0

    @property
    def is_write(self) -> bool:
        return self.method in WRITES

    @property
    def is_lease(self) -> bool:
        return "/leases" in self.path

    @property
    def target(self) -> str:
        """What it is about: the same request sent again has the same."""
        return f"{self.method} {self.path} {_name_in(self.body) if self.method == 'POST' else ''}".rstrip()

    def __str__(self) -> str:
        return f"{self.at:.3f} {'WATCH' if self.watch else self.method} {self.path} -> {self.status}"


def _name_in(body: bytes) -> str:
    return str(json.loads(body)["metadata"]["name"])


Test = Callable[[Exchange], bool]


def is_write(exchange: Exchange) -> bool:
    return exchange.is_write


def is_call(exchange: Exchange) -> bool:
    return not exchange.watch


def is_watch(exchange: Exchange) -> bool:
    return exchange.watch


def anything(_: Exchange) -> bool:
    return True


def concerning(job: str) -> Test:
    """Writes of the job's status and of its pods, Services, ConfigMap and events."""
    return lambda exchange: exchange.is_write and bool(re.search(rf"[ /]{job}\b", exchange.target))


@dataclass(frozen=True, slots=True)
class Answer:
    """The API server is not asked: this is its answer."""

    status: int
    retry_after: int | None = None
    reason: str = ""

    def body(self) -> bytes:
        return error_status(self.status, self.reason or "InternalError")


@dataclass(frozen=True, slots=True)
class Delay:
    """The answer comes so many seconds late."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Stall:
    """Accepted, and then nothing: neither an answer nor an end."""


Action = Answer | Delay | Stall


@dataclass(slots=True, eq=False)
class Fault:
    action: Action
    test: Test
    left: int | None = None

    def takes(self, exchange: Exchange) -> bool:
        if self.left == 0 or not self.test(exchange):
            return False
        if self.left is not None:
            self.left -= 1
        return True


def error_status(code: int, reason: str) -> bytes:
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason}
    return json.dumps({**status, "message": "the fault-injecting proxy says so", "metadata": {}}).encode()


def job_writes(log: Iterable[Exchange]) -> list[Exchange]:
    """What went on to the API server and changed something that belongs to a job."""
    return [one for one in log if one.is_write and not one.is_lease and one.sent_at is not None]
