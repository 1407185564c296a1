"""Ports: one and the same on addresses of their own, a share of the job's block where addresses are shared."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddlejob.api import Job, Role
from paddlejob.api.names import RoleName
from paddlejob.api.spec import Intranet
from paddlejob.core import observe
from paddlejob.core.environment import pod_environment, shared_environment
from paddlejob.core.ports import (
    Block,
    block_of,
    gloo_port,
    host_ports,
    launcher_ports,
    master_port,
    port_of,
    ports_needed,
)
from tests.builders import JobBuilder, Template, a_job, a_ps_job, a_template, places_of, pods_of


def test_without_a_block_every_pod_has_the_same_port() -> None:
    job = a_ps_job().build()
    assert {port_of(job, role, index) for role in ("ps", "worker") for index in (0, 1)} == {2379}
    assert gloo_port(job) == 2380
    assert launcher_ports(a_job().build(), 0) is None


def test_with_a_block_every_pod_has_its_own_and_the_meeting_too() -> None:
    job = a_ps_job().with_heter(1).with_ports(20000).build()
    assert [port_of(job, role, index) for role, index in places_of(job)] == [20000, 20001, 20002, 20003, 20004]
    assert gloo_port(job) == 20005
    assert ports_needed(job) == 6
    assert launcher_ports(job, 0) is None


def test_a_launcher_has_twenty_ports_the_first_of_which_is_its_pods() -> None:
    job = a_job().with_workers(2).with_ports(20000).build()
    assert ports_needed(job) == 40
    assert [port_of(job, "worker", index) for index in (0, 1)] == [20000, 20020]
    assert [launcher_ports(job, index) for index in (0, 1)] == [Block(20002, 20019), Block(20022, 20039)]


def test_a_role_that_may_grow_has_room_to() -> None:
    assert ports_needed(a_job().asking(worker=Role(replicas=2, limits=5, template=a_template())).build()) == 100


NO_BLOCK = ["", "soon", "0", "-1", "²", "65536", "65500", "9" * 5000, "20000-20039", " 20000"]


@pytest.mark.parametrize("text", NO_BLOCK, ids=lambda text: repr(text[:12]))
def test_what_is_no_block(text: str) -> None:
    job = a_job().with_workers(2).with_ports(text).build()
    assert block_of(job) is None
    assert port_of(job, "worker", 0) == 2379


def test_the_last_block_that_computers_have() -> None:
    assert block_of(a_job().with_ports(65516).build()) == Block(65516, 65535)
    assert block_of(a_job().with_ports(65517).build()) is None


def test_a_role_that_the_job_does_not_have_has_the_common_port() -> None:
    assert port_of(a_job().build(), "ps", 0) == 2379


def test_the_meeting_is_never_on_the_first_servers_own_port() -> None:
    assert gloo_port(a_ps_job().template(on_port("20004")).with_ports(20000).build()) == 20000
    assert gloo_port(a_ps_job().template(on_port("2380")).build()) == 2379


def test_programs_that_go_by_a_master_port_meet_on_one_that_nobody_else_has() -> None:
    job = a_job().with_workers(2)
    assert master_port(job.build()) == 2380
    assert master_port(job.with_ports(20000).build()) == 20001
    assert master_port(job.template(on_port("20001")).with_ports(20000).build()) == 20000


def on_port(value: str) -> Template:
    """A template in which the user sets the port."""
    return a_template(env=[{"name": "PADDLE_PORT", "value": value}])


HOST_PORTS: dict[str, tuple[JobBuilder, RoleName, tuple[int, ...]]] = {
    "a worker": (a_job(), "worker", (20000,)),
    "the first server": (a_ps_job(), "ps", (20000, 20004)),
    "the first server without gloo": (a_ps_job().with_gloo(0), "ps", (20000,)),
    "a worker of a PS job": (a_ps_job(), "worker", (20002,)),
    "a port that the user set": (
        a_job().template(on_port("7")),
        "worker",
        (7,),
    ),
    "a port that is none": (a_job().template(on_port("x")), "worker", ()),
    "a port too high": (a_job().template(on_port("65536")), "worker", ()),
    "a port of thousands of digits": (a_job().template(on_port("9" * 5000)), "worker", ()),
}


@pytest.mark.parametrize("case", HOST_PORTS)
def test_ports_of_the_host(case: str) -> None:
    job, role, ports = HOST_PORTS[case]
    assert host_ports(job.with_ports(20000).build(), role, 0) == ports


def test_pods_on_one_address_are_told_apart_by_their_ports() -> None:
    shared, job = told_on_one_address(a_ps_job())
    assert shared["PADDLE_PSERVERS_IP_PORT_LIST"] == "127.0.0.1:20000,127.0.0.1:20001"
    assert shared["PADDLE_GLOO_HTTP_ENDPOINT"] == "127.0.0.1:20004"
    own = {one["name"]: one.get("value") for one in pod_environment(job, "worker", 1)}
    assert own["PADDLE_PORT"] == "20003"
    assert "PORT_RANGE" not in own


@pytest.mark.parametrize("network", ["PodIP", "Host"])
def test_collective_workers_on_one_address_meet_at_the_first_ones_port(network: Intranet) -> None:
    shared, job = told_on_one_address(a_job().with_workers(2).by(network))
    assert (shared["PADDLE_MASTER"], shared["PADDLE_NNODES"]) == ("127.0.0.1:20000", "2")
    assert (shared["MASTER_ADDR"], shared["MASTER_PORT"]) == ("127.0.0.1", "20001")
    own = [{one["name"]: one.get("value") for one in pod_environment(job, "worker", index)} for index in (0, 1)]
    assert [one["PORT_RANGE"] for one in own] == ["20002:20019", "20022:20039"]


def test_on_different_hosts_collective_workers_are_told_in_both_ways() -> None:
    job = a_job().with_workers(2).by("Host").with_ports(20000).build()
    shared = shared_environment(job, observe(job, [one.build() for one in pods_of(job).values()]))
    assert shared is not None
    assert (shared["PADDLE_MASTER"], shared["PADDLE_NNODES"]) == ("10.0.0.1:20000", "2")
    assert shared["PADDLE_TRAINER_ENDPOINTS"] == "10.0.0.1:20000,10.0.0.2:20020"


def test_a_single_worker_on_the_hosts_network_has_nobody_to_meet() -> None:
    shared, _ = told_on_one_address(a_job().by("Host"))
    assert "PADDLE_MASTER" not in shared
    assert shared["PADDLE_TRAINER_ENDPOINTS"] == "127.0.0.1:20000"


def told_on_one_address(job: JobBuilder) -> tuple[dict[str, str], Job]:
    made = job.with_ports(20000).build()
    pods = [one.with_address("127.0.0.1").build() for one in pods_of(made).values()]
    shared = shared_environment(made, observe(made, pods))
    assert shared is not None
    return shared, made


def test_blocks_that_share_a_port_overlap() -> None:
    assert Block(1, 5).overlaps(Block(5, 9))
    assert Block(5, 9).overlaps(Block(1, 5))
    assert Block(1, 9).overlaps(Block(3, 4))
    assert not Block(1, 4).overlaps(Block(5, 9))


@given(st.integers(0, 3), st.integers(1, 4), st.integers(0, 3), st.integers(1, 60000))
def test_no_two_pods_of_a_job_have_a_port_in_common_and_all_are_in_its_block(
    servers: int, workers: int, heter: int, first: int
) -> None:
    job = a_job().with_servers(servers).with_workers(workers).with_heter(heter).by("Host").with_ports(first).build()
    block = block_of(job)
    assert block is not None
    shares = []
    for role, index in places_of(job):
        more = launcher_ports(job, index) if role == "worker" else None
        shares.append({*host_ports(job, role, index), *(range(more.first, more.last + 1) if more else ())})
    assert not [1 for one, other in combinations(shares, 2) if one & other]
    assert all(block.first <= port <= block.last for share in shares for port in share)
    assert block.last - block.first + 1 == ports_needed(job)
