"""PodGroups: what they say, when they are made, and when they go."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from paddlejob.api import SchedulingPolicy
from paddlejob.api.names import LABEL_QUEUE
from paddlejob.api.spec import CLEAN_POD_POLICIES, CleanPodPolicy
from paddlejob.core import Create, Delete, Scheduling
from paddlejob.core.gang import kueue_group
from paddlejob.core.groups import CoschedulingPodGroup, KubernetesPodGroup, VolcanoPodGroup, Workload
from paddlejob.core.kinds import GROUP_KINDS
from tests.builders import JobBuilder, a_job, a_ps_job, a_template, a_volcano_group, an_elastic_job, owner_reference
from tests.core.world import World

GANG = a_ps_job().asking(scheduling_policy=SchedulingPolicy())
BIG = a_template(resources={"limits": {"cpu": "2", "memory": "1Gi"}})
SMALL = a_template(resources={"requests": {"cpu": "500m"}})


def made_for(job: JobBuilder, **scheduling: Any) -> dict[str, Any]:
    """The PodGroup that comes first."""
    world = World(job.build())
    world.scheduling = Scheduling(**scheduling)
    (first,) = world.plan().creates
    return first.body


def test_it_comes_first_and_belongs_to_the_job() -> None:
    body = made_for(GANG)
    assert (body["apiVersion"], body["kind"]) == ("scheduling.volcano.sh/v1beta1", "PodGroup")
    assert body["metadata"]["name"] == "train"
    owner = owner_reference(GANG.build())
    assert body["metadata"]["ownerReferences"][0]["uid"] == owner.uid
    assert body["spec"] == {"minMember": 4}


SPECS: dict[str, tuple[JobBuilder, dict[str, Any]]] = {
    "all that its pods ask for": (
        GANG.with_servers(2, SMALL).with_workers(3, BIG),
        {"minMember": 5, "minResources": {"cpu": "7", "memory": str(3 * 2**30)}},
    ),
    "nothing of what no computer can count": (
        GANG.template(a_template(resources={"limits": {"cpu": f"{'9' * 4000}e999", "memory": "1Gi"}})),
        {"minMember": 4, "minResources": {"memory": str(4 * 2**30)}},
    ),
    "fewer pods, and what those ask for": (
        GANG.with_servers(2, SMALL).with_workers(3, BIG).asking(scheduling_policy=SchedulingPolicy(min_available=3)),
        {"minMember": 3, "minResources": {"cpu": "3", "memory": str(2**30)}},
    ),
    "never more than there are": (
        GANG.asking(scheduling_policy=SchedulingPolicy(min_available=99)),
        {"minMember": 4},
    ),
    "what the job says": (
        GANG.asking(scheduling_policy=SchedulingPolicy(queue="gold", priority_class="high", min_resources={"cpu": 9})),
        {"minMember": 4, "minResources": {"cpu": "9"}, "queue": "gold", "priorityClassName": "high"},
    ),
    "an elastic job begins with its least": (
        an_elastic_job(workers=3, least=2, most=4).asking(scheduling_policy=SchedulingPolicy()),
        {"minMember": 2},
    ),
    "not those that another scheduler places": (
        GANG.with_servers(2, a_template({"schedulerName": "default-scheduler"})).with_workers(
            2, a_template({"schedulerName": "volcano"})
        ),
        {"minMember": 2},
    ),
}


@pytest.mark.parametrize(("job", "spec"), SPECS.values(), ids=SPECS.keys())
def test_it_asks_for(job: JobBuilder, spec: dict[str, Any]) -> None:
    world = World(job.build())
    world.settle() if job.job.spec.is_elastic else None
    assert next(one.body for one in created(world, VolcanoPodGroup.kind))["spec"] == spec


def created(world: World, kind: str) -> list[Create]:
    turns = [world.plan()] if not world.job.spec.is_elastic else []
    world.children[kind].clear()
    return [one for made in (*turns, world.plan()) for one in made.creates if one.kind == kind]


OTHERS = {
    "coscheduling": ("scheduling.x-k8s.io/v1alpha1", {"minMember": 4}),
    "kubernetes": ("scheduling.k8s.io/v1alpha2", {"schedulingPolicy": {"gang": {"minCount": 4}}}),
}


@pytest.mark.parametrize("by", OTHERS)
def test_other_schedulers_have_kinds_of_their_own(by: str) -> None:
    body = made_for(a_ps_job().template(BIG), by=by)
    assert (body["apiVersion"], body["spec"]) == OTHERS[by]


def test_coscheduling_is_told_of_resources_that_the_job_says() -> None:
    said = a_ps_job().template(BIG).asking(scheduling_policy=SchedulingPolicy(min_resources={"cpu": 2}))
    assert made_for(said, by="coscheduling")["spec"] == {"minMember": 4, "minResources": {"cpu": "2"}}


def test_pods_are_made_when_it_is_admitted() -> None:
    world = World(GANG.build())
    world.room = False
    world.settle()
    assert not world.pods
    world.admit()
    world.settle()
    assert len(world.pods) == 4


@pytest.mark.parametrize(("by", "kind"), [("coscheduling", CoschedulingPodGroup), ("kubernetes", KubernetesPodGroup)])
def test_other_schedulers_want_to_see_the_pods_first(by: Any, kind: type[Any]) -> None:
    world = World(a_ps_job().build())
    world.scheduling, world.room = Scheduling(by=by), False
    world.settle()
    assert (len(world.children[kind.kind]), len(world.pods)) == (1, 4)


@pytest.mark.parametrize("policy", CLEAN_POD_POLICIES)
def test_it_goes_when_the_job_ends_whatever_is_kept(policy: CleanPodPolicy) -> None:
    world = World(GANG.cleaning(policy).build())
    world.run()
    assert world.children[VolcanoPodGroup.kind]
    for name in [one for one in world.pods if "worker" in one]:
        world.succeed(name)
    world.settle()
    assert world.job.status.phase == "Completed"
    assert not world.children[VolcanoPodGroup.kind]


def test_a_restart_begins_with_a_new_one_when_all_of_the_old_is_gone() -> None:
    world = World(GANG.build())
    world.run()
    (old,) = world.children[VolcanoPodGroup.kind].values()
    world.lose("train-worker-1")
    world.turn()
    world.wait()
    gone = world.turn()
    assert {one.kind for one in gone.actions} == {"Pod", VolcanoPodGroup.kind}
    assert all(isinstance(one, Delete) for one in gone.actions)
    world.empty()
    world.room = False
    world.settle()
    (new,) = world.children[VolcanoPodGroup.kind].values()
    assert new.metadata.uid != old.metadata.uid
    assert not world.pods
    world.admit()
    world.settle()
    assert len(world.pods) == 4


def test_a_suspended_job_holds_none() -> None:
    world = World(GANG.build())
    world.run()
    world.ask(suspend=True)
    world.settle()
    assert not world.children[VolcanoPodGroup.kind]
    world.empty()
    world.ask(suspend=False)
    world.run()
    assert world.job.status.phase == "Running"


def test_one_that_somebody_deletes_is_made_again() -> None:
    world = World(GANG.build())
    world.run()
    world.children[VolcanoPodGroup.kind].clear()
    world.settle()
    assert world.children[VolcanoPodGroup.kind]
    assert world.job.status.phase == "Running"


@pytest.mark.parametrize("job", [GANG, a_ps_job().template(a_template({"schedulerName": "volcano"}))])
def test_one_that_the_user_made_is_used_and_never_changed(job: JobBuilder) -> None:
    users = a_volcano_group(job.build(), users=True)
    world = World(job.cleaning("Always").build(), [users])
    world.run()
    assert world.job.status.phase == "Running"
    for name in [one for one in world.pods if "worker" in one]:
        world.succeed(name)
    world.settle()
    assert world.children[VolcanoPodGroup.kind] == {"train": users}


def test_one_of_another_job_is_not_taken_for_the_users() -> None:
    another = a_volcano_group(a_job().with_uid("another").build())
    world = World(GANG.build(), [another])
    world.settle()
    assert not world.pods
    assert world.job.status.reason == "NameTaken"


def test_each_kind_is_wanted_by_the_jobs_that_it_places_and_found_by_the_name_of_the_job() -> None:
    queued = a_ps_job().labelled({LABEL_QUEUE: "gold"}).build()
    wanted = {
        kind.name: [kind.wanted_by(job, Scheduling()) for job in (a_ps_job().build(), GANG.build(), queued)]
        for kind in GROUP_KINDS
    }
    assert wanted == {
        VolcanoPodGroup.kind: [False, True, False],
        CoschedulingPodGroup.kind: [False, False, False],
        KubernetesPodGroup.kind: [False, False, False],
        Workload.kind: [False, False, True],
    }
    for kind in GROUP_KINDS:
        assert kind.by_name is not None
        assert [kind.by_name(name) for name in kind.names(queued)] == ["train"]


def test_a_workload_is_kueues_to_remove() -> None:
    """Even one that claims to be the job's."""
    job = a_ps_job().labelled({LABEL_QUEUE: "gold"}).cleaning("Always").in_phase("Completed")
    meta = replace(a_volcano_group(job.build()).metadata, name=kueue_group(job.build()))
    world = World(job.build(), [Workload(metadata=meta)])
    assert not world.plan().actions
