"""Progress on a cluster: from the logs of running jobs, if the operator was asked to and may; otherwise as before."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from paddlejob.api import HangPolicy, Job, ObjectMeta, ProgressPolicy
from paddlejob.core import Listen, Reading, Said, observe, plan
from paddlejob.kube.client import Client
from paddlejob.operator import listening
from paddlejob.operator.listening import BYTES, DENIED_FOR, LINES, READS_PER_SECOND, Ears
from paddlejob.terminal import plain
from tests.builders import NOW, a_config_map, a_job, pods_of
from tests.kube.fake_server import refuses, until
from tests.operator.conftest import StartInside
from tests.operator.fake_cluster import NAMESPACE, FakeCluster
from tests.operator.worlds import end, put_job, run, status
from tests.scenarios.desk import a_role

LOG = "pods/log"
JOB = a_job().in_namespace(NAMESPACE).build()
ASKED = Listen("train-worker-0", "uid", "paddle")


class Listener:
    """Ears of their own, at a time that a test sets."""

    def __init__(self, cluster: FakeCluster, client: Client) -> None:
        self.now = NOW
        self.cluster = cluster
        self.ears = Ears(client, lambda: self.now, enabled=True)

    async def listen(self, seconds: float = 0, job: Job = JOB, **asked: Any) -> float:
        self.now += timedelta(seconds=seconds)
        return await self.ears.listen(job, (Listen(**{"name": ASKED.name, "uid": "uid", "container": "", **asked}),))

    @property
    def said(self) -> Said:
        return self.ears.known(JOB.metadata.uid)["uid"]

    @property
    def readings(self) -> tuple[Reading, ...]:
        return self.said.readings

    @property
    def steps(self) -> list[int | None]:
        return [one.step for one in self.readings]


@pytest.fixture
async def listener(cluster: FakeCluster) -> Any:
    async with Client(cluster.config()) as client:
        yield Listener(cluster, client)


async def test_a_running_job_tells_how_far_it_is_and_once_more_at_its_end(
    cluster: FakeCluster, start: StartInside
) -> None:
    put_job(cluster, worker=a_role(1))
    await start(progress=True)
    await until(lambda: cluster.names("pods") == ["train-worker-0"], "the pod")
    cluster.say("train-worker-0", "step 10/100 loss: 0.5")
    run(cluster)
    await until(lambda: "progress" in status(cluster), "progress")
    told = status(cluster)["progress"]
    assert (told["step"], told["total"], told["summary"], told["loss"]) == (10, 100, "10%", 0.5)
    cluster.say("train-worker-0", "step 100/100 loss: 0.25")
    end(cluster)
    await until(lambda: status(cluster)["progress"]["summary"] == "100%", "the last line")
    assert status(cluster)["phase"] == "Completed"
    assert len(cluster.asked("GET", LOG)) == 2


async def test_what_was_heard_of_a_job_that_has_ended_is_forgotten_and_its_progress_stays(
    cluster: FakeCluster, start: StartInside, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgotten: list[str] = []
    forget = Ears.forget

    def noted(ears: Ears, uid: str) -> None:
        forgotten.append(uid)
        forget(ears, uid)
        assert ears.known(uid) == {}

    monkeypatch.setattr(Ears, "forget", noted)
    job = put_job(cluster, worker=a_role(1))
    await start(progress=True)
    await until(lambda: cluster.names("pods") == ["train-worker-0"], "the pod")
    cluster.say("train-worker-0", "step 10/100 loss: 0.5")
    run(cluster)
    await until(lambda: "progress" in status(cluster), "progress")
    cluster.say("train-worker-0", "step 100/100 loss: 0.25")
    end(cluster)
    await until(lambda: bool(forgotten), "what was heard of it is forgotten")
    assert status(cluster)["progress"]["summary"] == "100%"
    cluster.change("paddlejobs", "train", {"metadata": {"labels": {"a": "b"}}})  # so it is looked at once more
    put_job(cluster, "other")
    await until(lambda: "other-worker-1" in cluster.names("pods"), "the operator goes on")
    assert (status(cluster)["progress"]["summary"], forgotten) == ("100%", [job["metadata"]["uid"]])
    assert len(cluster.asked("GET", LOG)) == 2


async def test_an_operator_that_was_not_asked_to_reads_no_log(cluster: FakeCluster, start: StartInside) -> None:
    put_job(cluster, worker=a_role(1))
    await start()
    await until(lambda: cluster.names("pods") == ["train-worker-0"], "the pod")
    run(cluster)
    await until(lambda: status(cluster).get("phase") == "Running", "Running")
    end(cluster)
    await until(lambda: status(cluster).get("phase") == "Completed", "Completed")
    assert cluster.asked("GET", LOG) == []


async def test_who_may_not_read_logs_is_told_once_and_all_else_goes_on(
    cluster: FakeCluster, start: StartInside, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.fail("GET", LOG, refuses(403, "Forbidden"), times=100)
    put_job(cluster, worker=a_role(1))
    put_job(cluster, "second", worker=a_role(1))
    await start(progress=True)
    await until(lambda: len(cluster.names("pods")) == 2, "the pods")
    run(cluster)
    await until(lambda: bool(cluster.asked("GET", LOG)), "a try")
    end(cluster)
    await until(
        lambda: {status(cluster, name).get("phase") for name in ("train", "second")} == {"Completed"}, "the end"
    )
    assert capsys.readouterr().out.count("logs may not be read") == 1


async def test_whether_logs_may_be_read_by_now_is_tried_again_after_a_while(listener: Listener) -> None:
    listener.cluster.fail("GET", LOG, refuses(403, "Forbidden"))
    assert await listener.listen() == DENIED_FOR.total_seconds()
    assert listener.ears.listening(JOB).every is None
    listener.now += DENIED_FOR
    assert listener.ears.listening(JOB).every is not None
    listener.cluster.say(ASKED.name, "step 1/2")
    assert await listener.listen() == 0
    assert listener.steps == [1]


async def test_all_jobs_together_stay_within_one_limit(listener: Listener) -> None:
    def job(number: int) -> Job:
        return Job(metadata=ObjectMeta(name=f"job-{number}", namespace=NAMESPACE, uid=f"uid-{number}"))

    waits = [await listener.listen(job=job(number)) for number in range(1, 4 * READS_PER_SECOND + 1)]
    assert max(waits) == pytest.approx(4, abs=0.1)
    assert sum(wait == 0 for wait in waits) == 1
    late = job(4 * READS_PER_SECOND)
    assert await listener.listen(1, job=late) == pytest.approx(waits[-1] - 1)  # its turn is kept
    assert await listener.listen(3, job=late) == 0
    assert len(listener.cluster.asked("GET", LOG)) == 2


async def test_lines_are_heard_once(listener: Listener) -> None:
    listener.cluster.say(ASKED.name, "step 1/9")
    await listener.listen()
    listener.cluster.say(ASKED.name, "loss: 0.5")
    await listener.listen(15)
    (reading,) = listener.ears.known(JOB.metadata.uid)["uid"].readings
    assert (reading.step, reading.loss) == (1, 0.5)


async def test_between_two_looks_too_many_lines_may_be_missed(listener: Listener) -> None:
    listener.cluster.say(ASKED.name, "Epoch 1/2", "step 5/10 - loss: 0.5 - 3ms/step")
    await listener.listen()
    listener.cluster.say(ASKED.name, *["step 6/10 - loss: 0.4 - 3ms/step"] * (LINES + 1))
    await listener.listen(15)
    assert listener.steps[-1] == 5  # of which epoch the others are, is not known


async def test_of_long_lines_fewer_are_asked_for(listener: Listener) -> None:
    listener.cluster.say(ASKED.name, "step 1/9")
    await listener.listen()
    for number in range(2, 9):
        listener.cluster.say(ASKED.name, f"step {number}/9 {'x' * (BYTES // 4)}")
    for _ in range(3):
        await listener.listen(15)
    assert listener.steps[-1] == 8


@pytest.mark.parametrize("end", ["step 5/10", "\rstep 5/10", "loss: 0.5 step 5/10"])
async def test_half_a_number_at_the_end_of_what_fits_is_none(listener: Listener, end: str) -> None:
    stamp = len("2026-05-04T12:00:00.000000001Z ")
    listener.cluster.say(ASKED.name, "step 2/1000")
    await listener.listen()
    first = f"step 3/1000 {'x' * 1000}"
    rest = BYTES - 2 * stamp - len(first) - 1 - stamp - len("step 2/1000") - 1
    listener.cluster.say(ASKED.name, first, "y" * (rest - len(end)) + f" {end}00")
    await listener.listen(15)
    assert {one.total for one in listener.readings} == {1000}


async def test_a_line_that_never_fits_is_movement(listener: Listener) -> None:
    listener.cluster.say(ASKED.name, "step 2/1000", at=NOW)
    await listener.listen()
    before = listener.said.changed
    listener.cluster.say(ASKED.name, "x" * 2 * BYTES, at=NOW + timedelta(seconds=10))
    for _ in range(4):
        await listener.listen(15)
    assert listener.steps == [2]
    assert before is not None
    assert listener.said.changed is not None
    assert listener.said.changed > before
    listener.cluster.say(ASKED.name, "step 3/1000", at=NOW + timedelta(seconds=70))
    await listener.listen(15)
    assert listener.steps[-1] == 3


async def test_what_a_kubelet_says_itself_does_not_make_deaf(listener: Listener) -> None:
    """It answers so, with 200, when the log of a container has just been rotated or removed."""
    listener.cluster.say(ASKED.name, "step 1/9")
    await listener.listen()
    listener.cluster.print_raw(ASKED.name, "unable to retrieve container logs for containerd://0123")
    await listener.listen(15)
    listener.cluster.say(ASKED.name, "step 2/9")
    await listener.listen(15)
    assert listener.steps[-1] == 2
    assert "unable" not in " ".join(listener.said.lines)


@pytest.mark.parametrize("minutes", [-10, 0, 10], ids=["slow", "right", "fast"])
async def test_a_clock_of_a_node_that_is_wrong_makes_no_silence(listener: Listener, minutes: int) -> None:
    skew = timedelta(minutes=minutes)
    listener.cluster.say(ASKED.name, "step 1/9", at=NOW + skew)
    await listener.listen()
    listener.cluster.say(ASKED.name, "step 2/9", at=NOW + skew + timedelta(seconds=10))
    await listener.listen(15)
    assert NOW <= (listener.said.changed or NOW - skew) <= listener.now
    await listener.listen(15)
    assert listener.said.changed == NOW + timedelta(seconds=15 if minutes > 0 else 10 if minutes == 0 else 0)


async def test_a_slow_clock_starts_nothing_over_that_was_heard_only_once(listener: Listener) -> None:
    restarts = HangPolicy(action="Restart", after_seconds=60)
    job = (
        a_job()
        .in_namespace(NAMESPACE)
        .with_workers(1)
        .asking(hang=restarts, backoff_limit=1)
        .in_phase("Running")
        .build()
    )
    pods = [one.running().build() for one in pods_of(job).values()]
    uid, phases = pods[0].metadata.uid, []
    listener.cluster.say(ASKED.name, "loading", at=NOW - timedelta(minutes=10))
    for seconds in (0, 59, 1):
        await listener.listen(seconds, job=job, uid=uid)
        seen = replace(observe(job, [*pods, a_config_map(job)]), said=listener.ears.known(job.metadata.uid))
        seen = replace(seen, listening=listener.ears.listening(job))
        phases.append(plan(job, seen, listener.now).status.phase)
    assert phases == ["Running", "Running", "Restarting"]


async def test_what_is_heard_first_may_have_been_printed_just_then(listener: Listener) -> None:
    listener.cluster.say(ASKED.name, "step 1/9", at=NOW - timedelta(minutes=10))
    listener.cluster.fail("GET", LOG, refuses(500, "InternalError"))
    await listener.listen()
    unread = listener.said
    assert unread.first is None
    for _ in range(2):
        await listener.listen(15)
        assert (listener.said.changed, listener.said.first) == (
            NOW - timedelta(minutes=10),
            NOW + timedelta(seconds=15),
        )
    await listener.listen(15, life=1)
    assert listener.said.first == listener.now


async def test_a_log_that_cannot_be_read_holds_its_job_up_for_one_time_limit_only(listener: Listener) -> None:
    listener.cluster.fail("GET", LOG, refuses(500, "InternalError"), times=100)
    await listener.ears.listen(JOB, tuple(Listen(f"train-worker-{at}", f"uid-{at}", "") for at in range(5)))
    assert len(listener.cluster.asked("GET", LOG)) == 1


HOSTILE = {
    "a megabyte in one line": "x" * 1024 * 1024,
    "control characters": "\x1b[2J\x1b]0;title\x07\x00\x08\x9b31m step",
    "another encoding": "step \u7b2c 3 loss \udcff\udcfe \ufeff\u202e",
    "numbers of 5,000 digits": f"step {'9' * 5000}/{'9' * 5000} loss: {'9' * 5000}",
    "no numbers": "step nan/inf loss: nan",
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_log_takes_next_to_no_time_and_tells_nothing(listener: Listener, name: str) -> None:
    pattern = ProgressPolicy(pattern=r"(x*)*(x?){200}x{200}(?P<step>\d+)")
    for policy in (None, pattern):
        job = a_job().in_namespace(NAMESPACE).asking(progress=policy).build()
        listener.ears.forget(job.metadata.uid)
        for _ in range(4):
            listener.cluster.say(ASKED.name, *[HOSTILE[name]] * 3)
            begun = time.thread_time()
            await listener.listen(15, job=job)
        assert time.thread_time() - begun < 1  # of which most is our own stand-in for a cluster
        assert listener.readings == ()
        assert all(plain(line) == line and len(line) <= 1000 for line in listener.said.lines)


async def test_another_life_of_a_container_and_another_job_begin_afresh(listener: Listener) -> None:
    listener.cluster.say(ASKED.name, "step 1/9")
    await listener.listen()
    await listener.listen(15, life=1)
    assert listener.steps == [1]
    listener.ears.forget(JOB.metadata.uid)
    assert listener.ears.known(JOB.metadata.uid) == {}


async def test_a_log_that_cannot_be_read_now_is_told_and_read_later(listener: Listener) -> None:
    listener.cluster.say(ASKED.name, "step 1/9")
    listener.cluster.fail("GET", LOG, refuses(500, "InternalError"))
    assert await listener.listen() == 0
    said = listener.ears.known(JOB.metadata.uid)["uid"]
    assert (said.readings, bool(said.error), said.at) == ((), True, NOW)
    await listener.listen(15)
    assert listener.steps == [1]


async def test_pods_that_were_not_heard_for_long_are_forgotten(listener: Listener) -> None:
    await listener.listen()
    await listener.listen(2 * listening.KEPT_FOR.total_seconds(), uid="another")
    assert set(listener.ears.known(JOB.metadata.uid)) == {"another"}


async def test_the_users_own_pattern_counts(listener: Listener) -> None:
    listener.cluster.say(ASKED.name, "7 out of 9")
    policy = ProgressPolicy(pattern=r"(?P<step>\d+) out of (?P<total>\d+)")
    await listener.listen(job=a_job().in_namespace(NAMESPACE).asking(progress=policy).build())
    assert listener.steps == [7]


@pytest.mark.parametrize("stamp", ["2026-05-04T12:00:00.5Z", "2026-05-04T12:00:00.123456789Z", "2026-05-04T12:00:00Z"])
def test_times_of_kubelets_have_as_many_digits_as_they_need(stamp: str) -> None:
    found = listening._stamped(f"{stamp} a line")
    assert found is not None
    assert found[1] == "a line"
    assert abs(listening._moment(found[0]) - NOW) < timedelta(seconds=1)
    assert isinstance(listening._moment(found[0]), datetime)
