"""Elastic jobs: workers come and go, one alone is replaced, and only the launcher's own word completes the job.

Exit 0 alone proves nothing: a worker that found no others exits 0 without having trained. What must outlive a restart
of the operator stands in `status.world`; a decision that is not written there yet is not acted upon.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Literal

import msgspec

from paddlejob.api import Failure, Job, RoleStatus, Status, World, reasons
from paddlejob.api.names import RoleName
from paddlejob.api.status import Phase
from paddlejob.core import counting, rendezvous
from paddlejob.core.actions import AskEtcd, Body, Delete, Plan, delete
from paddlejob.core.backoff import after_lost_pods, starts_at
from paddlejob.core.children import Pod, Terminated
from paddlejob.core.disruption import is_disrupted
from paddlejob.core.ending import Completed, Failed, describe, launched
from paddlejob.core.observe import Observed
from paddlejob.core.replace import MOST_AT_ONCE
from paddlejob.core.stalls import Stall
from paddlejob.core.times import after, moment, timestamp

# A worker that lost its peers may exit and come back in place; its trainer needs up to 32 s to stop.
POD_DEFAULTS: Body = {"restartPolicy": "OnFailure", "terminationGracePeriodSeconds": 60}
# The launchers agree among themselves who is who.
WITHHELD = frozenset({"PADDLE_TRAINER_ID", "TRAINER_ID", "RANK", "POD_INDEX", "PADDLE_CURRENT_ENDPOINT"})
environment = rendezvous.environment

# How a launcher ends that lost its peers (its trainer aborted or was stopped, it failed itself) or that was killed.
SURVIVORS = frozenset({1, 15, 137, 143, 241, 250})
# Of each worker, in each hour that has begun: enough for scaling every few minutes, and an end for a broken program.
COMEBACKS = 5
# After the first worker has completed, the others have so long to write what they still have.
LONGEST_FAREWELL = 600


def world(job: Job) -> World:
    """What is remembered of this attempt."""
    known = job.status.world
    return known if known and known.attempt == job.status.attempt else World(attempt=job.status.attempt)


def remember(job: Job, base: Status, observed: Observed, now: datetime) -> Status:
    """The status with what this look adds to the memory. A worker is counted before it is replaced, and only once."""
    known = world(job)
    if known.completed is None and _is_completed(job, observed):
        known = msgspec.structs.replace(known, completed=timestamp(now))
    if known.completed is not None:
        return msgspec.structs.replace(base, world=known, replacing=())
    workers = len(observed.of_role("worker"))
    if known.replicas != workers and _is_settled(observed):
        scalings = known.scalings + (known.replicas is not None)
        known = msgspec.structs.replace(known, replicas=workers, scalings=scalings)
    exited = list(_exited(job, observed))
    old = [pod for pod in exited if pod.metadata.uid in job.status.replacing]
    new = [pod for pod in exited if pod not in old][: MOST_AT_ONCE - len(old)]
    disrupted = [pod for pod in new if _is_disrupted(pod)]
    comebacks = sum(
        1 + pod.training.restart_count for pod in new if not (_is_disrupted(pod) or _is_excused(pod, observed))
    )
    noted = after_lost_pods(base, disrupted, observed.pods, now) if disrupted else base
    start = starts_at(noted)
    return msgspec.structs.replace(
        noted,
        world=msgspec.structs.replace(known, comebacks=known.comebacks + comebacks),
        disruptions=base.disruptions + len(disrupted),
        next_attempt_time=noted.next_attempt_time if start and start > now else None,
        replacing=tuple(pod.metadata.uid for pod in (*old, *new)),
    )


def judge(job: Job, status: Status, observed: Observed, now: datetime) -> Completed | Failed | None:
    known = status.world or World()
    if known.completed is not None:
        # Also those that nobody wants any more: they may still be writing, unless they were never started.
        runs = any(pod.state in ("running", "unknown") and not pod.deleting for pod in observed.pods)
        return None if runs and now < _farewell_ends(known) else Completed()
    if failure := next(_failures(observed), None):
        return Failed(failure)
    workers = [pod for pod in _workers(observed) if not pod.ended]
    comebacks = known.comebacks + sum(pod.training.restart_count for pod in workers)
    if comebacks <= _allowed(job, len(observed.of_role("worker")), now):
        return None
    text = f"workers exited {comebacks} times and never completed: do they run paddle.distributed.launch?"
    worst = max(_workers(observed), key=lambda pod: pod.training.restart_count, default=None)
    name, end = (worst.metadata.name, _last_end(worst)) if worst else (job.metadata.name, None)
    code = end.exit_code if end else None
    return Failed(Failure(pod=name, exit_code=code, reason=reasons.TOO_MANY_COMEBACKS, message=text))


def counts(_: Job, observed: Observed, role: RoleName) -> RoleStatus:
    """A worker that is gone is replaced: none is lost."""
    return counting.counts(slot.state for slot in observed.of_role(role))


def phase(job: Job, status: Status, observed: Observed) -> Phase:
    """Running while at least as many workers run as can train."""
    known = status.world or World()
    workers = observed.of_role("worker")
    if known.completed is not None:
        return "Running"
    if known.replicas not in (None, len(workers)):
        return "Scaling"
    states = [slot.state for slot in workers]
    if states.count("running") >= rendezvous.bounds(job)[0]:
        return "Running"
    return counting.phase(states, launched(job, observed))


def stall(job: Job, observed: Observed) -> Stall | None:
    return rendezvous.meeting_stall(job, observed.etcd) or rendezvous.etcd_stall(job, observed)


def reported(status: Status, stalled: bool) -> Status:
    """status.elastic: how the last change of the number of workers went."""
    word: Literal["NONE", "DOING", "DONE", "ERROR"] = "DONE" if status.world and status.world.scalings else "NONE"
    if status.phase == "Scaling":
        word = "DOING"
    return msgspec.structs.replace(status, elastic="ERROR" if stalled else word)


def asks(job: Job, observed: Observed, now: datetime) -> tuple[AskEtcd, ...]:
    if not _trains(job, observed):
        return ()
    exited = tuple(pod.metadata.uid for pod in _workers(observed) if pod.state == "succeeded")
    return rendezvous.ask(job, observed, exited, now)


def removes(job: Job, observed: Observed) -> tuple[Delete, ...]:
    if not _trains(job, observed):
        return ()
    above = (pod for pod in _surplus(observed) if not pod.deleting)
    return tuple(delete(pod) for pod in above)


def builds(job: Job, observed: Observed) -> bool:
    """Nothing is made after a worker has completed, nor before etcd has answered once: pods would only crash."""
    answer = rendezvous.last_answer(job, observed)
    return _trains(job, observed) and (bool(observed.pods) or (answer is not None and not answer.error))


def fills(job: Job, _: Observed, now: datetime) -> bool:
    """A lost worker is made again at once, but not one that is disrupted again and again."""
    start = starts_at(job.status)
    return start is None or now >= start


def wakes_at(job: Job, observed: Observed) -> datetime | None:
    known = world(job)
    return _farewell_ends(known) if known.completed is not None else rendezvous.next_question(job, observed)


def farewell(job: Job, status: Status, observed: Observed, now: datetime) -> Plan | None:
    """Remove the job's keys from etcd when no launcher is left that would write them again, and note it when done."""
    removal = rendezvous.forget(job, observed.etcd)
    over = world(job).forgotten or now >= rendezvous.forgetting_ends(job)
    if over or removal is None or rendezvous.meeting_stall(job, observed.etcd):
        return None
    wake_at = now + rendezvous.PAUSE_OF_FORGETTING
    if observed.etcd.forgotten:
        known = msgspec.structs.replace(world(job), forgotten=True)
        return Plan(status=msgspec.structs.replace(status, world=known), wake_at=wake_at)
    quiet = all(pod.ended for pod in observed.pods)
    return Plan(status=status, questions=(removal,) if quiet else (), wake_at=wake_at)


def _trains(job: Job, observed: Observed) -> bool:
    """Whether workers can meet, and none of them has completed yet."""
    return world(job).completed is None and rendezvous.meeting_stall(job, observed.etcd) is None


def _is_completed(job: Job, observed: Observed) -> bool:
    """Whether a worker has exited 0 and the launcher, asked afterwards, says that the training is completed."""
    answer = rendezvous.last_answer(job, observed)
    exited = {pod.metadata.uid for pod in _workers(observed) if pod.state == "succeeded"}
    return answer is not None and answer.value == rendezvous.COMPLETED and bool(exited & answer.exited)


def _is_settled(observed: Observed) -> bool:
    """Whether every wanted worker runs, and no other."""
    return all(slot.state == "running" for slot in observed.of_role("worker")) and not _surplus(observed)


def _is_disrupted(pod: Pod) -> bool:
    return pod.state == "failed" and is_disrupted(pod)


def _is_excused(pod: Pod, observed: Observed) -> bool:
    """Whether it waited in vain for a peer that has no node, and exited 0 as launchers do then."""
    return pod.state == "succeeded" and any(other.state == "pending" for other in _workers(observed))


def _exited(job: Job, observed: Observed) -> Iterator[Pod]:
    """Workers that are over while the training is not."""
    answer = rendezvous.last_answer(job, observed)
    judged = answer.exited if answer and not answer.error else frozenset()
    for pod in _workers(observed):
        if pod.state == "failed" or (pod.state == "succeeded" and pod.metadata.uid in judged):
            yield pod


def _failures(observed: Observed) -> Iterator[Failure]:
    """Workers whose program failed: with a code that no lost peer explains, now or before their kubelet's restart."""
    for pod in _workers(observed):
        if pod.state == "failed":
            found = describe(pod)
            if not is_disrupted(pod) and found.exit_code not in (None, *SURVIVORS):
                yield found
            continue
        end = _last_end(pod)
        if end is not None and end.exit_code and end.exit_code not in SURVIVORS:
            yield Failure(
                pod=pod.metadata.name,
                exit_code=end.exit_code,
                reason=end.reason or reasons.ERROR,
                message=end.message.strip(),
            )


def _surplus(observed: Observed) -> tuple[Pod, ...]:
    """Workers above the wanted number, the highest index first."""
    known = {slot.name for slot in observed.slots} | {pod.metadata.name for pod in observed.leftovers}
    above = [pod for pod in observed.pods if pod.metadata.name not in known]
    # Names differ in their index alone, so a longer one has a higher index.
    return tuple(sorted(above, key=lambda pod: (len(pod.metadata.name), pod.metadata.name), reverse=True))


def _workers(observed: Observed) -> Iterator[Pod]:
    return (slot.pod for slot in observed.of_role("worker") if slot.pod and not slot.pod.deleting)


def _last_end(pod: Pod) -> Terminated | None:
    """How its training container ended last, also if its kubelet has started it again."""
    return pod.training.state.terminated or pod.training.last_state.terminated


def _allowed(job: Job, workers: int, now: datetime) -> int:
    age = now - moment(job.status.start_time) if job.status.start_time else timedelta()
    return COMEBACKS * max(1, workers) * (1 + max(0, int(age / timedelta(hours=1))))


def _farewell_ends(known: World) -> datetime:
    return after(moment(known.completed or ""), LONGEST_FAREWELL)
