"""Random jobs, pods and worlds for properties: anything that the types let through, however odd.

Most values are of the right shape, so that deep branches are reached; the rest is arbitrary JSON.
"""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any, get_args

from hypothesis import strategies as st

from paddlejob.api import (
    Condition,
    Failure,
    HangPolicy,
    HangStatus,
    Job,
    Mark,
    NodeRecord,
    ObjectMeta,
    PaddleJobSpec,
    Progress,
    Role,
    RoleStatus,
    SchedulingPolicy,
    Status,
    Usage,
    World,
)
from paddlejob.api import names as n
from paddlejob.api.spec import CLEAN_POD_POLICIES, NETWORKS
from paddlejob.api.status import ConditionType, Phase
from paddlejob.core import ConfigMap, Listening, Pod, Reading, Refusal, Said, Scheduling, Service, Unread
from paddlejob.core.children import (
    Container,
    ContainerState,
    ContainerStatus,
    PodCondition,
    PodSpec,
    PodStatus,
    Terminated,
    Waiting,
)
from paddlejob.core.gang import GROUPS
from paddlejob.core.groups import GroupCondition, GroupStatus
from tests.builders import EARLIER, ETCD, NOW, UID, a_job, a_template, owner_reference

# `make quick` tries fewer.
EXAMPLES = int(os.environ.get("EXAMPLES", "200"))
ODD_WORDS = ["", "a", "paddle", "PADDLE_PORT", "POD_IP", "2380", "nvidia.com/gpu", "é"]
words = st.sampled_from(ODD_WORDS) | st.text(max_size=8)
scalars = st.none() | st.booleans() | st.integers(-(2**40), 2**40) | words
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=8
)
phases = st.sampled_from(get_args(Phase))
small = st.integers(-1, 5)


def sometimes(value: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Mostly of the right shape, at times anything."""
    return st.one_of(value, value, value, anything)


def fields(**values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional={name: sometimes(value) for name, value in values.items()})


quantities = st.dictionaries(words, scalars, max_size=2)
resources = fields(limits=quantities, requests=quantities, claims=st.lists(anything, max_size=1))
env = st.lists(sometimes(fields(name=words, value=words)), max_size=3)
containers = fields(name=words, image=words, env=env, envFrom=st.lists(anything, max_size=2), resources=resources)
texts = st.dictionaries(words, words, max_size=2)
templates = fields(
    metadata=fields(labels=texts, annotations=texts, finalizers=st.lists(words, max_size=1)),
    spec=fields(
        containers=st.lists(sometimes(containers), max_size=3),
        initContainers=st.lists(sometimes(containers), max_size=2),
        restartPolicy=words,
        schedulerName=st.sampled_from(["volcano", "default-scheduler", ""]),
        overhead=quantities,
    ),
)

bounds = st.none() | st.integers(1, 4)
roles = st.builds(
    Role, replicas=st.integers(0, 4), requests=bounds, limits=bounds, template=templates | st.just(a_template())
)
counts = st.builds(RoleStatus, running=small, succeeded=small, unknown=small, pending=small)
conditions = st.builds(
    Condition,
    type=st.sampled_from(get_args(ConditionType)),
    status=st.sampled_from(["True", "False", "Unknown"]),
    reason=words,
)
node_records = st.builds(
    NodeRecord,
    name=st.sampled_from(["node-1", "localhost", ""]),
    failures=st.integers(-1, 3),
    last_time=st.sampled_from([EARLIER, "2999-01-01T00:00:00Z", "soon"]),
    avoided_until=st.none() | st.sampled_from([EARLIER, "2999-01-01T00:00:00Z", "soon"]),
)
moments = st.sampled_from([EARLIER, "2999-01-01T00:00:00Z", "soon", ""])
progresses = st.builds(
    Progress,
    at=moments,
    summary=words,
    step=bounds,
    total=bounds,
    speed=st.none() | st.floats(0, 10),
    eta=st.none() | moments,
    attempt=st.integers(0, 1),
    begun=st.none() | st.builds(Mark, step=st.integers(0, 3), at=moments),
)
statuses = st.just(Status()) | st.builds(
    Status,
    phase=st.none() | phases,
    mode=st.none() | st.sampled_from(["PS", "Collective", "Single"]),
    ps=st.none() | counts,
    worker=st.none() | counts,
    start_time=st.none() | st.sampled_from([EARLIER, "9999-12-31T23:59:59Z", "long ago"]),
    completion_time=st.none() | st.sampled_from([EARLIER, "", "yesterday"]),
    next_attempt_time=st.none() | st.sampled_from([EARLIER, "2999-01-01T00:00:00Z", "soon"]),
    restarts=st.integers(0, 3),
    disruptions=st.integers(0, 3),
    disruptions_in_a_row=st.none() | st.integers(-1, 3),
    newest_pod_time=st.none() | st.sampled_from([EARLIER, "2999-01-01T00:00:00Z", "soon"]),
    launched=st.sampled_from([None, None, False, True]),
    attempt=st.integers(0, 1),
    succeeded_indexes=st.none() | st.sampled_from(["0", "0-1", "1,3", "0-99999", "3-1", "all"]),
    world=st.none()
    | st.builds(
        World,
        attempt=st.integers(0, 3),
        replicas=bounds,
        comebacks=st.integers(0, 30),
        completed=st.none() | st.just(EARLIER) | words,
    ),
    replacing=st.lists(words, max_size=2).map(tuple),
    hang=st.none()
    | st.builds(
        HangStatus,
        longest_pause=st.integers(-1, 100),
        attempt=st.integers(0, 1),
        since=st.none() | st.sampled_from([EARLIER, "2999-01-01T00:00:00Z", "soon"]),
        worker=st.sampled_from(["train-worker-0", ""]),
        line=words,
    ),
    hangs=st.integers(0, 1),
    usage=st.none()
    | st.builds(
        Usage,
        state=st.sampled_from([None, "waiting", "training"]),
        since=st.none() | st.sampled_from([EARLIER, "2999-01-01T00:00:00Z", "soon"]),
        amount=st.integers(-1, 3),
    ),
    nodes=st.lists(node_records, max_size=2).map(tuple),
    progress=st.none() | progresses,
    conditions=st.lists(conditions, max_size=3).map(tuple),
    reason=words,
    failure=st.none() | st.builds(Failure, pod=words),
)
policies = st.builds(
    SchedulingPolicy,
    min_available=bounds,
    queue=st.none() | words,
    priority_class=st.none() | words,
    min_resources=st.none() | st.dictionaries(words, words | st.integers(), max_size=2),
)
specs = st.builds(
    PaddleJobSpec,
    worker=st.none() | roles,
    ps=st.none() | roles,
    heter=st.none() | st.none() | roles,
    with_gloo=st.integers(0, 2),
    intranet=st.sampled_from([*NETWORKS, "HostNetwork", "PodIP", "Service"]),
    clean_pod_policy=st.none() | st.sampled_from(CLEAN_POD_POLICIES),
    elastic=st.none() | st.integers(0, 1),
    suspend=st.sampled_from([False, False, False, True]),
    backoff_limit=st.integers(0, 2),
    active_deadline_seconds=st.none() | st.integers(1, 2**62),
    starting_deadline_seconds=st.none() | st.integers(1, 2**62),
    ttl_seconds_after_finished=st.none() | st.integers(0, 2**62),
    scheduling_policy=st.none() | st.none() | policies,
    hang=st.none()
    | st.builds(
        HangPolicy, action=st.sampled_from(["Tell", "Restart"]), after_seconds=st.none() | st.integers(1, 2**31 - 1)
    ),
    managed_by=st.sampled_from([None, None, None, n.OPERATOR, "another"]),
)
jobs = st.builds(
    Job,
    metadata=st.builds(
        ObjectMeta,
        name=st.sampled_from(["train"] * 9 + ["Odd.Name"]),
        namespace=words,
        uid=st.sampled_from([UID] * 9 + [""]),
        generation=st.integers(0, 9),
        deletion_timestamp=st.sampled_from([None, None, None, EARLIER]),
        annotations=st.sampled_from(
            [
                {},
                {n.ANNOTATION_PORTS: "20000"},
                {n.ANNOTATION_PORTS: "soon"},
                {n.ANNOTATION_ETCD: ETCD},
                {n.ANNOTATION_ETCD: "etcd"},
                {f"{n.KUEUE_POD_SET}required-topology": "rack"},
            ]
        ),
        labels=st.sampled_from([{}, {}, {n.LABEL_QUEUE: "gold", n.LABEL_KUEUE_PRIORITY: "high"}]),
    ),
    spec=specs,
    status=statuses,
)

container_states = st.builds(
    ContainerState,
    waiting=st.none()
    | st.builds(Waiting, reason=words | st.sampled_from(["ErrImagePull", "CrashLoopBackOff"]), message=words),
    terminated=st.none()
    | st.builds(
        Terminated,
        exit_code=st.sampled_from([0, 0, 1, 137, 255]),
        reason=words,
        finished_at=st.none() | st.just(EARLIER) | words,
    ),
)
container_statuses = st.lists(
    st.builds(
        ContainerStatus,
        name=words,
        restart_count=st.integers(0, 9),
        state=container_states,
        last_state=container_states,
    ),
    max_size=2,
).map(tuple)
pod_conditions = st.builds(
    PodCondition,
    type=st.sampled_from(["PodScheduled", "Ready", "DisruptionTarget", "TerminationTarget"]),
    status=st.sampled_from(["True", "False"]),
    reason=words,
    last_transition_time=st.none() | st.sampled_from([EARLIER, "soon"]),
)
pod_statuses = st.builds(
    PodStatus,
    phase=st.sampled_from(["Pending", "Running", "Succeeded", "Failed", "Unknown", "", "Dreaming"]),
    reason=words,
    pod_ip=st.sampled_from(["", "10.0.0.1", "10.0.0.2", "fd00::1"]),
    conditions=st.lists(pod_conditions, max_size=2).map(tuple),
    init_container_statuses=container_statuses,
    container_statuses=container_statuses,
)


def metas(names: st.SearchStrategy[str]) -> st.SearchStrategy[ObjectMeta]:
    """Of an object of the job's, of another job's, or nobody's."""
    ours, theirs = ((owner_reference(a_job().with_uid(uid).build()),) for uid in (UID, "another"))
    return st.builds(
        ObjectMeta,
        name=names,
        uid=words,
        deletion_timestamp=st.sampled_from([None, None, EARLIER]),
        deletion_grace_period_seconds=st.sampled_from([None, 0, 30, 2**62]),
        creation_timestamp=st.none() | st.sampled_from([EARLIER, "2999-01-01T00:00:00Z", "soon"]),
        annotations=st.sampled_from([{}, {n.ANNOTATION_ENVIRONMENT: "old"}, {n.ANNOTATION_CONTAINER: "a"}]),
        labels=st.sampled_from([{}, {n.LABEL_ATTEMPT: "1"}]),
        owner_references=st.sampled_from([ours, ours, ours, theirs, ()]),
    )


pod_specs = st.builds(
    PodSpec,
    node_name=words,
    restart_policy=st.sampled_from(["Never", "OnFailure", "Always", ""]),
    containers=st.lists(st.builds(Container, name=words, restart_policy=st.none() | words), max_size=2).map(tuple),
)
places = st.sampled_from([n.pod_name("train", role, index) for role in n.ROLES for index in range(4)])
names = st.one_of(places, places, places, words)
pods = st.builds(Pod, metadata=metas(names), spec=pod_specs, status=pod_statuses)
services = st.builds(Service, metadata=metas(names))
config_maps = st.builds(ConfigMap, metadata=metas(st.just("train") | words))
group_statuses = st.builds(
    GroupStatus,
    phase=st.sampled_from(["", "Pending", "Inqueue", "Running", "Dreaming"]),
    conditions=st.lists(
        st.builds(
            GroupCondition,
            type=st.sampled_from(["Unschedulable", "PodGroupScheduled", "QuotaReserved", "Admitted"]),
            status=st.sampled_from(["True", "False"]),
            reason=words,
            message=words,
        ),
        max_size=2,
    ).map(tuple),
)
groups = st.sampled_from([*GROUPS.values()]).flatmap(
    lambda kind: st.builds(kind, metadata=metas(st.just("train") | words), status=group_statuses)
)
schedulings = st.builds(
    Scheduling,
    by=st.sampled_from(["none", "none", "volcano", "coscheduling", "kubernetes"]),
    local=st.sampled_from([False, False, True]),
    unread=st.dictionaries(
        st.sampled_from([kind.kind for kind in GROUPS.values()]), st.builds(Unread, words, words), max_size=2
    ),
)
seconds = st.integers(-(10**6), 10**6).map(lambda count: NOW + timedelta(seconds=count))
readings = st.builds(
    Reading,
    at=seconds,
    step=st.none() | st.integers(0, 10**15),
    total=st.none() | st.integers(0, 10**15),
    epoch=st.none() | st.integers(-1, 10**15),
    epochs=st.none() | st.integers(0, 10**15),
    loss=st.none() | st.floats(-1e15, 1e15),
    speed=st.none() | st.floats(0, 1e15),
    eta=st.none() | st.floats(0, 4e8),
)
saids = st.builds(
    Said, at=seconds, readings=st.lists(readings, max_size=4).map(tuple), last=st.booleans(), unreadable=words
)
listenings = st.builds(
    Listening, every=st.none() | st.sampled_from([timedelta(seconds=1), timedelta(seconds=15), timedelta(0)])
)
refusals = st.builds(
    Refusal,
    kind=st.sampled_from(["Pod", "Service", "ConfigMap"]),
    name=names,
    reason=words,
    message=words,
    retry_at=st.integers(-60, 60).map(lambda seconds: NOW + timedelta(seconds=seconds)),
)
children = st.tuples(
    st.lists(pods, max_size=6),
    st.lists(services, max_size=4),
    st.lists(st.one_of(config_maps, config_maps, groups), max_size=3),
    st.lists(refusals, max_size=2),
)


@st.composite
def runnable_jobs(draw: st.DrawFn) -> Job:
    """A job that the API server accepts and this release runs, just created."""
    job = a_job().with_workers(draw(st.integers(1, 3)))
    servers = draw(st.integers(0, 2))
    job = job.with_servers(servers) if servers else job
    job = job.with_heter(draw(st.integers(0, 2))) if servers else job
    job = job.by(draw(st.sampled_from(["PodIP", "Service", "Host"])))
    policy = SchedulingPolicy(min_available=draw(bounds))
    job = job.asking(scheduling_policy=policy if draw(st.booleans()) else None)
    job = job.labelled({n.LABEL_QUEUE: "gold"} if draw(st.integers(0, 4)) == 0 else {})
    job = job.asking(with_gloo=draw(st.integers(0, 1)), backoff_limit=draw(st.integers(0, 2)))
    return job.cleaning(draw(st.sampled_from(CLEAN_POD_POLICIES))).build()
