"""What the audit log must not show: writes of one who does not lead, and calls without end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.chaos.calls import MOST_PER_JOB, AuditLog, Call, Calls

JOB = "j0-ps"


def claim(who: str, at: float, holder: str | None = None) -> Call:
    return Call("update", "leases", "paddle-operator", 200, who, at, at + 0.1, holder=who if holder is None else holder)


def write(who: str, at: float, code: int = 201) -> Call:
    return Call("create", "pods", f"{JOB}-worker-0", code, who, at, at + 0.1)


def rules(*calls: Call) -> set[str]:
    heard = Calls({JOB: 0})
    heard.hear(calls)
    return {complaint.rule for complaint in heard.complaints}


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param((write("a", 1),), id="nobody led"),
        pytest.param((claim("b", 0), write("a", 1)), id="another led"),
        pytest.param((claim("a", 0), claim("b", 1), write("a", 2)), id="another leads by now"),
        pytest.param((claim("a", 0), claim("a", 1, ""), write("a", 2)), id="it had given the lease back"),
    ],
)
def test_a_write_of_one_who_does_not_lead_is_told(calls: tuple[Call, ...]) -> None:
    assert rules(*calls) == {"only the leader writes"}


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param((claim("a", 0), write("a", 1)), id="it led"),
        pytest.param((claim("a", 0), claim("a", 1, ""), claim("b", 2), write("b", 3)), id="it led after another"),
        pytest.param((claim("b", 0), write("a", 1, code=409)), id="it was refused"),
    ],
)
def test_writes_of_the_leader_are_right(calls: tuple[Call, ...]) -> None:
    assert not rules(*calls)


def test_calls_without_end_are_told_once_for_each_job() -> None:
    many = [write("a", 1 + number / 100) for number in range(MOST_PER_JOB * 3)]
    heard = Calls({JOB: 0})
    heard.hear([claim("a", 0), *many])
    (complaint,) = heard.complaints
    assert complaint.rule == "calls are few"
    assert heard.total[JOB] == len(many)


def test_as_many_calls_over_a_longer_time_are_right() -> None:
    assert not rules(claim("a", 0), *(write("a", 1 + number) for number in range(MOST_PER_JOB * 3)))


@pytest.mark.parametrize(
    ("claims", "since"),
    [
        ((), None),
        ((claim("a", 100), claim("a", 105)), 100.1),
        ((claim("a", 50), claim("a", 100), claim("a", 105)), 100.1),  # it had lost the lease in between
        ((claim("b", 95), claim("a", 100), claim("a", 105)), 100.1),
        ((claim("a", 90),), None),
        ((claim("a", 100), claim("a", 105, "")), None),
    ],
)
def test_since_when_somebody_leads_without_a_pause(claims: tuple[Call, ...], since: float | None) -> None:
    heard = Calls({JOB: 0})
    heard.hear(claims)
    assert heard.leads_since(110.0) == since


def test_the_log_is_read_on_where_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    record = {
        "stage": "ResponseComplete",
        "verb": "delete",
        "user": {"extra": {"authentication.kubernetes.io/credential-id": ["JTI=a"]}},
        "objectRef": {"resource": "pods", "name": f"{JOB}-worker-0"},
        "requestObject": {"preconditions": {"uid": "u"}},
        "responseStatus": {"code": 200},
        "requestReceivedTimestamp": "2026-05-04T12:00:00.000001Z",
        "stageTimestamp": "2026-05-04T12:00:00.100000Z",
    }
    line = json.dumps(record) + "\n"
    log = AuditLog(path)
    assert not list(log.calls())
    path.write_text(line + line[:20])
    (call,) = log.calls()
    assert (call.who, call.uid, call.code, call.is_write) == ("a", "u", 200, True)
    path.write_text(line + line)
    assert len(list(log.calls())) == 1
