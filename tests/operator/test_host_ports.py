"""Blocks of ports: no two jobs ever have one in common, none is lost, whoever waits is woken when one gets free."""

from __future__ import annotations

from itertools import combinations, count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from paddlejob.api import Job, ObjectMeta
from paddlejob.api.names import ANNOTATION_PORTS
from paddlejob.core import Pod
from paddlejob.core.children import PodStatus
from paddlejob.core.observe import Ports
from paddlejob.core.ports import Block, block_of
from paddlejob.kube.events import Removed, Seen
from paddlejob.kube.objects import Key
from paddlejob.kube.store import Store
from paddlejob.operator.ports import DEFAULT_RANGE, BadRange, PortBlocks, PortRange
from tests.builders import JobBuilder, a_job, owner_reference

# What Linux gives to outgoing connections and Kubernetes to NodePort services, unless somebody changed it.
EPHEMERAL, NODE_PORTS = range(32768, 61000), range(30000, 32768)


class Office:
    """The ports of a cluster with its jobs and pods, and who was woken."""

    def __init__(self, low: int = 20000, high: int = 20100) -> None:
        self.jobs: Store[Job] = Store()
        self.pods: Store[Pod] = Store()
        self.woken: list[Key] = []
        self.ports = PortBlocks(PortRange(low, high), self.jobs, self.pods, lambda key, _: self.woken.append(key))
        self._versions = count(1)

    def put(self, job: Job) -> Job:
        made = replace(job, metadata=replace(job.metadata, resource_version=str(next(self._versions))))
        self.jobs.apply_event(Seen(made))
        return made

    def choose(self, job: Job) -> Block | None:
        return self.ports.choose(job)

    def reserve(self, job: Job) -> Job | None:
        """The job as it stands then, with its block on it."""
        block = self.choose(job)
        return self.put(JobBuilder(job).with_ports(block.first).build()) if block else None

    def remove(self, job: Job) -> None:
        meta = replace(job.metadata, resource_version=str(next(self._versions)))
        self.jobs.apply_event(Removed(replace(job, metadata=meta)))

    def pod(self, job: Job, phase: str = "Running", text: str | None = None, index: int = 0) -> Pod:
        block = str(block_of(job)) if text is None else text
        meta = ObjectMeta(
            name=f"{job.metadata.name}-worker-{index}",
            namespace=job.metadata.namespace,
            uid=f"pod-{index}-of-{job.metadata.uid}",
            resource_version=str(next(self._versions)),
            annotations={ANNOTATION_PORTS: block},
            owner_references=(owner_reference(job),),
        )
        made = Pod(metadata=meta, status=PodStatus(phase=phase))
        self.pods.apply_event(Seen(made))
        return made

    def remove_pod(self, pod: Pod) -> None:
        meta = replace(pod.metadata, resource_version=str(next(self._versions)))
        self.pods.apply_event(Removed(replace(pod, metadata=meta)))


def host_job(name: str, workers: int = 2, created: str = "2026-05-04T11:00:00Z") -> Job:
    job = a_job().named(name).with_uid(f"uid-{name}").with_workers(workers).by("Host").build()
    return replace(job, metadata=replace(job.metadata, creation_timestamp=created))


def finished(job: Job) -> Job:
    return JobBuilder(job).in_phase("Completed").build()


def test_blocks_come_one_after_the_other() -> None:
    office = Office()
    blocks = [office.choose(office.put(host_job(name))) for name in ("a", "b")]
    assert blocks == [Block(20000, 20039), Block(20040, 20079)]


def test_a_job_gets_the_same_block_until_it_is_seen_on_it() -> None:
    """An answer got lost: the write may have been done or not."""
    office = Office()
    job = office.put(host_job("a"))
    assert office.choose(job) == office.choose(job) == Block(20000, 20039)
    assert office.choose(office.put(host_job("b"))) == Block(20040, 20079)


def test_a_full_range_is_told_and_the_job_is_woken_when_a_block_gets_free() -> None:
    office = Office()
    first, _ = (office.reserve(office.put(host_job(name))) for name in ("a", "b"))
    waiting = office.put(host_job("c"))
    assert first is not None
    assert office.ports.seen_by(waiting) == Ports(full="20000,20100")
    assert office.woken == []
    office.put(finished(first))
    assert office.woken == [("team", "c")]
    assert office.ports.seen_by(waiting) == Ports()
    assert office.choose(waiting) == Block(20000, 20039)


def test_who_comes_too_late_is_woken_to_say_so() -> None:
    office = Office(20000, 20040)
    office.reserve(office.put(host_job("a")))
    assert office.choose(office.put(host_job("b"))) is None
    assert office.woken == [("team", "b")]


def test_a_gap_is_used_when_it_is_large_enough() -> None:
    office = Office()
    first, _ = (office.reserve(office.put(host_job(name, workers))) for name, workers in (("a", 1), ("b", 2)))
    assert first is not None
    office.remove(first)
    assert office.choose(office.put(host_job("c", 2))) == Block(20060, 20099)
    assert office.choose(office.put(host_job("d", 1))) == Block(20000, 20019)


@pytest.mark.parametrize("gone", [True, False], ids=["the job is deleted", "the job has ended"])
@pytest.mark.parametrize("ends", [True, False], ids=["its pod ends", "its pod is removed"])
def test_a_block_is_held_as_long_as_one_of_its_pods_runs(gone: bool, ends: bool) -> None:
    office = Office(20000, 20040)
    job = office.reserve(office.put(host_job("a")))
    assert job is not None
    pod = office.pod(job)
    if gone:
        office.remove(job)
    else:
        office.put(finished(job))
    waiting = office.put(host_job("b"))
    assert office.ports.seen_by(waiting).full
    if ends:
        office.pod(job, "Succeeded")
    else:
        office.remove_pod(pod)
    assert office.woken == [("team", "b")]
    assert office.choose(waiting) == Block(20000, 20039)


NO_BLOCKS = ["", "20000", "20000-", "-", "a-b", "20000-²", "1-65535", "20000-20039", "9" * 5000, "1-" + "9" * 5000]


@pytest.mark.parametrize("known", [True, False], ids=["of a job that is there", "of a job that is not there"])
@pytest.mark.parametrize("text", NO_BLOCKS, ids=lambda text: text[:20])
def test_what_a_stranger_writes_on_a_pod_holds_nothing(text: str, known: bool) -> None:
    """Only the block that stands on the job itself counts, and only while it is that of a pod of the job."""
    office = Office(20000, 20200)
    odd = JobBuilder(host_job("odd", workers=1)).with_ports(20180).build()
    if known:
        office.put(odd)
    office.pod(odd, text=text)
    assert office.choose(office.put(host_job("a"))) == Block(20000, 20039)


def test_many_pods_of_one_job_hold_one_block() -> None:
    office = Office(20000, 20200)
    greedy = office.put(JobBuilder(host_job("greedy")).with_ports(20000).build())
    for index in range(5):
        office.pod(greedy, text=f"{20000 + 40 * index}-{20039 + 40 * index}", index=index)
    assert office.choose(office.put(host_job("a"))) == Block(20040, 20079)


def test_pods_that_are_heard_of_before_their_job_count_when_it_comes() -> None:
    office = Office(20000, 20200)
    job = JobBuilder(host_job("late")).with_ports(20000).build()
    office.pod(job)
    office.put(finished(job))
    assert office.choose(office.put(host_job("a"))) == Block(20040, 20079)


def test_a_job_that_was_deleted_before_its_block_is_written_holds_nothing() -> None:
    """It waited for its turn to write when the watch told that it was gone."""
    office = Office(20000, 20040)
    job = office.put(host_job("gone"))
    office.remove(job)
    assert office.choose(job) is None
    other = office.put(host_job("a"))
    assert office.ports.seen_by(other) == Ports()
    assert office.choose(other) == Block(20000, 20039)


def test_a_job_that_was_made_anew_does_not_choose_for_the_one_before() -> None:
    office = Office(20000, 20040)
    before = office.put(host_job("a"))
    again = office.put(JobBuilder(host_job("a")).with_uid("another").build())
    assert office.choose(before) is None
    assert office.choose(again) == Block(20000, 20039)


def test_what_another_leader_gave_away_since_is_not_chosen_again() -> None:
    office = Office()
    job = office.put(host_job("mine"))
    assert office.choose(job) == Block(20000, 20039)
    office.put(JobBuilder(host_job("theirs")).with_ports(20000).build())
    assert office.choose(job) == Block(20040, 20079)


def test_a_block_that_another_leader_chose_for_the_job_takes_the_place_of_ours() -> None:
    office = Office()
    job = office.put(host_job("mine"))
    assert office.choose(job) == Block(20000, 20039)
    office.put(JobBuilder(job).with_ports(20060).build())
    assert office.choose(office.put(host_job("other"))) == Block(20000, 20039)


def test_a_block_that_has_to_move_does_not_forget_where_to() -> None:
    """The job changes in some other way before the new block is seen on it."""
    office = Office(20000, 20200)
    office.put(JobBuilder(host_job("older", created="2026-05-04T10:00:00Z")).with_ports(20000).build())
    younger = office.put(JobBuilder(host_job("younger")).with_ports(20030).build())
    assert office.choose(younger) == Block(20040, 20079)
    office.put(younger)
    assert office.choose(office.put(host_job("other"))) == Block(20080, 20119)
    assert office.choose(younger) == Block(20040, 20079)


def test_of_two_jobs_with_the_same_ports_the_younger_has_to_move() -> None:
    office = Office()
    older = office.put(JobBuilder(host_job("b", created="2026-05-04T10:00:00Z")).with_ports(20000).build())
    younger = office.put(JobBuilder(host_job("a")).with_ports(20030).build())
    assert office.ports.seen_by(older) == Ports()
    assert office.ports.seen_by(younger) == Ports(disputed=True)
    moved = office.reserve(younger)
    assert moved is not None
    assert block_of(moved) == Block(20040, 20079)
    assert office.ports.seen_by(moved) == Ports()


def test_a_job_has_to_move_where_a_pod_of_another_has_its_ports_however_old_that_is() -> None:
    office = Office(20000, 20200)
    older = office.put(JobBuilder(host_job("b", created="2026-05-04T10:00:00Z")).with_ports(20000).build())
    younger = office.put(JobBuilder(host_job("a")).with_ports(20030).build())
    office.pod(younger)
    assert office.ports.seen_by(older) == Ports(disputed=True)
    moved = office.reserve(older)
    assert moved is not None
    assert block_of(moved) == Block(20070, 20109)
    assert office.ports.seen_by(moved) == office.ports.seen_by(younger) == Ports()


def test_a_block_that_somebody_wrote_by_hand_is_respected_also_outside_the_range() -> None:
    office = Office()
    inside = office.put(JobBuilder(host_job("inside")).with_ports(20010).build())
    outside = office.put(JobBuilder(host_job("outside")).with_ports(50000).build())
    assert office.ports.seen_by(inside) == office.ports.seen_by(outside) == Ports()
    assert office.choose(office.put(host_job("a"))) == Block(20050, 20089)


def test_a_job_of_the_same_name_is_another_job() -> None:
    office = Office(20000, 20040)
    office.reserve(office.put(host_job("a")))
    again = JobBuilder(host_job("a")).with_uid("another").build()
    assert office.choose(office.put(again)) == Block(20000, 20039)


@pytest.mark.parametrize("job", [a_job().build(), finished(host_job("over"))])
def test_a_job_that_needs_no_ports_hears_nothing_of_them(job: Job) -> None:
    office = Office(20000, 20001)
    assert office.ports.seen_by(office.put(job)) == Ports()


HAPPENINGS = ["submit", "reserve", "reserve", "lose", "end", "delete"]
names = st.sampled_from(["a", "b", "c", "d", "e"])
paths = st.lists(st.tuples(st.sampled_from(HAPPENINGS), names, st.integers(1, 3)), max_size=40)


@settings(deadline=None)
@given(paths)
def test_no_two_living_jobs_ever_have_a_port_in_common(path: list[tuple[str, str, int]]) -> None:
    office = Office(20000, 20150)
    living: dict[str, Job] = {}
    for what, name, workers in path:
        job = living.get(name)
        if what == "submit" and job is None:
            living[name] = office.put(host_job(name, workers))
        elif job is None:
            continue
        elif what == "reserve" and block_of(job) is None:
            living[name] = office.reserve(job) or job
        elif what == "lose" and block_of(job) is None:
            office.choose(job)  # and nobody knows what became of the write
        elif what == "end":
            office.put(finished(job))
            del living[name]
        elif what == "delete":
            office.remove(job)
            del living[name]
        blocks = [block for one in living.values() if (block := block_of(one))]
        assert not [1 for one, other in combinations(blocks, 2) if one.overlaps(other)]
        assert all(block.first >= 20000 and block.last < 20150 for block in blocks)


def test_the_usual_range_is_nobody_elses() -> None:
    usual = range(DEFAULT_RANGE.low, DEFAULT_RANGE.high)
    assert not {*usual} & {*EPHEMERAL, *NODE_PORTS}


def test_a_range_is_read_as_it_is_written() -> None:
    assert PortRange.parse("20000,30000") == DEFAULT_RANGE
    assert str(DEFAULT_RANGE) == "20000,30000"
    assert PortRange.parse("1024,65536") == PortRange(1024, 65536)


NO_RANGE = ["", "20000", "20000-30000", "a,b", "30000,20000", "5,5", "80,2000", "20000,65537", "²,³"]


@pytest.mark.parametrize("text", NO_RANGE)
def test_a_range_that_is_none_is_refused_with_words_that_help(text: str) -> None:
    with pytest.raises(BadRange, match=r"write LOW,HIGH|LOW below HIGH"):
        PortRange.parse(text)
