"""What others wrote into the status of a job harms neither that job nor the reading of others."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from paddlejob.api import Job, Status
from paddlejob.api.stored import bare_metadata, mended_json, read_job
from paddlejob.core import Plan, observe, plan
from tests.builders import NOW
from tests.scenarios.desk import a_job

Json = dict[str, Any]
ENDED = "2026-05-04T12:00:00Z"


def stored(status: object) -> Json:
    job = a_job("old")
    return {**job, "metadata": {**job["metadata"], "namespace": "team", "uid": "8f432e67-1"}, "status": status}


PHASES: dict[str, tuple[Json, str | None]] = {
    "Succeed, of 0.3.5": ({"phase": "Succeed"}, "Completed"),
    "Aborted, of 0.3.5": ({"phase": "Aborted"}, "Failed"),
    "Terminated, of 0.3.5": ({"phase": "Terminated"}, "Failed"),
    "Completed, of 0.3.5": ({"phase": "Completed", "worker": {"succeeded": 2, "refs": [{"name": "a"}]}}, "Completed"),
    "Aborting, of 0.3.5": ({"phase": "Aborting"}, None),
    "Completing, of 0.3.5": ({"phase": "Completing"}, None),
    "Unknown, of 0.3.5": ({"phase": "Unknown"}, None),
    "none at all": ({}, None),
    "one of nobody": ({"phase": "Dancing"}, None),
    "one of nobody, but it has ended": ({"phase": "Dancing", "completionTime": ENDED}, "Failed"),
    "no text": ({"phase": {"a": 1}}, None),
    "a right one beside what is wrong": ({"phase": "Running", "restarts": "many"}, "Running"),
    "an end beside what is wrong": ({"phase": "Completed", "restarts": "many"}, "Completed"),
}


@pytest.mark.parametrize(("status", "phase"), PHASES.values(), ids=PHASES)
def test_the_phase_is(status: Json, phase: str | None) -> None:
    assert read_job(stored(status)).status.phase == phase


@pytest.mark.parametrize("phase", ["Succeed", "Aborted", "Terminated"])
def test_a_job_that_an_earlier_operator_saw_to_its_end_is_not_started_over(phase: str) -> None:
    job = read_job(stored({"phase": phase}))
    assert plan(job, observe(job), NOW) == Plan(status=job.status)
    assert (job.status.reason, phase in job.status.message) == ("OtherOperator", True)


WRONG: dict[str, object] = {
    "text": "Running",
    "a list": [],
    "nothing": None,
    "fields of other types": {
        "mode": "Dancing",
        "ps": 5,
        "worker": {"running": "two"},
        "startTime": 12,
        "observedGeneration": "1",
        "elastic": 1,
        "world": [],
        "attempt": "0",
        "replacing": {"a": 1},
        "conditions": {"type": "Running"},
        "reason": None,
        "failure": {"exitCode": "1"},
    },
    "unknown fields": {"lastReconcileTime": "x", "replicaStatuses": {"Worker": {}}},
}


@pytest.mark.parametrize("status", WRONG.values(), ids=WRONG)
def test_what_cannot_be_read_counts_as_not_said(status: object) -> None:
    assert read_job(stored(status)).status == Status()


def test_what_can_be_read_beside_it_is_kept() -> None:
    condition = {"type": "Running", "status": "True"}
    foreign = {"type": "JobCreated", "status": "True"}
    found = read_job(stored({"attempt": 3, "restarts": "?", "conditions": [foreign, condition, 5]})).status
    assert (found.attempt, found.restarts, [one.type for one in found.conditions]) == (3, 0, ["Running"])


def test_json_is_mended_alike_and_what_is_no_object_is_left() -> None:
    body = msgspec.json.encode(stored({"phase": "Succeed", "ps": 5}))
    assert msgspec.json.decode(mended_json(body), type=Job) == read_job(msgspec.json.decode(body))
    assert mended_json(b"[]") == b"[]"


def test_a_spec_that_cannot_be_read_is_refused_and_its_name_is_known() -> None:
    document = {**stored({}), "spec": {"worker": 5}}
    with pytest.raises(msgspec.ValidationError):
        read_job(document)
    assert bare_metadata(document).key == ("team", "old")
    assert bare_metadata({"metadata": 5}).key == ("", "")
    assert bare_metadata({"metadata": {"name": 5, "namespace": "team"}}).key == ("team", "")
