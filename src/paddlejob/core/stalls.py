"""Stalls: what holds up a job that has not ended, in words for a person.

`spec_stall` looks at the job itself, `stall` at the world around it: there the first cause in order of severity counts,
with how many pods share it. Stalls of elastic jobs alone stand in `rendezvous`, those by pods
that do not go in `remaining`.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from paddlejob.api import Job, reasons, rules
from paddlejob.core.children import Pod
from paddlejob.core.complaints import complaint_about
from paddlejob.core.environment import environment_key
from paddlejob.core.intranet import has_names, is_foreign
from paddlejob.core.observe import Observed, Refusal
from paddlejob.core.ports import ports_needed
from paddlejob.core.reserving import needs_ports

# What an API server with a v1beta1 CRD does not refuse, nor that of another operator.
RULES = (
    (rules.HAS_WORKERS, reasons.NO_WORKERS),
    (rules.HETER_WITH_SERVERS, reasons.NO_SERVERS),
    (rules.AT_MOST, reasons.TOO_MANY_PODS),
    (rules.NO_SAMPLE_SETS, reasons.SAMPLE_SET),
)


# The first pauses are short: it is told within two seconds.
TOLD_AFTER = 3


class Stall(msgspec.Struct, frozen=True):
    reason: str
    message: str


def stall(job: Job, observed: Observed) -> Stall | None:
    if observed.ports.full and needs_ports(job, observed):
        lack = (
            f"there are no {ports_needed(job)} free ports in a row in the operator's --port-range {observed.ports.full}"
        )
        return Stall(reasons.NO_PORTS, f"{lack}: the job continues when another job ends, or with a wider range")
    if refused := refusal_stall(observed.refusals):
        return refused
    if observed.taken:
        kind, name = min(observed.taken)
        return Stall(
            reasons.NAME_TAKEN,
            f"{kind} {name}: the name is taken by an object of another job: waiting until it is gone",
        )
    if not has_names(job) and observed.config_map is None:
        for slot in observed.slots:
            if slot.pod and is_foreign(job, slot.pod.status.pod_ip):
                return _foreign(slot.name, slot.pod.status.pod_ip)
    causes = [(slot.name, cause) for slot in observed.slots if slot.pod and (cause := _of_pod(job, observed, slot.pod))]
    if not causes:
        return None
    name, first_cause = causes[0]
    same = sum(cause.reason == first_cause.reason for _, cause in causes)
    return Stall(first_cause.reason, f"{same} of {len(observed.slots)} pods: {name}: {first_cause.message}")


def refusal_stall(refusals: Iterable[Refusal]) -> Stall | None:
    """By the first of them. What often passes by itself is told when it came a few times in a row."""
    told = [one for one in refusals if one.reason not in reasons.PASSING or one.times >= TOLD_AFTER]
    if not told:
        return None
    first, more = min(told, key=lambda one: (one.verb, one.kind, one.name)), len(told) - 1
    others = f" (and {more} more like it)" if more else ""
    return Stall(first.reason, f"{first.kind} {first.name}: {first.message}{others}")


def spec_stall(job: Job) -> Stall | None:
    """What in the job itself forbids to make anything for it: it could only train wrongly, or never end."""
    if job.status.adopted:
        return None  # others have made all that it needs
    for rule, reason in RULES:
        if not rule.holds(job.spec):
            return Stall(reason, rule.message)
    if not all(rules.ENDS.holds(role) for _, role in job.spec.roles):
        return Stall(reasons.NEVER_ENDS, rules.ENDS.message)
    return None


def _foreign(name: str, address: str) -> Stall:
    advice = "on a cluster that has IPv4 too, use intranet: Service, or let IPv4 be its first family"
    return Stall(
        reasons.IPV6_ADDRESS, f"{name} has the address {address}, and PaddlePaddle cannot connect by IPv6: {advice}"
    )


def _of_pod(job: Job, observed: Observed, pod: Pod) -> Stall | None:
    for condition in pod.status.conditions:
        if condition.type == "PodScheduled" and condition.status == "False":
            return Stall(condition.reason or reasons.UNSCHEDULABLE, condition.message)
    if pod.training.state.running or pod.training.state.terminated:
        return None  # what a sidecar waits for holds nothing up
    for container in pod.containers:
        waiting = container.state.waiting
        if waiting is None:
            continue
        if waiting.reason in reasons.IMAGE_STALLS:
            return Stall(reasons.IMAGE_PULL, f"container {container.name}: {waiting.message or waiting.reason}")
        if waiting.reason in reasons.CONTAINER_STALLS and not _waits_for_us(job, observed, waiting.message):
            return Stall(waiting.reason, f"container {container.name}: {waiting.message or waiting.reason}")
    if found := complaint_about(observed, pod):
        return Stall(found.reason, found.message)
    return None


def _waits_for_us(job: Job, observed: Observed, message: str) -> bool:
    """A pod without its environment yet is in good order: we write it when all addresses are known.

    When it is there, a kubelet needs a while to notice, be it that there was none, or that of the attempt before.
    """
    ours = (f'configmap "{job.metadata.name}" not found', f"couldn't find key {environment_key(job)} ")
    return observed.config_map is None or any(one in message for one in ours)
