"""ttlSecondsAfterFinished: a finished job deletes itself, on time and once."""

from __future__ import annotations

from datetime import timedelta

import pytest

from paddlejob.api.status import FinalPhase
from paddlejob.core import observe, plan
from tests.builders import NOW, NOW_TEXT, a_job

ENDED = a_job().asking(ttl_seconds_after_finished=60)


@pytest.mark.parametrize("phase", ["Completed", "Failed"])
def test_a_finished_job_goes_when_its_time_is_over(phase: FinalPhase) -> None:
    job = ENDED.in_phase(phase).with_status(completion_time=NOW_TEXT).build()
    before = plan(job, observe(job), NOW + timedelta(seconds=59))
    assert (before.expired, before.wake_at) == (False, NOW + timedelta(seconds=60))
    at = plan(job, observe(job), NOW + timedelta(seconds=60))
    assert (at.expired, at.wake_at) == (True, None)


def test_a_job_that_runs_does_not_expire() -> None:
    job = ENDED.in_phase("Running").with_status(completion_time=NOW_TEXT).build()
    assert not plan(job, observe(job), NOW + timedelta(days=1)).expired


def test_without_a_time_it_stays() -> None:
    job = a_job().in_phase("Completed").with_status(completion_time=NOW_TEXT).build()
    assert not plan(job, observe(job), NOW + timedelta(days=999)).expired


def test_a_job_that_is_deleted_already_is_not_deleted_again() -> None:
    job = ENDED.in_phase("Failed").with_status(completion_time=NOW_TEXT).deleted().build()
    assert not plan(job, observe(job), NOW + timedelta(days=1)).expired
