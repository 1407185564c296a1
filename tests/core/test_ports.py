"""Ports: one and the same on addresses of their own, one each from the job's block where addresses are shared."""

from __future__ import annotations

import msgspec

from paddlejob.api.names import ANNOTATION_PORTS
from paddlejob.core import observe
from paddlejob.core.environment import pod_environment, shared_environment
from paddlejob.core.ports import gloo_port, port_of, ports_needed
from tests.builders import JobBuilder, a_job, a_ps_job, pods_of


def with_block(job: JobBuilder, first: str) -> JobBuilder:
    made = job.build()
    meta = msgspec.structs.replace(made.metadata, annotations={ANNOTATION_PORTS: first})
    return JobBuilder(msgspec.structs.replace(made, metadata=meta))


def test_without_a_block_every_pod_has_the_same_port() -> None:
    job = a_ps_job().build()
    assert {port_of(job, role, index) for role in ("ps", "worker") for index in (0, 1)} == {2379}
    assert gloo_port(job) == 2380


def test_with_a_block_every_pod_has_its_own_and_the_meeting_too() -> None:
    job = with_block(a_ps_job(), "40000").build()
    ports = [port_of(job, "ps", 0), port_of(job, "ps", 1), port_of(job, "worker", 0), port_of(job, "worker", 1)]
    assert [*ports, gloo_port(job)] == [40000, 40001, 40002, 40003, 40004]
    assert ports_needed(job) == 5


def test_a_block_that_is_no_number_is_no_block() -> None:
    assert port_of(with_block(a_job(), "soon").build(), "worker", 0) == 2379


def test_a_role_that_the_job_does_not_have_has_the_common_port() -> None:
    assert port_of(a_job().build(), "ps", 0) == 2379


def test_pods_on_one_address_are_told_apart_by_their_ports() -> None:
    job = with_block(a_ps_job(), "40000").build()
    pods = [one.with_address("127.0.0.1").build() for one in pods_of(job).values()]
    shared = shared_environment(job, observe(job, pods))
    assert shared is not None
    assert shared["PADDLE_PSERVERS_IP_PORT_LIST"] == "127.0.0.1:40000,127.0.0.1:40001"
    assert shared["PADDLE_GLOO_HTTP_ENDPOINT"] == "127.0.0.1:40004"
    own = {one["name"]: one.get("value") for one in pod_environment(job, "worker", 1)}
    assert own["PADDLE_PORT"] == "40003"


def test_collective_workers_on_one_address_meet_at_the_first_ones_port() -> None:
    job = with_block(a_job().with_workers(2), "40000").build()
    pods = [one.with_address("127.0.0.1").build() for one in pods_of(job).values()]
    shared = shared_environment(job, observe(job, pods))
    assert shared is not None
    assert (shared["PADDLE_MASTER"], shared["PADDLE_NNODES"]) == ("127.0.0.1:40000", "2")
    assert "PADDLE_TRAINER_ENDPOINTS" not in shared
