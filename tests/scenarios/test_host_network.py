"""Jobs on the host's network: a block of ports each, no two alike, kept while they live and free for others after.

All simulated pods run on one node, so that every two of them share an address. Each test has a range of its own: what
the one before left behind may still have ports of the node.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import combinations, count
from pathlib import Path

import pytest

from paddlejob.core.ports import Block
from tests.cluster.waiting import wait_until
from tests.operator.fixtures import StartOperator
from tests.operator.process import OperatorProcess, operator_kubeconfig
from tests.scenarios.desk import Desk, Json, a_job, a_role
from tests.scenarios.exchange import Exchange
from tests.scenarios.proxy import FaultProxy
from tests.scenarios.test_leaders import forget_lease

PORTS = "batch.paddlepaddle.org/ports"
LONG = 60
_ranges = count(21000, 500)


@pytest.fixture
def low() -> int:
    """The first port of this test's range."""
    return next(_ranges)


@pytest.fixture
def operator(desk: Desk, start_operator: StartOperator, low: int) -> OperatorProcess:
    return start_operator(f"--namespace={desk.namespace}", f"--port-range={low},{low + 480}")


def host_job(name: str, **spec: object) -> Json:
    return a_job(name, intranet="Host", **spec)


def first_port(desk: Desk, name: str) -> int | None:
    text = desk.job(name)["metadata"].get("annotations", {}).get(PORTS)
    return int(text) if text else None


def reserved(desk: Desk, name: str, timeout: float = 60) -> int:
    def found() -> int:
        port = first_port(desk, name)
        assert port is not None
        return port

    return wait_until(found, timeout)


def block(desk: Desk, name: str, size: int) -> Block:
    first = reserved(desk, name)
    return Block(first, first + size - 1)


def env_of(pod: Json) -> dict[str, str]:
    return {one["name"]: one.get("value", "") for one in pod["spec"]["containers"][0]["env"]}


def host_ports(pod: Json) -> list[int]:
    return [one["hostPort"] for one in pod["spec"]["containers"][0]["ports"]]


@pytest.mark.usefixtures("operator")
def test_collective_workers_on_one_node_have_ports_of_their_own_and_one_place_to_meet(desk: Desk, low: int) -> None:
    desk.submit(host_job("shared"))
    desk.in_phase("shared", "Running")
    pods = [desk.pod(f"shared-worker-{index}") for index in (0, 1)]
    assert first_port(desk, "shared") == low
    assert [host_ports(one) for one in pods] == [[low], [low + 20]]
    assert [env_of(one)["PORT_RANGE"] for one in pods] == [f"{low + 2}:{low + 19}", f"{low + 22}:{low + 39}"]
    assert all(one["spec"]["hostNetwork"] for one in pods)
    assert {one["spec"]["dnsPolicy"] for one in pods} == {"ClusterFirstWithHostNet"}
    (address,) = {one["status"]["podIP"] for one in pods}
    told = desk.config("shared")
    assert (told["PADDLE_MASTER"], told["PADDLE_NNODES"]) == (f"{address}:{low}", "2")
    assert told["PADDLE_TRAINER_ENDPOINTS"] == f"{address}:{low},{address}:{low + 20}"
    assert told["DISTRIBUTED_TRAINER_ENDPOINTS"] == f"{address}:{low},worker-1"
    assert (told["MASTER_ADDR"], told["MASTER_PORT"], told["NNODES"]) == (address, str(low + 1), "2")
    desk.finish_workers("shared")
    desk.in_phase("shared", "Completed")


@pytest.mark.usefixtures("operator")
def test_a_ps_job_on_one_node_has_endpoints_with_ports_of_their_own(desk: Desk, low: int) -> None:
    desk.submit(host_job("served", ps=a_role(2)))
    desk.in_phase("served", "Running")
    told = desk.config("served")
    (address,) = {one["status"]["podIP"] for one in desk.pods().values()}
    assert told["PADDLE_PSERVERS_IP_PORT_LIST"] == f"{address}:{low},{address}:{low + 1}"
    assert told["PADDLE_TRAINER_ENDPOINTS"] == f"{address}:{low + 2},{address}:{low + 3}"
    assert told["PADDLE_GLOO_HTTP_ENDPOINT"] == f"{address}:{low + 4}"
    assert host_ports(desk.pod("served-ps-0")) == [low, low + 4]


@pytest.mark.usefixtures("operator")
def test_many_jobs_at_once_have_nothing_in_common_and_leave_their_ports_to_others(desk: Desk, low: int) -> None:
    names = [f"many-{number}" for number in range(20)]
    for name in names:
        desk.submit(host_job(name, worker=a_role(1)))
    blocks = [block(desk, name, 20) for name in names]
    assert not [1 for one, other in combinations(blocks, 2) if one.overlaps(other)]
    assert min(one.first for one in blocks) == low
    assert max(one.last for one in blocks) == low + 20 * 20 - 1
    for name in names:
        desk.in_phase(name, "Running", LONG)
        desk.finish_workers(name)
    for name in names:
        desk.in_phase(name, "Completed", LONG)
    desk.submit(host_job("next", worker=a_role(1)))
    assert reserved(desk, "next") == low


@pytest.mark.usefixtures("operator")
def test_a_job_that_finds_no_ports_says_so_and_goes_on_when_another_ends(desk: Desk, low: int) -> None:
    desk.submit(host_job("large", worker=a_role(20)))
    assert reserved(desk, "large") == low
    desk.submit(host_job("late", worker=a_role(5)))
    status = desk.stalled("late", "NoPorts")
    assert f"there are no 100 free ports in a row in the operator's --port-range {low},{low + 480}" in status["message"]
    assert not [name for name in desk.pods() if name.startswith("late-")]
    desk.submit(host_job("small", worker=a_role(1)))
    assert reserved(desk, "small") == low + 400  # who is small enough need not wait
    desk.delete("large")
    status = desk.in_phase("late", "Running", timeout=LONG)
    assert "reason" not in status
    assert reserved(desk, "late") == low
    assert desk.told("late").count("NoPorts") == 1


@pytest.mark.usefixtures("operator")
def test_ports_are_held_until_the_last_pod_has_ended(desk: Desk, low: int) -> None:
    lingering = a_role(1, lingers="3s")
    desk.submit(host_job("slow", ps=lingering, worker=a_role(1, ends="succeeded")))
    desk.in_phase("slow", "Completed")
    assert "slow-ps-0" in desk.pods()
    desk.submit(host_job("quick", ps=a_role(1), worker=a_role(1)))
    assert reserved(desk, "quick") == low + 3
    wait_until(lambda: "slow-ps-0" not in desk.pods())
    desk.submit(host_job("third", ps=a_role(1), worker=a_role(1)))
    assert reserved(desk, "third") == low


@pytest.mark.usefixtures("operator")
def test_ports_that_somebody_chose_by_hand(desk: Desk, low: int) -> None:
    def by_hand(name: str, first: object) -> None:
        job = host_job(name)
        job["metadata"]["annotations"] = {PORTS: str(first)}
        desk.submit(job)
        desk.in_phase(name, "Running")

    by_hand("chosen", low + 100)
    assert first_port(desk, "chosen") == low + 100
    by_hand("elsewhere", low + 490)  # out of the range: respected, it is nobody's
    assert first_port(desk, "elsewhere") == low + 490
    by_hand("overlapping", low + 110)
    assert first_port(desk, "overlapping") == low
    by_hand("nonsense", "many")
    assert first_port(desk, "nonsense") == low + 40


def is_reservation(exchange: Exchange) -> bool:
    return exchange.method == "PATCH" and PORTS.encode() in exchange.body and exchange.status == 200


@pytest.fixture
def proxy(desk: Desk) -> Iterator[FaultProxy]:
    with FaultProxy(desk.control_plane) as started:
        yield started


@pytest.mark.parametrize("heard", [True, False], ids=["it heard the answer", "it did not hear the answer"])
def test_killed_right_after_a_reservation_it_goes_on_with_the_same_ports(
    desk: Desk, proxy: FaultProxy, start_operator: StartOperator, tmp_path: Path, low: int, heard: bool
) -> None:
    kubeconfig = operator_kubeconfig(desk.control_plane, tmp_path / "kubeconfig", server=proxy.url)
    flags = (f"--namespace={desk.namespace}", f"--port-range={low},{low + 480}")
    operator = start_operator(*flags, kubeconfig=kubeconfig)
    killed = threading.Event()

    def kill() -> None:
        operator.kill()
        killed.set()

    proxy.after_write(1, kill, heard=heard, hang_up=True, test=is_reservation)
    desk.submit(host_job("cut"))
    assert killed.wait(LONG)
    if not heard:
        assert not desk.pods()
    desk.submit(host_job("other"))
    operator.start()
    for name in ("cut", "other"):
        desk.in_phase(name, "Running", LONG)
    assert (first_port(desk, "cut"), first_port(desk, "other")) == (low, low + 40)


def test_a_new_leader_whose_watch_is_behind_gives_no_ports_away_twice(
    desk: Desk, start_operator: StartOperator, tmp_path: Path, low: int
) -> None:
    """The last reservation of the one before has not reached it: it reads all anew before it reserves any.

    With what its watch had told, the first block would be for the early job and the second, which is taken, for the
    late one.
    """
    forget_lease(desk)
    flags = ("--leader-elect", f"--port-range={low},{low + 480}")
    before = start_operator(*flags, "--namespace=default")  # holds the lease and leaves our jobs alone
    wait_until(lambda: leads(before))
    with FaultProxy(desk.control_plane) as proxy:
        kubeconfig = operator_kubeconfig(desk.control_plane, tmp_path / "second", server=proxy.url)
        after = start_operator(*flags, f"--namespace={desk.namespace}", kubeconfig=kubeconfig)
        for name in ("early", "late"):
            desk.submit(host_job(name))
        wait_until(lambda: 'paddlejob_jobs{phase="New"} 2.0' in after.scrape())
        proxy.order_watches("silence")
        desk.annotate("early", {PORTS: str(low + 40)})  # as the one before would have done
        assert before.stop() == 0
        wait_until(lambda: leads(after), LONG)
        assert reserved(desk, "late", LONG) == low
        assert first_port(desk, "early") == low + 40
    forget_lease(desk)


def leads(operator: OperatorProcess) -> bool:
    return "paddlejob_leader 1.0" in operator.scrape()


def test_two_replicas_that_follow_each_other_give_every_job_ports_of_its_own(
    desk: Desk, start_operator: StartOperator, low: int
) -> None:
    forget_lease(desk)
    flags = (f"--namespace={desk.namespace}", "--leader-elect", f"--port-range={low},{low + 480}")
    first, second = start_operator(*flags), start_operator(*flags)
    wait_until(lambda: leads(first) or leads(second))
    leader = first if leads(first) else second
    names = [f"job-{number}" for number in range(12)]
    for number, name in enumerate(names):
        desk.submit(host_job(name, worker=a_role(1)))
        if number == 6:
            assert leader.stop() == 0
    blocks = [block(desk, name, 20) for name in names]
    assert not [1 for one, other in combinations(blocks, 2) if one.overlaps(other)]
    for name in names:
        desk.in_phase(name, "Running", LONG)
    forget_lease(desk)


@pytest.mark.usefixtures("operator")
def test_a_restart_keeps_the_ports(desk: Desk, low: int) -> None:
    desk.submit(host_job("again", backoffLimit=1))
    desk.in_phase("again", "Running")
    pods = {one["metadata"]["uid"] for one in desk.pods().values()}
    desk.steer("again-worker-0", ends="failed")
    status = desk.until("again", lambda one: one.get("restarts") == 1 and one.get("phase") == "Running", LONG)
    assert status["restarts"] == 1
    assert not pods & {one["metadata"]["uid"] for one in desk.pods().values()}
    assert first_port(desk, "again") == low
    assert [host_ports(desk.pod(f"again-worker-{index}")) for index in (0, 1)] == [[low], [low + 20]]
