"""A world in memory: it does what a plan asks, as an API server would, and lets pods live as kubelets would.

Creates get a UID, a taken name or a body that does not fit is refused, deletes are graceful for what runs. Every step
is safe to ask for at any time: one that does not apply changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

import msgspec
from msgspec.structs import replace

from paddlejob.api import Job, ObjectMeta
from paddlejob.api.names import ANNOTATION_PORTS, LABEL_ATTEMPT
from paddlejob.core import (
    KINDS,
    Answer,
    AskEtcd,
    Child,
    Create,
    Delete,
    Etcd,
    ForgetEtcd,
    JobEvent,
    Observed,
    Plan,
    Pod,
    Question,
    Refusal,
    Scheduling,
    Touch,
    Update,
    observe,
    plan,
)
from paddlejob.core.children import KindName
from paddlejob.core.config_maps import CONFIG_MAPS
from paddlejob.core.groups import Group
from paddlejob.core.kinds import BY_NAME, GROUP_KINDS
from paddlejob.core.observe import Ports
from paddlejob.core.pods import PODS
from paddlejob.core.times import timestamp
from tests.builders import NOW, PodBuilder

RETRY = timedelta(seconds=30)
# After a refusal pods go ahead one by one, and the largest of our jobs has a dozen.
MOST_TURNS = 16
# As many as an operator reserves unless it is told otherwise.
MOST_PORTS = 10_000


class World:
    def __init__(self, job: Job, children: Iterable[Child] = (), refusals: Iterable[Refusal] = ()) -> None:
        self.job = job
        self.now = NOW
        self.children: dict[KindName, dict[str, Any]] = {kind.name: {} for kind in KINDS}
        for one in children:
            self.children[one.kind][one.metadata.name] = one
        self.pods: dict[str, Pod] = self.children[PODS.name]
        self.environment: dict[str, str] = {}
        self.refusals = {(one.kind, one.name): one for one in refusals}
        self.events: list[JobEvent] = []
        self.trained: set[str] = set()
        self.harmed: set[str] = set()
        self.failures = 0
        self.etcd = Etcd()
        self.ports = Ports()
        self.scheduling = Scheduling()
        self.room = True  # whether a scheduler admits every gang
        self.launcher = ""  # what the launchers of an elastic job have written last
        self._count = 0

    def seen(self) -> Observed:
        children = [one for found in self.children.values() for one in found.values()]
        seen = observe(self.job, children, self.refusals.values(), self.etcd, self.ports)
        return replace(seen, scheduling=self.scheduling)

    def plan(self) -> Plan:
        return plan(self.job, self.seen(), self.now)

    def apply(self, made: Plan) -> None:
        for action in made.actions:
            match action:
                case Create():
                    self._create(action)
                case Delete():
                    self._delete(action)
                case Touch():
                    self._touch(action)
                case Update():
                    self._update(action)
        for question in made.questions:
            self._answer(question)
        self.events += made.events
        if made.expired:
            self.remove()
        if made.ports > MOST_PORTS:
            self.ports = Ports(full=f"20000,{20000 + MOST_PORTS}")
        elif made.ports:
            annotations = {**self.job.metadata.annotations, ANNOTATION_PORTS: "20000"}
            self.job = replace(self.job, metadata=replace(self.job.metadata, annotations=annotations))
        self.job = replace(self.job, status=made.status)

    def _answer(self, question: Question) -> None:
        match question:
            case AskEtcd():
                answer = Answer(question.id, self.now, self.launcher, frozenset(question.exited))
                self.etcd = replace(self.etcd, answer=answer)
            case ForgetEtcd():
                self.etcd = replace(self.etcd, forgotten=True)

    def wait(self) -> None:
        """Time goes on to the moment at which the plan asks to be looked at again."""
        self.now = self.plan().wake_at or self.now

    def run(self) -> None:
        """Turn, and let every pod start that may."""
        for _ in range(6):
            self.turn()
            for name in self.pods:
                self.place(name)
                self.start(name)
        self.settle()

    def ask(self, **spec: Any) -> None:
        """Somebody changes the spec."""
        meta = replace(self.job.metadata, generation=self.job.metadata.generation + 1)
        self.job = replace(self.job, metadata=meta, spec=replace(self.job.spec, **spec))

    def remove(self) -> None:
        """Somebody deletes the job."""
        self.job = replace(self.job, metadata=replace(self.job.metadata, deletion_timestamp=timestamp(self.now)))

    def empty(self) -> None:
        """All pods that are being deleted are gone."""
        for name in sorted(self.pods):
            self.reap(name)

    def turn(self) -> Plan:
        """One turn of the operator's loop."""
        made = self.plan()
        self.apply(made)
        return made

    def settle(self) -> list[Plan]:
        """Turn until nothing is asked and nothing new is said; the plans up to there."""
        turns = []
        for _ in range(MOST_TURNS):
            before = self.job.status
            turns.append(self.turn())
            if not asks(turns[-1]) and self.job.status == before:
                return turns
        raise AssertionError(f"not settled after {MOST_TURNS} turns: {turns[-1]}")

    def admit(self) -> None:
        """The scheduler has room for every gang."""
        self.room = True
        for kind in GROUP_KINDS:
            self.children[kind.name] = {name: _admitted(one) for name, one in self.children[kind.name].items()}

    # What nodes, programs and people do to a pod.

    def place(self, name: str) -> None:
        """Also one whose template names its node: it has no address yet."""

        def applies(pod: Pod) -> bool:
            return pod.state == "pending" or (pod.state == "starting" and not pod.status.pod_ip)

        self._change(name, applies, lambda pod: pod.with_address(self._address()))

    def start(self, name: str) -> None:
        """A container starts only when the environment of its attempt is there."""
        config_map = self.children[CONFIG_MAPS.name].get(self.job.metadata.name)
        if config_map and name in self.pods and attempt_of(config_map) == attempt_of(self.pods[name]):
            self._change(name, lambda pod: pod.state == "starting" and not pod.deleting, PodBuilder.running)

    def move(self, name: str) -> None:
        """Its kubelet makes its sandbox anew."""
        self._change(name, lambda pod: bool(pod.status.pod_ip) and not pod.finished, self._elsewhere)

    def _elsewhere(self, pod: PodBuilder) -> PodBuilder:
        return PodBuilder(replace(pod.pod, status=replace(pod.pod.status, pod_ip=self._address())))

    def succeed(self, name: str) -> None:
        if self._change(name, lambda pod: pod.state == "running", PodBuilder.succeeded):
            self.trained.add(name)

    def complete(self, name: str) -> None:
        """An elastic worker has trained to the end, and its launcher says so before it exits."""
        if name in self.pods and self.pods[name].state == "running" and not self.pods[name].deleting:
            self.launcher = "completed"
            self.succeed(name)

    def fail(self, name: str) -> None:
        if self._harm(name, lambda pod: pod.state == "running", PodBuilder.failed):
            self.failures += 1

    def evict(self, name: str) -> None:
        self._harm(name, lambda pod: not pod.finished, PodBuilder.evicted)

    def delete(self, name: str) -> None:
        self._harm(name, lambda pod: not pod.deleting, PodBuilder.deleting)

    def reap(self, name: str) -> None:
        if name in self.pods and self.pods[name].deleting:
            del self.pods[name]

    def lose(self, name: str) -> None:
        self.delete(name)
        self.reap(name)

    def _harm(self, name: str, applies: Callable[[Pod], bool], how: Callable[[PodBuilder], PodBuilder]) -> bool:
        unfinished = name in self.pods and not self.pods[name].finished
        if not (self._change(name, applies, how) and unfinished):
            return False
        self.harmed.add(name)
        return True

    def _change(self, name: str, applies: Callable[[Pod], bool], how: Callable[[PodBuilder], PodBuilder]) -> bool:
        pod = self.pods.get(name)
        if pod is None or not applies(pod):
            return False
        self.pods[name] = how(PodBuilder(pod)).build()
        return True

    # What an API server does.

    def _create(self, action: Create) -> None:
        try:
            self._store(action)
        except msgspec.ValidationError as error:
            self._refuse(action.kind, action.name, "Invalid", str(error))

    def _update(self, action: Update) -> None:
        there = self.children[action.kind]
        if action.name not in there or there[action.name].metadata.uid != action.uid:
            return
        made = msgspec.convert(action.body, BY_NAME[action.kind].type)
        there[action.name] = replace(made, metadata=replace(made.metadata, uid=action.uid))
        self.environment = action.body.get("data", self.environment)
        self.refusals.pop((action.kind, action.name), None)

    def _store(self, action: Create) -> None:
        there = self.children[action.kind]
        made = msgspec.json.decode(msgspec.json.encode(action.body), type=BY_NAME[action.kind].type)
        if action.name in there:
            if there[action.name].metadata.controller_uid != made.metadata.controller_uid:
                self._refuse(action.kind, action.name, "NameTaken", "it belongs to someone else")
            return
        self._count += 1
        meta = replace(made.metadata, uid=f"uid-{self._count}", creation_timestamp=timestamp(self.now))
        there[action.name] = replace(made, metadata=meta)
        if isinstance(made, Group) and self.room:
            there[action.name] = _admitted(there[action.name])
        self.environment = action.body.get("data", self.environment)
        self.refusals.pop((action.kind, action.name), None)

    def _refuse(self, kind: KindName, name: str, reason: str, message: str) -> None:
        self.refusals[kind, name] = Refusal(kind, name, reason, message, self.now + RETRY)

    def _delete(self, action: Delete) -> None:
        there = self.children[action.kind]
        if action.name not in there or there[action.name].metadata.uid != action.uid:
            return
        if there is self.pods and self.pods[action.name].state == "running":
            self.pods[action.name] = PodBuilder(self.pods[action.name]).deleting().build()
        else:
            del there[action.name]

    def _touch(self, action: Touch) -> None:
        pod = self.pods[action.name]
        meta: ObjectMeta = replace(
            pod.metadata, annotations={**pod.metadata.annotations, action.annotation: action.value}
        )
        self.pods[action.name] = replace(pod, metadata=meta)

    def _address(self) -> str:
        self._count += 1
        return f"10.0.{self._count // 256}.{self._count % 256}"


def _admitted(group: Group) -> Group:
    return replace(group, status=replace(group.status, phase="Inqueue"))


def asks(made: Plan) -> bool:
    """Whether it asks anybody for anything."""
    return bool(made.events or made.actions or made.questions or made.ports or made.expired)


def cut(made: Plan, done: int) -> Plan:
    """What comes of a plan if the operator dies after so many calls."""
    acted = max(0, done - len(made.events))
    asked = max(0, acted - len(made.actions))
    return replace(
        made,
        events=made.events[:done],
        actions=made.actions[:acted],
        questions=made.questions[:asked],
        ports=made.ports if acted else 0,
        expired=made.expired and acted > 0,
    )


def attempt_of(child: Child) -> int:
    return int(child.metadata.labels.get(LABEL_ATTEMPT, "0"))
