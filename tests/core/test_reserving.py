"""Ports of the host come before all else: a job without them makes nothing, and keeps what it has."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from paddlejob.core import Refusal, observe, plan
from paddlejob.core.observe import Ports
from tests.builders import NOW, JobBuilder, PodBuilder, a_job, a_ps_job, a_refusal, pods_of

HOST = a_job().with_workers(2).by("Host")


def asked(
    job: JobBuilder, ports: Ports | None = None, pods: tuple[PodBuilder, ...] = (), refusals: tuple[Refusal, ...] = ()
) -> list[str]:
    """What is done for it: kinds of objects, and "ports" for a reservation."""
    built = job.build()
    seen = observe(built, [one.build() for one in pods], refusals=refusals, ports=ports or Ports())
    made = plan(built, seen, NOW)
    return [*([f"{made.ports} ports"] if made.ports else []), *(one.kind for one in made.creates)]


ONE_POD = tuple(pods_of(HOST.build()).values())[:1]
UNWRITTEN, LONG_UNWRITTEN = (
    replace(a_refusal("PaddleJob", "train", "Forbidden", seconds), verb="patch") for seconds in (30, -1)
)
CASES: dict[str, tuple[list[str], list[str]]] = {
    "by address nothing is reserved": (asked(a_job()), ["Pod"]),
    "on the host's network ports come first": (asked(HOST), ["40 ports"]),
    "also under its other name": (asked(a_ps_job().by("HostNetwork")), ["5 ports"]),
    "with ports, pods are made": (asked(HOST.with_ports(20000)), ["Pod", "Pod"]),
    "ports that no computer has are none": (asked(HOST.with_ports(65530)), ["40 ports"]),
    "while none are free nothing is asked": (asked(HOST, Ports(full="1,2")), []),
    "an older job has some of them": (asked(HOST.with_ports(20000), Ports(disputed=True)), ["40 ports"]),
    "an older job has some, none are free": (asked(HOST.with_ports(20000), Ports(full="1,2", disputed=True)), []),
    "a job that has pods stays where it is": (asked(HOST.with_ports(20000), Ports(disputed=True), ONE_POD), ["Pod"]),
    "by address nobody disputes": (asked(a_job(), Ports(disputed=True)), ["Pod"]),
    "refused a moment ago": (asked(HOST, refusals=(UNWRITTEN,)), []),
    "refused a while ago": (asked(HOST, refusals=(LONG_UNWRITTEN,)), ["40 ports"]),
}


@pytest.mark.parametrize("case", CASES)
def test_reserving(case: str) -> None:
    made, expected = CASES[case]
    assert made == expected
