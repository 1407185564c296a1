"""What the API server's audit log tells: who wrote while another led, who deleted what, how many calls a job cost.

Each operator process has a token of its own, whose id is in the log. Of leases the log holds what was written.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from tests.chaos.model import Complaint
from tests.scenarios.desk import Json

WRITES = frozenset({"create", "update", "patch", "delete"})
_CREDENTIAL = "authentication.kubernetes.io/credential-id"
# Calls about one job in WINDOW seconds: nothing that an operator has to do takes so many.
WINDOW = 10.0
MOST_PER_POD = 12
# A leader that has not written the lease for so long has stopped.
RENEWED = 10.0
MOST_PER_JOB = 40


def write_policy(path: Path, namespace: str) -> None:
    """Calls of the operators; of leases and deletes also what they said."""
    groups = [f"system:serviceaccounts:{namespace}"]
    leases = [{"group": "coordination.k8s.io", "resources": ["leases"]}]
    rules: list[Json] = [
        {"level": "Request", "userGroups": groups, "resources": leases, "verbs": ["create", "update"]},
        {"level": "Request", "userGroups": groups, "verbs": ["delete"]},
        {"level": "Metadata", "userGroups": groups},
        {"level": "None"},
    ]
    policy = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": rules}
    path.write_text(json.dumps(policy))


@dataclass(frozen=True)
class Call:
    verb: str
    resource: str
    name: str
    code: int
    who: str  # the id of the token: one operator process
    received: float
    answered: float
    holder: str | None = None  # of a lease: whom it names
    uid: str | None = None  # of a delete: what was meant

    @property
    def is_write(self) -> bool:
        return self.verb in WRITES

    @property
    def held(self) -> bool:
        return self.code < 300

    def __str__(self) -> str:
        moment = datetime.fromtimestamp(self.received).strftime("%H:%M:%S.%f")
        return f"{moment} {self.verb} {self.resource} {self.name} -> {self.code}"


def parse(line: bytes) -> Call | None:
    record = json.loads(line)
    if record["stage"] != "ResponseComplete" or record["verb"] == "watch":
        return None
    target, said = record.get("objectRef", {}), record.get("requestObject") or {}
    ids = record["user"].get("extra", {}).get(_CREDENTIAL, [""])
    sub = f"/{target['subresource']}" if "subresource" in target else ""
    return Call(
        verb=record["verb"],
        resource=target.get("resource", record.get("requestURI", "")) + sub,
        name=target.get("name") or said.get("metadata", {}).get("name", ""),
        code=record.get("responseStatus", {}).get("code", 0),
        who=ids[0].removeprefix("JTI="),
        received=_moment(record["requestReceivedTimestamp"]),
        answered=_moment(record["stageTimestamp"]),
        holder=said.get("spec", {}).get("holderIdentity", "") if target.get("resource") == "leases" else None,
        uid=(said.get("preconditions") or {}).get("uid"),
    )


def _moment(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class AuditLog:
    """Reads on where it stopped."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0

    def calls(self) -> Iterator[Call]:
        if not self._path.exists():
            return
        with self._path.open("rb") as log:
            log.seek(self._at)
            whole, end, _ = log.read().rpartition(b"\n")
        self._at += len(whole) + len(end)
        for line in whole.splitlines():
            if call := parse(line):
                yield call


@dataclass
class Calls:
    """Hears of every call of an operator, some seconds late, and complains."""

    pods: dict[str, int]  # of each job, by its name
    # Whether the machine was too slow around a time to hold something against anybody: requests that were sent in time
    # arrived so late that another led by then, which no lease can prevent.
    overloaded: Callable[[float], bool] = lambda _: False
    complaints: list[Complaint] = field(default_factory=list)
    deleted: set[str] = field(default_factory=set)  # UIDs of what operators deleted
    total: Counter[str] = field(default_factory=Counter)  # by job
    of_process: Counter[str] = field(default_factory=Counter)
    _recent: dict[str, deque[Call]] = field(default_factory=lambda: defaultdict(deque))
    _claims: list[Call] = field(default_factory=list)
    _hot: set[str] = field(default_factory=set)

    @property
    def leads(self) -> str:
        """The token of the process that was the last to write the lease."""
        return self._claims[-1].who if self._claims else ""

    def leads_since(self, now: float) -> float | None:
        """Since when it has led without a pause; None if nobody does, or whoever did has not renewed the lease."""
        since = None
        next_one = now
        for claim in reversed(self._claims):
            if claim.holder != self._claims[-1].holder or not claim.holder or next_one - claim.answered > RENEWED:
                break
            since = next_one = claim.answered
        return since

    def hear(self, calls: Iterable[Call]) -> None:
        """All calls up to some moment, in any order; later ones come with the next call."""
        heard = sorted(calls, key=lambda call: call.received)
        self._claims += [call for call in heard if call.holder is not None and call.is_write and call.held]
        self._claims.sort(key=lambda call: call.answered)
        for call in heard:
            self.of_process[call.who] += 1
            if call.resource == "leases":
                continue
            if call.is_write and call.held:
                self._check_leader(call)
            if call.verb == "delete" and call.held and call.uid:
                self.deleted.add(call.uid)
            self._check_rate(call)

    def _check_leader(self, call: Call) -> None:
        """Whoever writes is the one whose write of the lease was the latest that held."""
        claim = next((one for one in reversed(self._claims) if one.answered <= call.received), None)
        wrong = claim is None or claim.who != call.who or not claim.holder
        if wrong and not self.overloaded(call.received):
            leads = "nobody" if claim is None or not claim.holder else f"{claim.holder} ({claim.who})"
            self._complain("only the leader writes", call.name, f"{call} by {call.who}, but {leads} led since {claim}")

    def _check_rate(self, call: Call) -> None:
        job = self._job(call.name)
        if job is None:
            return
        self.total[job] += 1
        recent = self._recent[job]
        recent.append(call)
        while recent[0].received < call.received - WINDOW:
            recent.popleft()
        most = MOST_PER_JOB + MOST_PER_POD * self.pods[job]
        if len(recent) > most and job not in self._hot:
            self._hot.add(job)
            common = Counter(f"{one.verb} {one.resource} -> {one.code}" for one in recent).most_common(4)
            self._complain("calls are few", job, f"{len(recent)} calls in {WINDOW:.0f} s: {common}")

    def _job(self, name: str) -> str | None:
        """Names of what belongs to a job begin with the job's: `j12-ps`, `j12-ps-worker-0`, `j12-ps.17f3`."""
        job = "-".join(name.split(".", maxsplit=1)[0].split("-")[:2])
        return job if job in self.pods else None

    def _complain(self, rule: str, job: str, text: str) -> None:
        self.complaints.append(Complaint(rule, job, text))
