"""Which addresses a job may make the operator talk to."""

from __future__ import annotations

from ipaddress import IPv4Network

import pytest
from msgspec.structs import replace

from paddlejob.api.names import ANNOTATION_ETCD
from paddlejob.core import Etcd, observe, plan
from paddlejob.core.reach import NOT_FOR_JOBS, Reach, endpoint
from paddlejob.core.rendezvous import meeting_stall
from tests.builders import NOW, a_template, an_elastic_job

API_SERVER = (IPv4Network("10.96.0.1/32"), "the API server's address")
OPERATORS = Reach((*NOT_FOR_JOBS, API_SERVER))
REFUSED: dict[str, str] = {
    "127.0.0.1:2379": "loopback",
    "127.255.1.2:8081": "loopback",
    "169.254.169.254:80": "link-local",
    "0.0.0.0:2379": "this host",
    "0.1.2.3:2379": "this host",
    "224.0.0.1:2379": "multicast",
    "255.255.255.255:2379": "reserved",
    "100.100.100.200:80": "metadata of a cloud",
    "10.96.0.1:443": "the API server's address",
    "10.96.0.1:2379": "the API server's address",
}
NO_ADDRESS = (
    "localhost:2379",
    "kubernetes.default:443",
    "127.1:2379",
    "0x7f.1:2379",
    "0x7f000001:2379",
    "2130706433:2379",
    "0177.0.0.1:2379",
    "127.0.0.01:2379",
    "[::1]:2379",
    "[::ffff:127.0.0.1]:2379",
    "::ffff:7f00:1",
    "10.0.0.5@127.0.0.1:2379",
    "127.0.0.1:2379@10.0.0.5:2379",
    "10.0.0.5:2379/../../healthz",
    "10.0.0.5:2379?a=b",
    "10.0.0.5:2379#",
    "10.0.0.5 :2379",
    "10.0.0.5:2379\r\nX: y",
    "10.0.0.5:0",
    "10.0.0.5:65536",
    f"10.0.0.5:{'9' * 5000}",
    "10.0.0.5:٣",
    "１27.0.0.1:2379",
    "10.0.0.5:",
    ":2379",
)


def stall(where: str, etcd: Etcd) -> tuple[str, str]:
    cause = meeting_stall(an_elastic_job().annotated({ANNOTATION_ETCD: where}).build(), etcd)
    return (cause.reason, cause.message) if cause else ("", "")


@pytest.mark.parametrize(("where", "why"), REFUSED.items(), ids=REFUSED)
def test_the_operator_does_not_talk_for_a_job_to(where: str, why: str) -> None:
    host = where.partition(":")[0]
    reason, message = stall(where, Etcd(reach=OPERATORS))
    assert reason == "EtcdNotAllowed"
    assert why in message
    assert f"--allow-etcd-address {host}" in message


@pytest.mark.parametrize("where", NO_ADDRESS)
def test_what_is_no_plain_address_and_port_is_no_address_however_it_is_spelt(where: str) -> None:
    assert endpoint(where) is None
    assert stall(where, Etcd())[0] == "EtcdAddress"


@pytest.mark.parametrize("where", REFUSED)
def test_on_this_machine_a_person_may_use_any(where: str) -> None:
    assert stall(where, Etcd()) == ("", "")


def test_what_the_operators_flags_allow_is_allowed() -> None:
    allowed = replace(OPERATORS, allowed=(IPv4Network("127.0.0.0/31"), IPv4Network("10.96.0.1/32")))
    assert stall("127.0.0.1:2379", Etcd(reach=allowed)) == ("", "")
    assert stall("10.96.0.1:2379", Etcd(reach=allowed)) == ("", "")
    assert stall("127.0.0.2:2379", Etcd(reach=allowed))[0] == "EtcdNotAllowed"


@pytest.mark.parametrize("written", ["127.0.0.1:2379", "http://127.0.0.1:2379/", ""])
def test_the_operators_own_etcd_may_be_anywhere_and_jobs_may_name_it(written: str) -> None:
    own = Etcd("http://127.0.0.1:2379", reach=OPERATORS)
    assert stall(written, own) == ("", "")
    assert stall("127.0.0.1:2380", own)[0] == "EtcdNotAllowed"


def test_a_template_is_no_way_around_and_nothing_is_asked_nor_made() -> None:
    template = a_template(env=[{"name": "PADDLE_MASTER", "value": "etcd://169.254.169.254:80"}])
    job = an_elastic_job().template(template).build()
    made = plan(job, observe(job, etcd=Etcd("10.0.0.9:2379", reach=OPERATORS)), NOW)
    assert (made.status.reason, made.questions, made.actions) == ("EtcdNotAllowed", (), ())


def test_an_address_and_a_port_are_understood() -> None:
    found = endpoint("10.96.0.50:2379")
    assert found is not None
    assert (str(found[0]), found[1]) == ("10.96.0.50", 2379)
