"""Which ports of the hosts are whose: blocks in one range, chosen here and nowhere else, written on the jobs.

Knows the blocks of all jobs that are not over and of all pods that are not; so a block is free again when the last pod
that used it has ended, and nothing has to be given back. Whoever waits for a block is woken when one gets free.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from paddlejob.api import Job
from paddlejob.api.names import ANNOTATION_PORTS
from paddlejob.core import Pod
from paddlejob.core.observe import Ports
from paddlejob.core.ports import LAST_PORT, Block, block_of, ports_needed
from paddlejob.kube.objects import Key, key_of
from paddlejob.kube.store import Change, Store


class BadRange(ValueError):
    """A port range that nobody can use."""


@dataclass(frozen=True, slots=True)
class PortRange:
    """From `low` up to, but not including, `high`."""

    low: int
    high: int

    @classmethod
    def parse(cls, text: str) -> PortRange:
        low, comma, high = text.partition(",")
        if not comma or not (low.isascii() and low.isdigit() and high.isascii() and high.isdigit()):
            raise BadRange(f"'{text}' is not a port range: write LOW,HIGH, for instance {DEFAULT_RANGE}")
        if not 1024 <= int(low) < int(high) <= LAST_PORT + 1:
            raise BadRange(
                f"'{text}' is not a port range: LOW must be 1024 or more, HIGH {LAST_PORT + 1} or less, LOW below HIGH"
            )
        return cls(int(low), int(high))

    def __str__(self) -> str:
        return f"{self.low},{self.high}"


# Below the ports that Linux gives to outgoing connections (32768 and up), where a stranger may have any port for a
# while, and below those of NodePort services (30000 and up).
DEFAULT_RANGE = PortRange(20000, 30000)


class PortBlocks:
    def __init__(
        self, within: PortRange, jobs: Store[Job], pods: Store[Pod], wake: Callable[[Key, float], None]
    ) -> None:
        self._within = within
        self._wake = wake
        self._of_jobs: dict[str, tuple[Block, tuple[str, str]]] = {}
        """By UID: the block, and how old the job is."""
        self._of_pods: dict[Key, tuple[Block, str | None]] = {}
        """The block, and the UID of the job."""
        # Chosen and perhaps written, but not seen on the job yet. An answer that got lost leaves it here: the next try
        # writes the same, and nobody else gets it meanwhile.
        self._chosen: dict[str, Block] = {}
        self._waiting: set[Key] = set()
        jobs.subscribe(self._job_changed)
        pods.subscribe(self._pod_changed)

    def seen_by(self, job: Job) -> Ports:
        """What the job's plan has to know."""
        if job.spec.network != "Host" or job.status.finished:
            return Ports()
        disputed = self._is_disputed(job)
        if block_of(job) is not None and not disputed:
            return Ports()
        if self._free(job) is None:
            self._waiting.add(key_of(job))
            return Ports(full=str(self._within), disputed=disputed)
        return Ports(disputed=disputed)

    def choose(self, job: Job) -> Block | None:
        """A free block, from now on this job's. None: there is none, and the job is woken to say so."""
        # No await in here: two jobs can never choose the same.
        block = self._free(job)
        if block is None:
            self._wake(key_of(job), 0.0)
            return None
        self._chosen[job.metadata.uid] = block
        return block

    def _free(self, job: Job) -> Block | None:
        uid, size = job.metadata.uid, ports_needed(job)
        taken = [block for other, (block, _) in self._of_jobs.items() if other != uid]
        taken += {block for block, _ in self._of_pods.values()}
        taken += [block for other, block in self._chosen.items() if other != uid]
        chosen = self._chosen.get(uid)
        # While another led, it may have given away what we had chosen.
        if chosen is not None and not any(chosen.overlaps(block) for block in taken):
            return chosen
        first = self._within.low
        for block in sorted(taken, key=lambda block: block.first):
            if block.first >= first + size:
                break
            first = max(first, block.last + 1)
        return Block(first, first + size - 1) if first + size <= self._within.high else None

    def _is_disputed(self, job: Job) -> bool:
        own = self._of_jobs.get(job.metadata.uid)
        if own is None:
            return False
        block, age = own
        used = any(owner != job.metadata.uid and block.overlaps(other) for other, owner in self._of_pods.values())
        return used or any(older < age and block.overlaps(other) for other, older in self._of_jobs.values())

    def _job_changed(self, change: Change[Job]) -> None:
        if change.after is not None and (change.before is None or _same(change.before, change.after)):
            self._learn(change.after)
        elif change.before is not None:
            self._forget(change.before.metadata.uid)
            if change.after is not None:
                self._learn(change.after)

    def _learn(self, job: Job) -> None:
        uid, block = job.metadata.uid, block_of(job)
        if job.spec.network != "Host":
            return
        if job.status.finished:
            self._forget(uid)
        elif block is not None:
            before, _ = self._of_jobs.get(uid, (None, None))
            self._of_jobs[uid] = (block, (job.metadata.creation_timestamp or "", uid))
            if block != before:  # what we had chosen, or what another chose since
                self._chosen.pop(uid, None)
            self._waiting.discard(key_of(job))

    def _forget(self, uid: str) -> None:
        held = self._of_jobs.pop(uid, None)
        if self._chosen.pop(uid, None) or held:
            self._tell_waiting()

    def _pod_changed(self, change: Change[Pod]) -> None:
        pod = change.after or change.before
        assert pod is not None, "a change has two sides, and one of them is something"
        block = None if change.after is None or pod.finished else _block_on(pod)
        if block is not None:
            self._of_pods[key_of(pod)] = (block, pod.metadata.controller_uid)
        elif self._of_pods.pop(key_of(pod), None):
            self._tell_waiting()

    def _tell_waiting(self) -> None:
        waiting, self._waiting = self._waiting, set()
        for key in waiting:
            self._wake(key, 0.0)


def _same(one: Job, other: Job) -> bool:
    return one.metadata.uid == other.metadata.uid


def _block_on(pod: Pod) -> Block | None:
    first, _, last = pod.metadata.annotations.get(ANNOTATION_PORTS, "").partition("-")
    numbers = [int(text) for text in (first, last) if text.isascii() and text.isdigit()]
    return Block(*numbers) if len(numbers) == 2 else None
