"""Where the environment meets its limits: ports that the user sets, shared addresses, strings too long for Linux.

The worst outcome is a silent wrong result: workers that each train alone and exit 0. No case here may allow it.
"""

from __future__ import annotations

import pytest

from paddlejob.api import Job
from paddlejob.core import observe
from paddlejob.core.environment import LONGEST_STRING, job_id, shared_environment
from tests.builders import UID, Template, a_job, a_ps_job, a_template, pods_of


def shared(job: Job) -> dict[str, str]:
    """The ConfigMap's data when every pod has an address."""
    data = shared_environment(job, observe(job, [one.build() for one in pods_of(job).values()]))
    assert data is not None
    return data


def with_port(*values: object) -> Template:
    return a_template(env=[{"name": "PADDLE_PORT", "value": value} for value in values])


PORTS: dict[str, tuple[Template, str]] = {
    "of the user's": (with_port("6000"), "6000"),
    "given twice, the last counts as in Kubernetes": (with_port("6000", "7000"), "7000"),
    "that is no text": (with_port(6000), "2379"),
    "that is empty": (with_port(""), "2379"),
    "taken from elsewhere": (a_template(env=[{"name": "PADDLE_PORT", "valueFrom": {}}]), "2379"),
    "of another container": (
        {"spec": {"containers": [{**with_port("6000")["spec"]["containers"][0], "name": "side"}, {"name": "paddle"}]}},
        "2379",
    ),
    "without a container": ({}, "2379"),
}


@pytest.mark.parametrize(("template", "port"), PORTS.values(), ids=PORTS.keys())
def test_endpoints_have_the_port(template: Template, port: str) -> None:
    data = shared(a_ps_job(1, 1).template(template).build())
    assert data["PADDLE_PSERVERS_IP_PORT_LIST"] == f"10.0.0.1:{port}"
    assert data["PADDLE_TRAINER_ENDPOINTS"] == f"10.0.0.2:{port}"
    assert data["PADDLE_PORT"] == "2379"


def test_each_role_has_its_own_port() -> None:
    job = a_ps_job(1, 1).with_servers(1, with_port("6000")).build()
    data = shared(job)
    assert data["PADDLE_PSERVERS_IP_PORT_LIST"] == "10.0.0.1:6000"
    assert data["PADDLE_TRAINER_ENDPOINTS"] == "10.0.0.2:2379"


@pytest.mark.parametrize("port", ["2379", "2380", "2381"])
def test_gloo_never_meets_on_the_servers_own_port(port: str) -> None:
    data = shared(a_ps_job().with_servers(2, with_port(port)).build())
    servers = data["PADDLE_PSERVERS_IP_PORT_LIST"].split(",")
    assert data["PADDLE_GLOO_HTTP_ENDPOINT"] not in servers
    assert data["PADDLE_GLOO_HTTP_ENDPOINT"].startswith("10.0.0.1:")


def on_one_address(workers: int) -> dict[str, str]:
    job = a_job().with_workers(workers).with_ports(20000).build()
    pods = [one.with_address("10.0.0.7").build() for one in pods_of(job).values()]
    data = shared_environment(job, observe(job, pods))
    assert data is not None
    return data


def test_workers_on_one_address_never_train_alone() -> None:
    """fleet counts the endpoints, PaddleFormers goes by NNODES, and a launcher counts the distinct hosts of the last
    list that it finds: with equal hosts it would see one node, and two jobs of one worker would both exit 0."""
    data = on_one_address(3)
    assert data["PADDLE_TRAINER_ENDPOINTS"] == "10.0.0.7:20000,10.0.0.7:20020,10.0.0.7:20040"
    assert data["DISTRIBUTED_TRAINER_ENDPOINTS"] == "10.0.0.7:20000,worker-1,worker-2"
    assert (data["PADDLE_MASTER"], data["PADDLE_NNODES"], data["NNODES"]) == ("10.0.0.7:20000", "3", "3")
    assert (data["MASTER_ADDR"], data["MASTER_PORT"]) == ("10.0.0.7", "20001")
    assert data["TRAINER_INSTANCES"] == data["PADDLE_TRAINERS"] == "10.0.0.7,10.0.0.7,10.0.0.7"


def test_a_list_of_hosts_made_up_for_the_launcher_is_given_only_where_it_is_needed() -> None:
    assert "DISTRIBUTED_TRAINER_ENDPOINTS" not in shared(a_job().with_workers(2).by("Host").with_ports(20000).build())


def test_workers_on_one_address_that_are_too_many_for_one_string_get_a_master() -> None:
    count = LONGEST_STRING // len("10.100.100.100:2379")
    job = a_job().with_workers(count).build()
    pods = [one.with_address("10.100.100.100").build() for one in pods_of(job).values()]
    data = shared_environment(job, observe(job, pods))
    assert data is not None
    assert not data.keys() & {"PADDLE_TRAINER_ENDPOINTS", "DISTRIBUTED_TRAINER_ENDPOINTS", "TRAINER_INSTANCES"}
    assert data["PADDLE_NNODES"] == data["NNODES"] == str(count)


@pytest.mark.parametrize("port", ["2379", "2380", "2381"])
def test_no_two_listen_where_programs_meet_that_go_by_a_master_port(port: str) -> None:
    data = shared(a_job().with_workers(2, with_port(port)).build())
    assert data["PADDLE_TRAINER_ENDPOINTS"].startswith(f"10.0.0.1:{port},")
    assert data["MASTER_PORT"] == {"2380": "2379"}.get(port, "2380")


def large(workers: int, servers: int = 0) -> dict[str, str]:
    """By service, so that each endpoint has a length that one can reckon."""
    job = a_job().named("j").in_namespace("n").by_service().with_workers(workers)
    return shared(job.with_servers(servers).build())


# "j-worker-NNNN.n.svc:2379" and a comma are 25 characters; one less per missing digit of the index.
FITS = (LONGEST_STRING - len("PADDLE_TRAINER_ENDPOINTS=") + 1 + 10 * 3 + 90 * 2 + 900) // 25


def test_a_string_just_short_enough_stays() -> None:
    data = large(FITS)
    assert LONGEST_STRING - 25 < len("PADDLE_TRAINER_ENDPOINTS=" + data["PADDLE_TRAINER_ENDPOINTS"]) <= LONGEST_STRING
    assert "PADDLE_MASTER" not in data


def test_a_collective_job_too_large_for_one_string_gets_a_master() -> None:
    data = large(FITS + 1)
    assert not data.keys() & {"PADDLE_TRAINER_ENDPOINTS", "PADDLE_TRAINERS", "TRAINER_INSTANCES"}
    assert (data["PADDLE_MASTER"], data["PADDLE_NNODES"]) == ("j-worker-0.n.svc:2379", str(FITS + 1))
    assert (data["MASTER_ADDR"], data["NNODES"]) == ("j-worker-0.n.svc", str(FITS + 1))
    assert data["PADDLE_TRAINERS_NUM"] == str(FITS + 1)


def test_a_ps_job_too_large_for_one_string_goes_without() -> None:
    data = large(FITS + 1, servers=1)
    assert not data.keys() & {"PADDLE_TRAINER_ENDPOINTS", "PADDLE_TRAINERS", "PADDLE_MASTER", "PADDLE_NNODES"}
    assert data["PADDLE_PSERVERS_IP_PORT_LIST"] == "j-ps-0.n.svc:2379"


def test_longest_string_is_what_linux_takes() -> None:
    assert LONGEST_STRING == 131071


def test_job_id_is_of_fixed_shape_and_new_for_every_attempt() -> None:
    assert job_id(a_job().with_status(attempt=3).build()) == f"team-train-{UID[:8]}-0003"


def test_a_job_without_workers_still_has_an_environment() -> None:
    data = shared(a_ps_job().without_workers().build())
    assert data["PADDLE_TRAINERS_NUM"] == "0"
