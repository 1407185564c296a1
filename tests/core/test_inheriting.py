"""Jobs that another operator had begun: their pods run on, and its finalizer goes."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest

from paddlejob.api import Job, ObjectMeta, Status
from paddlejob.api.names import ANNOTATION_ADOPTED, FINALIZER_OF_0_3
from paddlejob.api.status import Phase
from paddlejob.core import Pod, Refusal, observe, plan
from tests.builders import NOW, JobBuilder, a_job, pods_of


def left(builder: JobBuilder, phase: Phase = "Running") -> Job:
    """With a status as the other operator writes it: without conditions."""
    return msgspec.structs.replace(builder.build(), status=Status(phase=phase))


def adopted(job: Job) -> list[Pod]:
    pods = [one.running().build() for one in pods_of(job).values()]
    meta = [msgspec.structs.replace(pod.metadata, annotations={ANNOTATION_ADOPTED: "true"}) for pod in pods]
    return [msgspec.structs.replace(pod, metadata=one) for pod, one in zip(pods, meta, strict=True)]


LEFT: dict[str, JobBuilder] = {
    "collective": a_job().with_workers(2),
    "PS": a_job().with_servers(1).with_workers(2),
    "by name": a_job().with_workers(2).by("Service"),
    "on the host": a_job().with_workers(2).by("Host"),
    "elastic": a_job().with_workers(2).asking(elastic=1),
}


@pytest.mark.parametrize("phase", ["Pending", "Starting", "Running"])
@pytest.mark.parametrize("builder", LEFT.values(), ids=LEFT)
def test_nothing_is_made_beside_what_the_other_made(builder: JobBuilder, phase: Phase) -> None:
    job = left(builder, phase)
    made = plan(job, observe(job, adopted(job)), NOW)
    assert (made.actions, made.ports, made.questions) == ((), 0, ())
    assert (made.status.phase, made.status.adopted, made.status.reason) == ("Running", True, "")
    again = msgspec.structs.replace(job, status=made.status)
    assert plan(again, observe(again, adopted(again)), NOW) == msgspec.structs.replace(made, events=())


@pytest.mark.parametrize("builder", LEFT.values(), ids=LEFT)
def test_they_complete_when_all_workers_have_succeeded(builder: JobBuilder) -> None:
    job = left(builder)
    job = msgspec.structs.replace(job, status=plan(job, observe(job, adopted(job)), NOW).status)
    pods = [
        one.succeeded().build() if "worker" in name else one.running().build() for name, one in pods_of(job).items()
    ]
    assert plan(job, observe(job, pods), NOW).status.phase == "Completed"


def test_a_lost_one_begins_an_attempt_of_ours() -> None:
    job = left(a_job().with_servers(1).with_workers(2).asking(with_gloo=0))
    status = plan(job, observe(job, adopted(job)[:-1]), NOW).status
    assert (status.phase, status.attempt, status.adopted, status.disruptions) == ("Restarting", 1, None, 1)


def test_without_the_mark_nothing_is_inherited() -> None:
    job = left(a_job().with_workers(2))
    pods = [one.running().build() for one in pods_of(job).values()]
    assert plan(job, observe(job, pods), NOW).status.adopted is None


def held(job: Job, *finalizers: str) -> Job:
    meta: ObjectMeta = msgspec.structs.replace(job.metadata, finalizers=finalizers)
    return msgspec.structs.replace(job, metadata=meta)


def test_its_finalizer_goes_from_every_job() -> None:
    living = a_job().build()
    dying = a_job().build()
    dying = msgspec.structs.replace(
        dying, metadata=msgspec.structs.replace(dying.metadata, deletion_timestamp="2026-05-04T12:00:00Z")
    )
    for job in (living, dying, a_job().in_phase("Completed").build()):
        assert plan(held(job, "other/one", FINALIZER_OF_0_3), observe(job), NOW).releases
        assert not plan(held(job, "other/one"), observe(job), NOW).releases


def test_a_refusal_to_remove_it_waits() -> None:
    job = held(a_job().by("Host").build(), FINALIZER_OF_0_3)
    later = NOW + timedelta(seconds=5)
    refused = Refusal(job.kind, job.metadata.name, "Forbidden", "no", later, "patch")
    assert not plan(job, observe(job, (), [refused]), NOW).releases
    assert plan(job, observe(job, (), [refused]), later).releases
