"""The network and the API server at their worst, in the middle of a job's life: jobs still finish.

Every fault strikes twice: while the pods of a job start, and when its workers end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import wait_until
from tests.operator.fixtures import StartOperator
from tests.operator.process import OperatorProcess, operator_kubeconfig
from tests.scenarios.desk import Desk, a_job, a_role
from tests.scenarios.exchange import (
    Action,
    Answer,
    Delay,
    Exchange,
    Stall,
    Test,
    anything,
    concerning,
    is_call,
    is_watch,
    is_write,
)
from tests.scenarios.open_watch import Order
from tests.scenarios.proxy import FaultProxy

pytestmark = pytest.mark.usefixtures("operator")

LONG = 90
KINDS = 4  # jobs, pods, services, ConfigMaps: one watch each
Strike = Callable[[FaultProxy], AbstractContextManager[object]]


@pytest.fixture
def proxy(control_plane: ControlPlane) -> Iterator[FaultProxy]:
    with FaultProxy(control_plane) as started:
        yield started


@pytest.fixture
def operator(proxy: FaultProxy, desk: Desk, start_operator: StartOperator, tmp_path: Path) -> OperatorProcess:
    kubeconfig = operator_kubeconfig(desk.control_plane, tmp_path / "kubeconfig", server=proxy.url)
    return start_operator(f"--namespace={desk.namespace}", kubeconfig=kubeconfig)


@pytest.fixture(scope="module", autouse=True)
def unheard(control_plane: ControlPlane, installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """Where an operator works to which nobody speaks any more. It notices after 75 s, so it starts with the module."""
    assert installed.exists()
    control_plane.add_namespace("unheard")
    desk, folder = Desk(control_plane, "unheard"), tmp_path_factory.mktemp("unheard")
    with FaultProxy(control_plane) as proxy:
        kubeconfig = operator_kubeconfig(control_plane, folder / "kubeconfig", server=proxy.url)
        operator = OperatorProcess(kubeconfig, folder / "operator.log", ["--namespace=unheard"])
        try:
            operator.start()
            prepare(desk, "deaf")
            with proxy.faulty(Stall(), is_write, times=3) as stall:
                desk.submit(a_job("unanswered", worker=a_role(2, ends="succeeded")))
                wait_until(lambda: stall.left == 0)
            wait_until(lambda: proxy.open_watches == KINDS)
            proxy.order_watches("silence")
            let_go(desk, "deaf")
            yield desk
        finally:
            operator.kill()
    control_plane.api.delete("/api/v1/namespaces/unheard")


def prepare(desk: Desk, name: str) -> None:
    """A job whose pods are placed and wait to be let go."""
    desk.submit(a_job(name, ps=a_role(1, starts="never"), worker=a_role(2, starts="never")))
    desk.in_phase(name, "Starting", LONG)


def let_go(desk: Desk, name: str) -> None:
    for pod in desk.pods():
        if pod.startswith(f"{name}-"):
            desk.steer(pod, starts="when-touched")


def orders(order: Order) -> Strike:
    @contextmanager
    def strike(proxy: FaultProxy) -> Iterator[None]:
        proxy.order_watches(order)
        yield

    return strike


def answers(action: Action, test: Test = anything, times: int | None = None) -> Strike:
    return lambda proxy: proxy.faulty(action, test, times)


def both(first: Strike, second: Strike) -> Strike:
    @contextmanager
    def strike(proxy: FaultProxy) -> Iterator[None]:
        with first(proxy), second(proxy):
            yield

    return strike


@pytest.mark.parametrize(
    "strike",
    [
        pytest.param(orders("close"), id="watches end"),
        pytest.param(orders("break"), id="watches break in the middle of a line"),
        pytest.param(orders("expire"), id="watches are told that their version is gone"),
        pytest.param(
            both(answers(Answer(410, reason="Expired"), is_watch, times=KINDS), orders("close")),
            id="new watches are refused because their version is gone",
        ),
        pytest.param(answers(Answer(429, retry_after=1), is_write, times=6), id="429 for writes"),
        pytest.param(both(answers(Answer(429, retry_after=1), times=8), orders("break")), id="429 for everything"),
        pytest.param(answers(Answer(500), is_write, times=6), id="500 for writes"),
        pytest.param(both(answers(Answer(500), times=12), orders("break")), id="500 for everything"),
        pytest.param(answers(Delay(2.0), is_call), id="every answer takes two seconds"),
    ],
)
def test_a_job_finishes_although(desk: Desk, proxy: FaultProxy, strike: Strike) -> None:
    prepare(desk, "tried")
    wait_until(lambda: proxy.open_watches == KINDS, LONG)
    with strike(proxy):
        let_go(desk, "tried")
        desk.in_phase("tried", "Running", LONG)
    wait_until(lambda: proxy.open_watches == KINDS, LONG)
    with strike(proxy):
        desk.finish_workers("tried")
        desk.in_phase("tried", "Completed", LONG)
    wait_until(lambda: set(desk.pods()) == {"tried-worker-0", "tried-worker-1"}, LONG)


def test_nothing_is_sent_again_before_the_server_wants_it(desk: Desk, proxy: FaultProxy) -> None:
    """Not even when something happens meanwhile: the job is changed all the time."""
    refused: dict[str, list[float]] = defaultdict(list)

    def refused_often() -> bool:
        desk.kubectl("annotate", "pdj", "tried", "test/poked=again", "--overwrite", f"test/at={len(proxy.log)}")
        refused.clear()
        for one in proxy.log:
            if one.status == 429:
                refused[one.target].append(one.at)
        return any(len(times) >= 4 for times in refused.values())

    with proxy.faulty(Answer(429, retry_after=1), is_write):
        desk.submit(a_job("tried"))
        wait_until(refused_often, LONG)
    early = {target: times for target, times in refused.items() if any(b - a < 1 for a, b in pairwise(times))}
    assert not early
    desk.in_phase("tried", "Running", LONG)


def test_one_job_in_trouble_does_not_hold_up_the_others(desk: Desk, proxy: FaultProxy) -> None:
    healthy = [f"healthy-{number}" for number in range(3)]
    with ExitStack() as troubles:
        troubles.enter_context(proxy.faulty(Answer(500), concerning("refused")))
        troubles.enter_context(proxy.faulty(Stall(), concerning("hanging")))
        for name in ("refused", "hanging", *healthy):
            desk.submit(a_job(name, worker=a_role(2, ends="succeeded")))
        for name in healthy:
            desk.in_phase(name, "Completed", LONG)
        assert not any("refused" in pod or "hanging" in pod for pod in desk.pods())
    desk.in_phase("refused", "Completed", LONG)


def restart(plane: ControlPlane, *flags: str) -> None:
    """The controllers are kept out of it: they end for good when the server goes while they are starting."""
    plane.controller_manager.kill()
    plane.restart_apiserver(*flags)
    plane.controller_manager.start()


def test_a_job_finishes_although_the_api_server_crashes_and_comes_back(desk: Desk) -> None:
    prepare(desk, "tried")
    restart(desk.control_plane)
    let_go(desk, "tried")
    desk.in_phase("tried", "Running", LONG)
    restart(desk.control_plane)
    desk.finish_workers("tried")
    desk.in_phase("tried", "Completed", LONG)


def test_a_job_finishes_although_the_server_refuses_streaming_lists(
    desk: Desk, proxy: FaultProxy, operator: OperatorProcess
) -> None:
    prepare(desk, "tried")
    restart(desk.control_plane, "--feature-gates=WatchList=false")
    try:
        operator.kill()
        proxy.clear()
        operator.start()
        assert sum(is_list(one) for one in proxy.log) == KINDS
        let_go(desk, "tried")
        desk.in_phase("tried", "Running", LONG)
        wait_until(lambda: proxy.open_watches == KINDS)
        proxy.order_watches("expire")
        wait_until(lambda: sum(is_list(one) for one in proxy.log) == 2 * KINDS, LONG)
        desk.finish_workers("tried")
        desk.in_phase("tried", "Completed", LONG)
    finally:
        restart(desk.control_plane)


def is_list(exchange: Exchange) -> bool:
    return exchange.method == "GET" and not exchange.watch


def test_jobs_finish_although_connections_are_open_and_dead(unheard: Desk) -> None:
    """The last in this module, because it takes so long until silence is noticed."""
    unheard.in_phase("deaf", "Running", LONG)
    unheard.finish_workers("deaf")
    unheard.in_phase("deaf", "Completed", LONG)
    unheard.in_phase("unanswered", "Completed", LONG)
