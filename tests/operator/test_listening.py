"""Progress on a cluster: from the logs of running jobs, if the operator was asked to and may; otherwise as before."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from paddlejob.api import Job, ObjectMeta, ProgressPolicy
from paddlejob.core import Listen
from paddlejob.kube.client import Client
from paddlejob.operator import listening
from paddlejob.operator.listening import BYTES, DENIED_FOR, LINES, READS_PER_SECOND, Ears
from tests.builders import NOW, a_job
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
    def steps(self) -> list[int | None]:
        return [one.step for one in self.ears.known(JOB.metadata.uid)["uid"].readings]


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
    assert found[1] == "a line"
    assert abs(listening._moment(found[0]) - NOW) < timedelta(seconds=1)
    assert isinstance(listening._moment(found[0]), datetime)
