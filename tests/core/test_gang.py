"""Who places the pods of a job together, and who makes their group."""

from __future__ import annotations

from typing import Any

import pytest

from paddlejob.api import SchedulingPolicy
from paddlejob.api import names as n
from paddlejob.core import Scheduling, observe, plan
from paddlejob.core.gang import Gang, gang_of, kueue_group, members
from paddlejob.core.groups import Workload
from paddlejob.core.kinds import GROUP_KINDS
from paddlejob.core.workloads import WORKLOADS
from tests.builders import NOW, UID, JobBuilder, a_job, a_ps_job, a_template, pods_of

NONE, VOLCANO, COSCHEDULING, KUBERNETES = (
    Scheduling(by="none"),
    Scheduling(by="volcano"),
    Scheduling(by="coscheduling"),
    Scheduling(by="kubernetes"),
)
PLAIN = a_ps_job()
BY_POLICY = PLAIN.asking(scheduling_policy=SchedulingPolicy())
QUEUED = PLAIN.labelled({n.LABEL_QUEUE: "gold"})


def with_worker(scheduler: str, job: JobBuilder = PLAIN) -> JobBuilder:
    return job.with_workers(2, a_template({"schedulerName": scheduler}))


def grouped(**metadata: Any) -> JobBuilder:
    return BY_POLICY.template(a_template(metadata=metadata))


CASES: dict[str, tuple[JobBuilder, Scheduling, Gang | None]] = {
    "nobody asks for it": (PLAIN, NONE, None),
    "as the user's documents do": (with_worker("volcano"), NONE, Gang("volcano", "volcano", made=False)),
    "in the template of the servers": (
        PLAIN.with_servers(2, a_template({"schedulerName": "volcano"})),
        NONE,
        Gang("volcano", "volcano", made=False),
    ),
    "also beside another flag": (with_worker("volcano"), COSCHEDULING, Gang("volcano", "volcano", made=False)),
    "by a policy": (BY_POLICY, NONE, Gang("volcano", "volcano", made=True)),
    "by a policy and a name": (with_worker("volcano", BY_POLICY), NONE, Gang("volcano", "volcano", made=True)),
    "by a Volcano of another name": (with_worker("vc-gpu", BY_POLICY), NONE, Gang("volcano", "vc-gpu", made=True)),
    "by the flag": (PLAIN, VOLCANO, Gang("volcano", "volcano", made=True)),
    "a template that chose another scheduler": (with_worker("default-scheduler"), VOLCANO, None),
    "by coscheduling": (PLAIN, COSCHEDULING, Gang("coscheduling", "scheduler-plugins-scheduler", made=True)),
    "by a coscheduler of another name": (with_worker("own"), COSCHEDULING, Gang("coscheduling", "own", made=True)),
    "by Kubernetes": (PLAIN, KUBERNETES, Gang("kubernetes", None, made=True)),
    "by Kueue": (QUEUED, VOLCANO, Gang("kueue", None, made=False)),
    "of an empty queue name": (PLAIN.labelled({n.LABEL_QUEUE: ""}), NONE, None),
    "on this machine": (BY_POLICY, Scheduling(local=True), None),
    "of another controller": (BY_POLICY.asking(managed_by="another"), NONE, None),
    "by a group of the template's own": (grouped(annotations={n.ANNOTATION_GROUP: "ours"}), NONE, None),
    "by a label of the template's own": (grouped(labels={n.LABEL_GROUP: "ours"}), COSCHEDULING, None),
    "odd names are none": (PLAIN.with_workers(2, {"spec": {"schedulerName": 5}}), NONE, None),
}


@pytest.mark.parametrize(("job", "scheduling", "gang"), CASES.values(), ids=CASES.keys())
def test_the_gang_of_a_job(job: JobBuilder, scheduling: Scheduling, gang: Gang | None) -> None:
    assert gang_of(job.build(), scheduling) == gang


def test_a_role_that_names_another_scheduler_is_no_member() -> None:
    job = with_worker("volcano").with_servers(1, a_template({"schedulerName": "default-scheduler"})).build()
    gang = gang_of(job, NONE)
    assert gang is not None
    assert [name for name, _ in members(job, gang)] == ["worker"]
    queued = with_worker("volcano", QUEUED).build()
    assert [name for name, _ in members(queued, Gang("kueue", None, made=False))] == ["ps", "worker"]


def test_the_name_of_a_group_of_kueue_is_another_in_every_attempt_and_of_every_job() -> None:
    job = a_job().named("j" * 54)
    names = {
        kueue_group(one.build())
        for one in (job, job.with_status(attempt=1), job.with_uid(UID.replace("8", "9")), job.named("train"))
    }
    assert len(names) == 4
    assert all(len(name) <= n.LONGEST_NAME for name in names)


@pytest.mark.parametrize("manager", [None, "", n.OPERATOR])
def test_a_job_of_ours_gets_its_pods(manager: str | None) -> None:
    job = a_job().asking(managed_by=manager).build()
    assert plan(job, observe(job), NOW).creates


def test_a_job_of_another_controller_is_left_alone_entirely() -> None:
    lost = a_job().in_phase("Running").asking(managed_by="kueue.x-k8s.io/multikueue", ttl_seconds_after_finished=0)
    for job in (lost.build(), lost.deleted().build(), lost.in_phase("Completed").build()):
        pods = [one.failed().build() for one in pods_of(job).values()]
        made = plan(job, observe(job, pods), NOW)
        assert (made.status, made.actions, made.events, made.expired) == (job.status, (), (), False)


@pytest.mark.parametrize("case", CASES)
def test_a_job_makes_an_operator_watch_the_groups_of_its_own_scheduler_alone(case: str) -> None:
    job, scheduling, gang = CASES[case]
    wanted = [kind.type for kind in GROUP_KINDS if kind.wanted_by(job.build(), scheduling)]
    assert wanted == ([gang.group] if gang else [])


def test_what_kueue_made_is_left_to_kueue() -> None:
    assert not WORKLOADS.is_cleaned(Workload(), "everything")
