"""What the operator says: its shape in the API, and the questions one can ask it.

Also the metadata that every object has, as far as decisions ask it.
"""

from __future__ import annotations

import msgspec
import pytest

from paddlejob.api import Condition, Failure, ObjectMeta, OwnerReference, RoleStatus, Status
from paddlejob.api.status import FINAL, Phase, as_json


def test_a_status_in_the_api_holds_what_is_set_and_no_more() -> None:
    assert as_json(Status()) == {"observedGeneration": 0, "restarts": 0, "disruptions": 0, "hangs": 0, "attempt": 0}


def test_a_full_status_in_the_api() -> None:
    status = Status(
        phase="Failed",
        mode="Single",
        worker=RoleStatus(failed=1, ready="0/1"),
        start_time="2026-05-04T11:00:00Z",
        completion_time="2026-05-04T12:00:00Z",
        observed_generation=2,
        conditions=(Condition(type="Failed", status="True", reason="Failed", message="bad"),),
        reason="OOMKilled",
        message="bad",
        failure=Failure(pod="train-worker-0", exit_code=137, reason="OOMKilled"),
    )
    counts = {"pending": 0, "starting": 0, "running": 0, "failed": 1, "succeeded": 0, "unknown": 0, "ready": "0/1"}
    condition = {
        "type": "Failed",
        "status": "True",
        "reason": "Failed",
        "message": "bad",
        "lastTransitionTime": "",
        "observedGeneration": 0,
    }
    assert msgspec.json.decode(msgspec.json.encode(as_json(status))) == {
        "phase": "Failed",
        "mode": "Single",
        "worker": counts,
        "startTime": "2026-05-04T11:00:00Z",
        "completionTime": "2026-05-04T12:00:00Z",
        "observedGeneration": 2,
        "restarts": 0,
        "disruptions": 0,
        "hangs": 0,
        "attempt": 0,
        "conditions": [condition],
        "reason": "OOMKilled",
        "message": "bad",
        "failure": {"pod": "train-worker-0", "exitCode": 137, "reason": "OOMKilled"},
    }


def test_what_is_written_is_read_back_the_same() -> None:
    status = Status(phase="Running", ps=RoleStatus(running=2, ready="2/2"), conditions=(), restarts=1)
    assert msgspec.convert(as_json(status), Status) == status


def test_an_exit_code_of_zero_is_told() -> None:
    assert msgspec.to_builtins(Failure(pod="p", exit_code=0)) == {"pod": "p", "exitCode": 0}


@pytest.mark.parametrize("phase", ["Pending", "Starting", "Running", "Restarting", "Suspended", "Terminating", None])
def test_a_job_is_not_finished_while(phase: Phase | None) -> None:
    assert not Status(phase=phase).finished


@pytest.mark.parametrize("phase", FINAL)
def test_a_job_is_finished_when(phase: Phase) -> None:
    assert Status(phase=phase).finished


def test_there_are_two_ends() -> None:
    assert FINAL == ("Completed", "Failed")


def test_a_condition_is_found_by_its_type() -> None:
    stalled = Condition(type="Stalled", status="True")
    status = Status(conditions=(Condition(type="Running", status="False"), stalled))
    assert status.condition("Stalled") == stalled
    assert status.condition("Completed") is None


def test_a_role_is_found_by_its_name() -> None:
    status = Status(ps=RoleStatus(running=1), worker=RoleStatus(running=2))
    assert [status.role(name) for name in ("ps", "worker", "heter")] == [status.ps, status.worker, None]


def test_the_total_counts_every_state_once() -> None:
    assert RoleStatus(pending=1, starting=2, running=4, failed=8, succeeded=16, unknown=32).total == 63


def test_the_one_in_charge_of_an_object() -> None:
    beside, owner = OwnerReference(uid="a"), OwnerReference(uid="b", controller=True)
    assert ObjectMeta(owner_references=(beside, owner)).controller_uid == "b"
    assert ObjectMeta(owner_references=(beside,)).controller_uid is None
