"""One campaign: random jobs and random trouble for a while, then calm, then the end; the model watches all the time.

`run` returns what was complained of. Everything that a complaint can be understood with is in the campaign's folder:
troubles.log, changes.jsonl, audit.log, and the operators' own logs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TextIO

from tests.chaos import settling
from tests.chaos.calls import AuditLog, Calls, write_policy
from tests.chaos.conductor import Conductor
from tests.chaos.jobs import Order, random_order
from tests.chaos.model import Complaint, Model
from tests.chaos.on_cluster import add_node
from tests.chaos.replica import Replica
from tests.chaos.troubles import Missed, Trouble, random_troubles
from tests.chaos.watching import Watching
from tests.chaos.world import Undo, World
from tests.cluster.api import ApiError
from tests.cluster.binaries import Binaries
from tests.cluster.control_plane import OPERATOR_NAMESPACE, ControlPlane
from tests.cluster.fixtures import CRD
from tests.cluster.processes import Guard
from tests.cluster.waiting import wait_until
from tests.etcd.server import EtcdServer
from tests.operator.fixtures import MANIFEST
from tests.scenarios.desk import Desk

NAMESPACE = "chaos"
NODES = ("node-1", "node-2", "node-3")
JOBS_PER_SECOND = 0.7
SECONDS_PER_TROUBLE = 0.6
TURN = 0.1
STALL = 2.0
# Silent watches are noticed after 75 s, a dead leader after 15 s, and then everything has to be done.
CALM = 240.0
END = 120.0
LARGEST_MIB = 256.0
LEASE = "/apis/coordination.k8s.io/v1/namespaces/paddle-system/leases/paddle-operator"


@dataclass(frozen=True)
class Script:
    """What the seed decides."""

    seed: int
    seconds: float
    orders: tuple[Order, ...]
    troubles: tuple[Trouble, ...]


def a_script(seed: int, seconds: float) -> Script:
    rng = Random(seed)
    orders: list[Order] = []
    at = 0.0
    while at < seconds:
        orders.append(random_order(rng, len(orders), at))
        at += rng.expovariate(JOBS_PER_SECOND)
    return Script(seed, seconds, tuple(orders), tuple(random_troubles(rng, seconds, orders, SECONDS_PER_TROUBLE)))


@dataclass
class Campaign:
    script: Script
    folder: Path
    world: World
    watching: Watching
    conductor: Conductor
    audit: AuditLog
    log: TextIO
    changes: TextIO
    say: Callable[[str], None]
    complaints: list[Complaint] = field(default_factory=list)
    _began: float = field(default_factory=time.time)
    _undo: list[tuple[float, str, Undo]] = field(default_factory=list)
    _quiet_since: float | None = None
    _stalls: list[float] = field(default_factory=list)  # when the machine was too slow even for us
    _turned_at: float = 0.0

    @property
    def model(self) -> Model:
        return self.world.model

    def run(self) -> list[Complaint]:
        orders, troubles = list(self.script.orders), list(self.script.troubles)
        while (at := time.time() - self._began) < self.script.seconds:
            while orders and orders[0].at <= at:
                self._submit(orders.pop(0))
            while troubles and troubles[0].at <= at:
                self._trouble(troubles.pop(0))
            self._turn()
        self._calm()
        self._end()
        return self.complaints

    def _turn(self) -> None:
        """What goes on all the time: troubles end, pods live, the model looks."""
        now = time.time()
        if self._turned_at and now - self._turned_at > STALL:
            self._stalls.append(now)
            self._tell(f"the machine is slow: {now - self._turned_at:.1f} s for one turn")
        self._turned_at = now
        for due in [one for one in self._undo if one[0] <= now]:
            self._undo.remove(due)
            self._undo_now(due)
        for change in self.watching.changes():
            self.model.see(change)
            self.changes.write(json.dumps([change.seen_at, change.kind, change.type, change.body]) + "\n")
        self.conductor.turn(now)
        self.world.calls.hear(self.audit.calls())
        self._look(now)
        time.sleep(TURN)

    def _undo_now(self, due: tuple[float, str, Undo]) -> None:
        self._tell(f"over: {due[1]}")
        with suppress(ApiError):  # what was done may be gone with whom it was done to
            due[2]()

    def _look(self, now: float) -> None:
        busy = any(replica.busy or replica.deaf_until > now for replica in self.world.replicas)
        leads_since = self.world.calls.leads_since(now)
        slow = self.overloaded(now) or leads_since is None
        self._quiet_since = None if busy or slow else max(self._quiet_since or now, leads_since or now)
        silent = settling.silent(self.model, now, self._quiet_since)
        for complaint in (*self.model.complaints, *self.world.calls.complaints, *self._healthy_deletes(), *silent):
            self._complain(complaint)
        for replica in self.world.replicas:
            replica.measure()
            if (code := replica.died()) is not None:
                self._complain(Complaint("operators live on", replica.name, f"it ended with {code}"))
                replica.start()

    def overloaded(self, at: float) -> bool:
        """Whether requests and answers may have taken seconds around this time."""
        return any(stall - 5 < at < stall + 20 for stall in self._stalls)

    def _healthy_deletes(self) -> Iterator[Complaint]:
        for uid, complaint in self.model.unjustified.items():
            if uid in self.world.calls.deleted:
                yield complaint

    def _submit(self, order: Order) -> None:
        self._tell(f"job {order}")
        with suppress(ApiError):
            self.world.desk.submit(order.body)

    def _trouble(self, trouble: Trouble) -> None:
        self.world.aimed.clear()
        try:
            undo = trouble.begin(self.world)
        except (Missed, ApiError) as error:
            self._tell(f"missed: {trouble}: {str(error)[:200]}")
            return
        what = f"{trouble.name} {' '.join(self.world.aimed) or trouble.dice} {trouble.lasts:.1f} s"
        self._tell(f"trouble: {what} (dice {trouble.dice})")
        if undo is not None:
            self._undo.append((time.time() + trouble.lasts, what, undo))

    def _calm(self) -> None:
        """Everything goes back to normal, and every job to where it belongs."""
        self._tell("calm")
        self.say("Trouble is over: every job must come to rest")
        for due in self._undo:
            self._undo_now(due)
        self._undo.clear()
        left = self._until(
            lambda: [f"{job.name}: {why}" for job, why in settling.unsettled(self.model, time.time())], CALM
        )
        for line in left:
            name, _, why = line.partition(": ")
            self._complain(Complaint("every job goes on when trouble is over", name, why))
        for replica in self.world.replicas:
            if not replica.process.answers("/readyz") or not replica.process.answers("/healthz"):
                self._complain(Complaint("operators recover", replica.name, "it is not ready or not healthy"))

    def _end(self) -> None:
        """All jobs are deleted, and nothing is left."""
        self._tell("the end")
        self.say("All jobs are deleted: nothing must be left")
        # On a slow machine the answer may take longer than anybody waits for one.
        wait_until(lambda: self.world.desk.api.delete(self.world.job_path("").rstrip("/")), END)
        for line in self._until(self._left, END):
            self._complain(Complaint("nothing is left", line.split()[1], line))
        for replica in self.world.replicas:
            self._tell(f"{replica.name}: {replica.peak_mib:.0f} MiB")
            if replica.peak_mib > LARGEST_MIB:
                self._complain(Complaint("memory is bounded", replica.name, f"{replica.peak_mib:.0f} MiB"))
            text = replica.log.read_text(errors="replace")
            for word in ("Traceback", "defect, will try again"):
                if word in text:
                    self._complain(Complaint("operators have no defects", replica.name, f"{word} in {replica.log}"))
        self._tell(f"{sum(self.world.calls.of_process.values())} calls for {len(self.model.jobs)} jobs")

    def _left(self) -> list[str]:
        kinds = {plural: self.world.path(plural) for plural in ("pods", "services", "configmaps")}
        kinds["paddlejobs"] = self.world.job_path("").rstrip("/")
        return [
            f"{plural} {one['metadata']['name']}"
            for plural, path in kinds.items()
            for one in self.world.desk.api.get(path)["items"]
            if one["metadata"]["name"] != "kube-root-ca.crt"
        ]

    def _until(self, left: Callable[[], list[str]], seconds: float) -> list[str]:
        """What is left to wait for when nothing is any more, or the time is over."""
        deadline = time.time() + seconds
        while True:
            self._turn()
            found = left()
            if not found or time.time() > deadline:
                return found

    def _complain(self, complaint: Complaint) -> None:
        """Once for each rule and job: what follows from the first is not worth reading."""
        if (complaint.rule, complaint.job) not in {(one.rule, one.job) for one in self.complaints}:
            self.complaints.append(complaint)
            self._tell(f"COMPLAINT {complaint}")
            self.say(str(complaint))

    def _tell(self, text: str) -> None:
        self.log.write(f"{time.time() - self._began:7.1f} {text}\n")
        self.log.flush()


def run(binaries: Binaries, folder: Path, script: Script, say: Callable[[str], None] = print) -> list[Complaint]:
    """A campaign on a control plane of its own."""
    plane = ControlPlane(binaries, folder / "cluster", manifests=[CRD])
    write_policy(plane.layout.audit_policy, OPERATOR_NAMESPACE)
    with ExitStack() as stack:
        stack.enter_context(plane)
        plane.kubectl("apply", "-f", str(MANIFEST))
        plane.add_namespace(NAMESPACE)
        etcd = EtcdServer(binaries.etcd, folder)
        stack.callback(etcd.close)
        etcd.start()
        world = _world(plane, folder, script, etcd, stack)
        log = stack.enter_context((folder / "troubles.log").open("w"))
        changes = stack.enter_context((folder / "changes.jsonl").open("w"))
        campaign = Campaign(
            script,
            folder,
            world,
            stack.enter_context(Watching(plane, NAMESPACE)),
            Conductor(world.desk, world.model, etcd),
            AuditLog(plane.layout.audit_log),
            log,
            changes,
            say,
        )
        world.calls.overloaded = campaign.overloaded
        return campaign.run()


def _world(plane: ControlPlane, folder: Path, script: Script, etcd: EtcdServer, stack: ExitStack) -> World:
    flags = (f"--namespace={NAMESPACE}", "--leader-elect", f"--etcd-server={etcd.address}")
    guard = Guard()
    stack.callback(guard.close)
    replicas = tuple(Replica(plane, guard, folder, f"operator-{number}", flags) for number in range(2))
    pods = {order.name: _pods(order) for order in script.orders}
    model = Model({order.name: order for order in script.orders})
    world = World(plane, Desk(plane, NAMESPACE), replicas, model, Calls(pods), etcd, NODES)
    for node in NODES:
        add_node(world, node)
    for replica in replicas:
        stack.enter_context(replica.proxy)
        stack.callback(replica.kill)
        replica.start()
    for replica in replicas:
        wait_until(replica.process.is_ready)
    return world


def _pods(order: Order) -> int:
    return sum(
        order.spec[role].get("limits", order.spec[role]["replicas"])
        for role in ("ps", "worker", "heter")
        if role in order.spec
    )
