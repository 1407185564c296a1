"""Nodes on which pods of a job failed, hung or were disrupted, and which of them the next attempt avoids.

Only what pods tell is known: which nodes there are besides, and what is free on them, is the scheduler's business. So a
node is avoided by preference, never by demand: where nothing else is free, the job still runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Literal

import msgspec

from paddlejob.api import Job, NodeRecord, Status, reasons
from paddlejob.core.actions import Body, JobEvent
from paddlejob.core.children import Pod
from paddlejob.core.disruption import is_of_its_node
from paddlejob.core.observe import Observed
from paddlejob.core.template import mapping
from paddlejob.core.times import LONG_AGO, after, moment, timestamp

Trouble = Literal["failures", "hangs", "disruptions"]

# Twice on the same node is no longer chance.
ENOUGH = 2
# As long nothing happened on a node, what happened before is forgotten: somebody may have repaired it.
COOL_DOWN = 24 * 3600
# The status does not grow with the cluster: the nodes that were last in trouble are remembered.
MOST_NODES = 8
# The most that one preference can weigh.
WEIGHT = 100
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def with_nodes(job: Job, status: Status, observed: Observed, now: datetime) -> Status:
    """The status that names the nodes of what is newly counted in it."""
    if observed.scheduling.local:
        return status
    nodes = status.nodes
    for trouble, pods in _newly_counted(job, status, observed):
        nodes = _noted(nodes, trouble, pods, now)
    return msgspec.structs.replace(status, nodes=nodes)


def avoided(status: Status, now: datetime) -> tuple[str, ...]:
    return tuple(node.name for node in status.nodes if node.avoided_until and now < moment(node.avoided_until))


def with_preference(spec: Body, nodes: tuple[str, ...]) -> Body:
    """A pod's spec that prefers all other nodes, beside what it prefers and demands already."""
    if not nodes:
        return spec
    # By name, not by label: a node may call itself otherwise. One term for all, so that none weighs less than another.
    others = [{"key": "metadata.name", "operator": "NotIn", "values": [name]} for name in nodes]
    affinity = mapping(spec.get("affinity"))
    of_nodes = mapping(affinity.get("nodeAffinity"))
    before = of_nodes.get(_PREFERRED)
    preferred = [
        *(before if isinstance(before, list) else []),
        {"weight": WEIGHT, "preference": {"matchFields": others}},
    ]
    return {**spec, "affinity": {**affinity, "nodeAffinity": {**of_nodes, _PREFERRED: preferred}}}


def avoiding_event(before: Status, written: Status, number: int) -> Iterator[JobEvent]:
    """`number` tells this restart from the others."""
    known = {node.name for node in before.nodes if node.avoided_until}
    found = [node for node in written.nodes if node.avoided_until and node.name not in known]
    if found:
        told = "; ".join(f"{node.name} ({_counts(node)}) until {node.avoided_until}" for node in found)
        yield JobEvent("Warning", reasons.NODE_AVOIDED, f"new pods avoid, where another is free, node {told}", number)


def _newly_counted(job: Job, status: Status, observed: Observed) -> Iterator[tuple[Trouble, Iterable[Pod]]]:
    """What this look adds to the counts of the status, and the pods at whose nodes it happened."""
    before, failure = job.status, status.failure
    # A deadline passes whatever failed earlier; and that workers came back too often is no node's doing.
    ended = status.phase == "Failed" and failure is not None and status.reason == failure.reason
    if failure and (ended or status.restarts > before.restarts) and failure.reason != reasons.TOO_MANY_COMEBACKS:
        yield "failures", (pod for pod in observed.pods if pod.metadata.name == failure.pod)
    if failure and status.hangs > before.hangs:
        yield "hangs", (pod for pod in observed.pods if pod.metadata.name == failure.pod)
    if status.disruptions > before.disruptions:
        yield "disruptions", (slot.pod for slot in observed.slots if slot.pod and is_of_its_node(slot.pod))


def _noted(
    nodes: tuple[NodeRecord, ...], trouble: Trouble, pods: Iterable[Pod], now: datetime
) -> tuple[NodeRecord, ...]:
    newest: dict[str, datetime] = {}
    for pod in pods:
        if name := pod.spec.node_name:
            newest[name] = max(newest.get(name, LONG_AGO), moment(pod.metadata.creation_timestamp or ""))
    known = {node.name: node for node in nodes}
    for name, made in newest.items():
        known[name] = _counted(known.get(name), name, trouble, made, now)
    latest = sorted(known.values(), key=lambda node: node.last_time, reverse=True)
    return tuple(latest[:MOST_NODES])


def _counted(known: NodeRecord | None, name: str, trouble: Trouble, made: datetime, now: datetime) -> NodeRecord:
    """Once for all pods that were there together: those which were made before the last trouble belong to it."""
    last = moment(known.last_time) if known else LONG_AGO
    if known is None or now >= after(last, COOL_DOWN):
        known = NodeRecord(name=name)
    elif made < last:
        return known
    count = getattr(known, trouble) + 1
    noted: NodeRecord = msgspec.structs.replace(known, **{trouble: count}, last_time=timestamp(now))
    if noted.total < ENOUGH:
        return noted
    return msgspec.structs.replace(noted, avoided_until=timestamp(after(now, COOL_DOWN)))


def _counts(node: NodeRecord) -> str:
    counted = {"failures": node.failures, "hangs": node.hangs, "disruptions": node.disruptions}
    return ", ".join(f"{word}: {count}" for word, count in counted.items() if count)
