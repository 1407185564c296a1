"""What a gang waits for is said in its scheduler's own words, and pods are made when they may be."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from paddlejob.api import Job, SchedulingPolicy
from paddlejob.api import names as n
from paddlejob.core import Child, Complaint, Plan, Scheduling, Unread, observe, plan
from paddlejob.core.gang import kueue_group
from paddlejob.core.groups import (
    CoschedulingPodGroup,
    GroupCondition,
    GroupStatus,
    KubernetesPodGroup,
    VolcanoPodGroup,
    Workload,
)
from tests.builders import (
    NOW,
    NOW_TEXT,
    JobBuilder,
    a_job,
    a_pod,
    a_ps_job,
    a_template,
    a_volcano_group,
    an_elastic_job,
)

GANG = a_job().with_workers(2).asking(scheduling_policy=SchedulingPolicy())
BY_NAME = a_job().with_workers(2, a_template({"schedulerName": "volcano"}))
QUEUED = a_job().with_workers(2).labelled({n.LABEL_QUEUE: "gold"})
MISSING = Unread("SchedulerMissing", "no PodGroups here")


def look(job: JobBuilder, *children: Child, seconds: float = 0, said: str | None = None, **scheduling: Any) -> Plan:
    made, at = job.build(), NOW + timedelta(seconds=seconds)
    complaint = Complaint(NOW, 1, "Unschedulable" if said else "", said or "")
    complaints = {} if said is None else {f"uid-of-{made.metadata.name}": complaint}
    seen = observe(made, children)
    return plan(made, replace(seen, scheduling=Scheduling(**scheduling), complaints=complaints), at)


def waiting(job: Job) -> list[Child]:
    """Its pods, made just now, of which no scheduler has said anything."""
    made = [a_pod().of(job, "worker", index).build() for index in range(2)]
    return [replace(one, metadata=replace(one.metadata, creation_timestamp=NOW_TEXT)) for one in made]


def said_by(kind: type[Any], type_: str, status: str, message: str, name: str = "train") -> Child:
    meta = replace(a_volcano_group(GANG.build(), users=kind is Workload).metadata, name=name)
    made: Child = kind(metadata=meta, status=GroupStatus("", (GroupCondition(type_, status, "R", message),)))
    return made


def test_a_group_that_is_not_admitted_holds_the_pods_back_and_says_so() -> None:
    early = look(GANG, a_volcano_group(GANG.build(), "Pending"))
    assert (early.actions, early.status.phase, early.status.reason) == ((), "Pending", "")
    made = look(GANG, a_volcano_group(GANG.build(), "Pending"), said="")
    assert not made.actions
    assert (made.status.phase, made.status.reason) == ("Pending", "NotAdmitted")
    assert made.status.message.startswith("PodGroup train: volcano has not admitted it yet")
    stalled = made.status.condition("Stalled")
    assert stalled
    assert stalled.status == "True"


NO_PODS_YET = "4/0 tasks in gang unschedulable: pod group is not ready, 4 minAvailable"


def test_its_events_and_then_its_conditions_tell_why() -> None:
    """Volcano says of every group without pods that they are missing, and in events why it is not admitted."""
    group = a_volcano_group(GANG.build(), "Pending")
    full = "PodGroup train: queue resource quota insufficient"
    assert look(GANG, group, said="queue resource quota insufficient").status.message == full
    worded = a_volcano_group(GANG.build(), "Pending", message=NO_PODS_YET)
    assert look(GANG, worded).status.message == "", "a change of mere words would be told later"
    assert look(GANG, worded, said="").status.message == f"PodGroup train: {NO_PODS_YET}"
    assert look(GANG, worded, said="queue resource quota insufficient").status.message == full


@pytest.mark.parametrize("message", ["", NO_PODS_YET], ids=["silent", "worded"])
def test_events_of_a_group_are_read_when_it_is_not_admitted_soon(message: str) -> None:
    group = a_volcano_group(GANG.build(), "Pending", message=message)
    assert (look(GANG, group).inquiries, look(GANG, group).wake_at) == ((), NOW + timedelta(seconds=2))
    (asked,) = look(GANG, group, seconds=2).inquiries
    assert (asked.name, asked.uid) == ("train", group.metadata.uid)
    later = look(GANG, group, seconds=3, said="full")
    assert (later.inquiries, later.wake_at) == ((), NOW + timedelta(seconds=10))
    assert not look(GANG, a_volcano_group(GANG.build(), message=message), seconds=60).inquiries


def test_what_events_said_before_a_group_was_admitted_does_not_count() -> None:
    job = GANG.build()
    admitted = a_volcano_group(job, message="2/2 tasks in gang unschedulable")
    assert look(GANG, admitted, *waiting(job), said="queue resource quota insufficient").status.message == (
        "PodGroup train: 2/2 tasks in gang unschedulable"
    )


def test_an_admitted_group_whose_pods_do_not_fit_says_so() -> None:
    job = GANG.build()
    made = look(GANG, a_volcano_group(job, message="2/2 tasks in gang unschedulable"), *waiting(job))
    assert (made.status.reason, made.status.message) == (
        "Unschedulable",
        "PodGroup train: 2/2 tasks in gang unschedulable",
    )


def test_what_was_said_before_a_group_ran_does_not_count() -> None:
    job = GANG.build()
    group = a_volcano_group(job, "Running", message="2/2 tasks in gang unschedulable")
    assert look(GANG, group, *waiting(job)).status.reason == ""
    running = [a_pod().of(job, "worker", index).running().build() for index in range(2)]
    inqueue = a_volcano_group(job, message="2/2 tasks in gang unschedulable")
    assert look(GANG, inqueue, *running).status.reason == ""


def test_the_group_that_a_user_promised_is_waited_for() -> None:
    made = look(BY_NAME)
    assert not made.actions
    assert made.status.reason == "PodGroupMissing"
    assert len(look(BY_NAME, a_volcano_group(BY_NAME.build(), users=True)).creates) == 2


UNREAD: dict[str, tuple[JobBuilder, Unread, int, str]] = {
    "ours, not read yet": (GANG, Unread(), 0, ""),
    "ours, no scheduler": (GANG, MISSING, 0, "SchedulerMissing"),
    "a user's, not read yet": (BY_NAME, Unread(), 0, ""),
    "a user's, no right to read it": (BY_NAME, Unread("Forbidden", "no"), 2, ""),
    "a user's, no scheduler": (BY_NAME, MISSING, 2, ""),
}


@pytest.mark.parametrize(("job", "unread", "pods", "reason"), UNREAD.values(), ids=UNREAD.keys())
def test_groups_that_cannot_be_read(job: JobBuilder, unread: Unread, pods: int, reason: str) -> None:
    made = look(job, unread={VolcanoPodGroup.kind: unread})
    assert (len(made.creates), made.status.reason) == (pods, reason)


UNREAD_OF_KUEUE: dict[str, tuple[Unread, int, str]] = {
    "not read yet": (Unread(), 0, ""),
    "no right to read them, whoever holds the pods back": (Unread("Forbidden", "no"), 2, ""),
    "not installed": (MISSING, 0, "SchedulerMissing"),
}


@pytest.mark.parametrize(("unread", "pods", "reason"), UNREAD_OF_KUEUE.values(), ids=UNREAD_OF_KUEUE.keys())
def test_workloads_that_cannot_be_read(unread: Unread, pods: int, reason: str) -> None:
    """Where there is no Kueue, nobody would hold the pods of its queues back."""
    made = look(QUEUED, unread={Workload.kind: unread})
    assert (len(made.creates), made.status.reason) == (pods, reason)


def test_a_job_without_a_gang_does_not_care() -> None:
    unread = dict.fromkeys([VolcanoPodGroup.kind, Workload.kind], MISSING)
    made = look(a_job(), unread=unread)
    assert (len(made.creates), made.status.reason) == (1, "")


@pytest.mark.parametrize("by", ["coscheduling", "kubernetes"])
def test_a_scheduler_that_says_nothing_is_told_of(by: Any) -> None:
    job = a_job().with_workers(2)
    kind = CoschedulingPodGroup if by == "coscheduling" else KubernetesPodGroup
    group = kind(metadata=a_volcano_group(job.build()).metadata)
    early = look(job, group, *waiting(job.build()), by=by)
    assert (early.status.reason, early.wake_at) == ("", NOW + timedelta(seconds=10))
    late = look(job, group, *waiting(job.build()), seconds=10, by=by)
    name = "scheduler-plugins-scheduler" if by == "coscheduling" else "of this cluster"
    assert late.status.reason == "SchedulerSilent"
    assert name in late.status.message
    assert late.wake_at is None
    seen = a_pod().of(job.build(), "worker", 0).unschedulable("0/1 nodes").build()
    told = look(job, group, seen, waiting(job.build())[1], seconds=60, by=by)
    assert told.status.reason == "Unschedulable"


def test_kubernetes_says_it_of_the_whole_group() -> None:
    job = a_job().with_workers(2)
    group = said_by(KubernetesPodGroup, "PodGroupScheduled", "False", "pod group is unschedulable")
    made = look(job, group, *waiting(job.build()), by="kubernetes")
    assert (made.status.reason, made.status.message) == ("Unschedulable", "PodGroup train: pod group is unschedulable")


KUEUE: dict[str, tuple[str, str, str]] = {
    "waits for quota": ("QuotaReserved", "False", "NotAdmitted"),
    "waits for a check": ("Admitted", "False", "NotAdmitted"),
    "is admitted": ("Admitted", "True", ""),
    "has finished": ("Finished", "True", ""),
}


@pytest.mark.parametrize("case", KUEUE)
def test_a_workload_of_kueue_that(case: str) -> None:
    type_, status, reason = KUEUE[case]
    job = QUEUED.build()
    workload = said_by(Workload, type_, status, "4 more needed", kueue_group(job))
    made = look(QUEUED, workload, *waiting(job))
    assert made.status.reason == reason
    assert (made.status.message == f"Workload {kueue_group(job)}: 4 more needed") == bool(reason)


def test_pods_under_kueue_are_made_at_once_and_tell_what_they_can() -> None:
    made = look(QUEUED)
    assert (len(made.creates), made.status.reason) == (2, "")
    gated = a_pod().of(QUEUED.build(), "worker", 0).unschedulable("gates", reason="SchedulingGated").build()
    assert look(QUEUED, gated).status.reason == "SchedulingGated"


def test_an_elastic_job_cannot_be_queued() -> None:
    job = an_elastic_job().labelled({n.LABEL_QUEUE: "gold"})
    made = look(job)
    assert (made.creates, made.status.reason) == ((), "NotSupported")


def test_a_gated_pod_that_somebody_deletes_starts_the_whole_job_over() -> None:
    """Kueue keeps it until the others of its group have ended, too."""
    job = QUEUED.build()
    gone = a_pod().of(job, "worker", 0).deleting().build()
    assert look(QUEUED, gone, a_pod().of(job, "worker", 1).build()).status.phase == "Restarting"
    plain = a_job().with_workers(2)
    assert look(plain, gone, a_pod().of(job, "worker", 1).build()).status.phase == "Pending"


def test_under_kueue_no_worker_is_replaced_alone() -> None:
    job = a_ps_job(1, 2).with_gloo(0).asking(backoff_limit=1).in_phase("Running")
    for queued in (False, True):
        one = job.labelled({n.LABEL_QUEUE: "gold"}) if queued else job
        built = one.build()
        pods = [a_pod().of(built, "ps", 0).running(), a_pod().of(built, "worker", 0).failed()]
        pods.append(a_pod().of(built, "worker", 1).running())
        made = look(one, *(each.build() for each in pods))
        assert (made.status.attempt > 0) == queued


def test_a_pod_whose_quota_kueue_takes_back_is_disrupted() -> None:
    job = QUEUED.asking(backoff_limit=0).in_phase("Running")
    pods = [a_pod().of(job.build(), "worker", index).running() for index in range(2)]
    target = pods[0].failed(143).targeted("WorkloadEvictedDueToPreempted", "Preempted to accommodate a workload")
    chosen = replace(target.pod.status.conditions[0], type="TerminationTarget")
    evicted = replace(target.build(), status=replace(target.pod.status, conditions=(chosen,)))
    made = look(job, evicted, pods[1].build())
    assert (made.status.phase, made.status.disruptions, made.status.restarts) == ("Restarting", 1, 0)
    assert made.status.reason == "WorkloadEvictedDueToPreempted"
