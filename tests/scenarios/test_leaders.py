"""Two operators and one lease: one acts, the other takes over, and a leader that was cut off stops before that.

Each speaks to the API server through a proxy of its own, whose log tells who wrote what and when.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from paddlejob.core.kinds import BUILT_IN
from tests.cluster.api import ApiError
from tests.cluster.waiting import wait_until
from tests.operator.fixtures import StartOperator
from tests.operator.process import OperatorProcess, operator_kubeconfig
from tests.scenarios.desk import Desk, Json, a_job, a_role
from tests.scenarios.exchange import Exchange, job_writes
from tests.scenarios.proxy import FaultProxy

LEASE = "/apis/coordination.k8s.io/v1/namespaces/paddle-system/leases/paddle-operator"
LONG = 60


@dataclass(frozen=True)
class Candidate:
    operator: OperatorProcess
    proxy: FaultProxy

    @property
    def leads(self) -> bool:
        return "paddlejob_leader 1.0" in self.operator.scrape()

    @property
    def writes(self) -> list[Exchange]:
        return job_writes(self.proxy.log)

    def has_asked_since(self, moment: float) -> bool:
        return any(one.at > moment and one.answered_at and one.is_lease for one in self.proxy.log)


Pair = tuple[Candidate, Candidate]


@pytest.fixture
def pair(desk: Desk, start_operator: StartOperator, tmp_path: Path) -> Iterator[Pair]:
    """The leader, and the one that waits. They write one thing at a time, so that there is always more to write."""
    forget_lease(desk)
    with ExitStack() as stack:

        def candidate(name: str) -> Candidate:
            proxy = stack.enter_context(FaultProxy(desk.control_plane))
            config = operator_kubeconfig(desk.control_plane, tmp_path / name, server=proxy.url)
            flags = (f"--namespace={desk.namespace}", "--leader-elect", "--kube-api-concurrency=1")
            return Candidate(start_operator(*flags, kubeconfig=config), proxy)

        leader = candidate("first")
        wait_until(lambda: leader.leads)
        waiting = candidate("second")
        wait_until(lambda: waiting.has_asked_since(0))
        yield leader, waiting
        forget_lease(desk)


def forget_lease(desk: Desk) -> None:
    """A lease that another test left behind would be respected for 15 s."""
    try:
        desk.api.delete(LEASE)
    except ApiError as error:
        if error.code != 404:
            raise


def holder(desk: Desk) -> str:
    spec: Json = desk.api.get(LEASE)["spec"]
    return str(spec.get("holderIdentity", ""))


def check_that_only_the_holder_wrote(*pair: Candidate) -> None:
    """Whoever writes to a job is the one whose write of the lease was the latest that the API server took."""
    claims = sorted(
        (one.answered_at, number)
        for number, candidate in enumerate(pair)
        for one in candidate.proxy.log
        if one.is_write and one.is_lease and one.status in (200, 201) and one.answered_at
    )
    for number, candidate in enumerate(pair):
        for write in candidate.writes:
            before = [who for when, who in claims if write.sent_at and when <= write.sent_at]
            assert before[-1:] == [number], f"candidate {number} did not hold the lease: {write}"


def finish(desk: Desk, name: str) -> None:
    desk.in_phase(name, "Running", LONG)
    desk.finish_workers(name)
    desk.in_phase(name, "Completed", LONG)


def test_when_the_leader_is_killed_the_other_acts_within_20_seconds(desk: Desk, pair: Pair) -> None:
    desk.submit(a_job("before"))
    desk.in_phase("before", "Running", LONG)
    pair[0].operator.kill()
    desk.submit(a_job("after"))
    wait_until(lambda: any(name.startswith("after-") for name in desk.pods()), timeout=20)
    finish(desk, "after")
    finish(desk, "before")
    check_that_only_the_holder_wrote(*pair)


def test_when_the_leader_is_stopped_it_leaves_the_lease_to_the_other(desk: Desk, pair: Pair) -> None:
    leader, waiting = pair
    desk.submit(a_job("before"))
    desk.in_phase("before", "Running", LONG)
    was = holder(desk)
    began = time.monotonic()
    assert leader.operator.stop() == 0
    assert time.monotonic() - began < 5
    assert holder(desk) != was
    desk.submit(a_job("after"))
    wait_until(lambda: waiting.writes, timeout=10)  # far less than the 15 s after which a lease expires
    finish(desk, "after")
    finish(desk, "before")
    check_that_only_the_holder_wrote(*pair)


def test_a_new_leader_whose_watch_of_pods_is_behind_takes_no_healthy_pod_for_lost(desk: Desk, pair: Pair) -> None:
    leader, waiting = pair
    wait_until(lambda: waiting.proxy.open_watches == len(BUILT_IN) + 1)
    waiting.proxy.order_watches("silence", "pods")
    desk.submit(a_job("shared"))
    desk.in_phase("shared", "Running", LONG)
    pods = uids(desk)
    assert leader.operator.stop() == 0
    wait_until(lambda: waiting.leads, LONG)
    finish(desk, "shared")
    assert uids(desk) == pods
    assert not desk.status("shared").get("disruptions")
    assert not [one for one in waiting.writes if one.method == "DELETE"]


def uids(desk: Desk) -> dict[str, str]:
    return {name: pod["metadata"]["uid"] for name, pod in desk.pods().items()}


def freeze(leader: Candidate) -> None:
    leader.operator.signal(signal.SIGSTOP)


def thaw(leader: Candidate) -> None:
    leader.operator.signal(signal.SIGCONT)


def cut_off(leader: Candidate) -> None:
    leader.proxy.partition()


def connect(leader: Candidate) -> None:
    leader.proxy.heal()


@pytest.mark.parametrize(
    ("stop", "resume"),
    [pytest.param(freeze, thaw, id="frozen"), pytest.param(cut_off, connect, id="cut off from the API server")],
)
def test_a_leader_that_was_held_up_writes_nothing_after_the_other_began(
    desk: Desk, pair: Pair, stop: Callable[[Candidate], None], resume: Callable[[Candidate], None]
) -> None:
    leader, waiting = pair
    stopped = threading.Event()

    def hold_up() -> None:
        stop(leader)
        stopped.set()

    leader.proxy.after_write(2, hold_up)
    desk.submit(a_job("shared", ps=a_role(2)))
    assert stopped.wait(LONG)
    desk.in_phase("shared", "Running", LONG)  # the other did the rest
    began = min(one.sent_at or 0.0 for one in waiting.writes)
    resumed = time.monotonic()
    resume(leader)
    wait_until(lambda: leader.has_asked_since(resumed), LONG)
    finish(desk, "shared")
    assert not leader.leads
    assert all((one.sent_at or 0.0) < began for one in leader.writes)
    check_that_only_the_holder_wrote(*pair)
    assert waiting.operator.stop() == 0
    desk.submit(a_job("later"))
    finish(desk, "later")  # by the one that was held up
    assert leader.operator.exit_code is None
    check_that_only_the_holder_wrote(*pair)
