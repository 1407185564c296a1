"""`paddlejob plan`: every object that a job would become, without a cluster: the operator's plan, with imagined pods.

What only a cluster knows (the UID, addresses in PodIP mode, an operator's etcd) is shown as a placeholder.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from cyclopts import Parameter

from paddlejob.api import Job, ObjectMeta
from paddlejob.api.mistakes import job_of
from paddlejob.api.names import ANNOTATION_PORTS
from paddlejob.cli.documents import jobs_in, read_objects
from paddlejob.cli.errors import BadUse
from paddlejob.cli.output import Cell, columns, console, show, show_objects
from paddlejob.core import Answer, Child, Create, Etcd, Plan, Scheduling, observe, plan
from paddlejob.core.gang import gang_of
from paddlejob.core.groups import Group, GroupStatus
from paddlejob.core.kinds import BY_NAME
from paddlejob.core.managed import is_ours
from paddlejob.core.pods import PODS
from paddlejob.core.rendezvous import meeting_id
from paddlejob.operator.options import SchedulingFlag
from paddlejob.operator.ports import DEFAULT_RANGE
from paddlejob.places.words import as_yaml

UID = "00000000-0000-0000-0000-000000000000"

Json = dict[str, Any]


def plan_file(
    file: Annotated[Path, Parameter(allow_leading_hyphen=True, help="A YAML file; - reads standard input.")],
    /,
    *,
    namespace: Annotated[str | None, Parameter(alias="-n", help="Namespace of the objects.")] = None,
    output: Annotated[
        Literal["yaml", "json", "name", "summary"], Parameter(alias="-o", help="Output format.")
    ] = "yaml",
    scheduling: Annotated[SchedulingFlag, Parameter(help="What the operator is told with --scheduling.")] = "none",
) -> None:
    """Print the objects that a job would create on a cluster. Needs no cluster.

    Example: paddlejob plan examples/wide_and_deep/job.yaml
    """
    jobs = jobs_in(read_objects(file), file)
    made = [one for job in jobs for one in becomes(_job(job, namespace), scheduling)]
    match output:
        case "yaml":
            print(as_yaml(*made), end="")
        case "summary":
            for line in _summary(made):
                show(line, console())
        case _:
            show_objects(made, output)


def becomes(job: Job, scheduling: SchedulingFlag = "none") -> list[Json]:
    """The objects in the order in which they would be made."""
    if not is_ours(job):
        raise BadUse(f"{job.metadata.name}: nothing would be created: {job.spec.managed_by} runs it (spec.managedBy)")
    by = Scheduling(by=scheduling)
    made: list[Json] = []
    there: list[Child] = [*_lent(job, by)]
    turn = _next(job, there, by)
    if turn.ports:
        job = with_ports(job)
        turn = _next(job, there, by)
    while turn.creates:  # what is there is not created again, so this ends
        made += [one.body for one in turn.creates]
        there += [_there(one) for one in turn.creates]
        job = msgspec.structs.replace(job, status=turn.status)
        turn = _next(job, there, by)
    if not made:
        status = turn.status
        raise BadUse(f"{job.metadata.name}: nothing would be created: {status.reason}: {status.message}")
    return made


def with_ports(job: Job) -> Job:
    """With the block of ports that the first job on an empty cluster would get."""
    first = str(DEFAULT_RANGE.low)
    meta = msgspec.structs.replace(job.metadata, annotations={**job.metadata.annotations, ANNOTATION_PORTS: first})
    return msgspec.structs.replace(job, metadata=meta)


def _next(job: Job, there: list[Child], scheduling: Scheduling) -> Plan:
    """The next plan, when all that was made is there and placed, and the operator knows an etcd, which answers."""
    etcd = Etcd("0.0.0.0:2379", Answer(meeting_id(job), _now()))
    seen = observe(job, there, etcd=etcd)
    return plan(job, msgspec.structs.replace(seen, scheduling=scheduling), _now())


def _lent(job: Job, scheduling: Scheduling) -> Iterator[Group]:
    """The group that the job's user has to make."""
    gang = gang_of(job, scheduling)
    if gang is not None and not gang.made:
        meta = ObjectMeta(name=job.metadata.name, namespace=job.metadata.namespace)
        yield gang.group(metadata=meta, status=GroupStatus(phase="Inqueue"))


def _there(made: Create) -> Child:
    kind, name, body = BY_NAME[made.kind], made.name, made.body
    if issubclass(kind.type, Group):
        body = {**body, "status": {"phase": "Inqueue"}}
    if kind is PODS:
        status = {"phase": "Pending", "podIP": f"<address of {name}>"}
        body = {**body, "spec": {"nodeName": f"<node of {name}>"}, "status": status}
    there: Child = msgspec.convert(body, kind.type)
    return there


def _job(document: Json, namespace: str | None) -> Job:
    job = job_of(document)
    into = namespace or job.metadata.namespace or "default"
    meta = msgspec.structs.replace(job.metadata, namespace=into, uid=UID, generation=1)
    return msgspec.structs.replace(job, metadata=meta)


def _summary(made: list[Json]) -> Iterator[Any]:
    rows: list[list[Cell]] = [[one["kind"], one["metadata"]["name"]] for one in made]
    yield columns([["KIND", "NAME"], *rows])
    for one in made:
        if one["kind"] == "ConfigMap":
            yield ""
            yield f"The environment of every pod (ConfigMap {one['metadata']['name']}):"
            yield columns([[f"  {key}", value] for key, value in one["data"].items()])


def _now() -> datetime:
    return datetime.now(timezone.utc)
