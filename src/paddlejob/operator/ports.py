"""Which ports of the hosts are whose: blocks in one range, chosen here and nowhere else, written on the jobs.

Knows the blocks of all jobs that are not over, and keeps each until the last pod that uses it has ended; nothing has to
be given back. Anybody may write anything on a pod: it counts only if it stands on the job that owns the pod
too, one block for each job. Whoever waits for a block is woken when one gets free.
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
        self._jobs = jobs
        self._pods = pods
        self._wake = wake
        self._of_jobs: dict[str, tuple[Block, tuple[str, str]]] = {}
        """By UID: the block, and how old the job is."""
        self._of_pods: dict[str, tuple[Block, set[Key]]] = {}
        """By the UID of the job: the block that its pods use, and those that still do."""
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
        if not self._is_there(job.metadata.uid, key_of(job)):
            return None  # deleted while it waited for its turn: nobody would ever free what it chose
        block = self._free(job)
        if block is None:
            self._wake(key_of(job), 0.0)
            return None
        self._chosen[job.metadata.uid] = block
        return block

    def _free(self, job: Job) -> Block | None:
        uid, size = job.metadata.uid, ports_needed(job)
        taken = [block for other, (block, _) in self._of_jobs.items() if other != uid]
        taken += [block for block, _ in self._of_pods.values()]
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
        used = any(owner != job.metadata.uid and block.overlaps(other) for owner, (other, _) in self._of_pods.items())
        return used or any(older < age and block.overlaps(other) for other, older in self._of_jobs.values())

    def _job_changed(self, change: Change[Job]) -> None:
        if change.after is not None and (change.before is None or _same(change.before, change.after)):
            self._learn(change.after)
        elif change.before is not None:
            self._forget(change.before.metadata.uid)
            if change.after is not None:
                self._learn(change.after)
        if change.after is not None and (change.before is None or block_of(change.before) != block_of(change.after)):
            for pod in self._pods.owned_by(change.after.metadata.uid):
                self._count(pod)

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
        before, after = change.before, change.after
        if before is not None and (after is None or after.finished or before.metadata.uid != after.metadata.uid):
            self._release(before)
        if after is not None:
            self._count(after)

    def _count(self, pod: Pod) -> None:
        """Note that a pod uses the block of its job, if that is what stands on both."""
        text = pod.metadata.annotations.get(ANNOTATION_PORTS)
        uid = pod.metadata.controller_uid
        if uid is None or text is None or pod.finished:
            return
        if uid not in self._of_pods and (block := self._block_of_owner(pod)) is not None and text == str(block):
            self._of_pods[uid] = (block, set())
        block, users = self._of_pods.get(uid, (None, set()))
        if text == str(block):
            users.add(key_of(pod))

    def _release(self, pod: Pod) -> None:
        uid = pod.metadata.controller_uid or ""
        if uid not in self._of_pods:
            return
        _, users = self._of_pods[uid]
        users.discard(key_of(pod))
        if not users:
            del self._of_pods[uid]
            self._tell_waiting()

    def _block_of_owner(self, pod: Pod) -> Block | None:
        for owner in pod.metadata.owner_references:
            key = (pod.metadata.namespace, owner.name)
            if owner.controller and self._is_there(owner.uid, key):
                job = self._jobs.get(key)
                return block_of(job) if job and job.spec.network == "Host" else None
        return None

    def _is_there(self, uid: str, key: Key) -> bool:
        job = self._jobs.get(key)
        return job is not None and job.metadata.uid == uid

    def _tell_waiting(self) -> None:
        waiting, self._waiting = self._waiting, set()
        for key in waiting:
            self._wake(key, 0.0)


def _same(one: Job, other: Job) -> bool:
    return one.metadata.uid == other.metadata.uid
