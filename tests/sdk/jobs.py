"""Small jobs for the tests of the SDK on this machine."""

from __future__ import annotations

from typing import Any

from paddlejob import PaddleJob


def a_job(entry_point: str, **more: Any) -> PaddleJob:
    given = {"job_name": "job", "cpu_nums": 1, "runtime_image": "any", "pservers": 0, "trainers": 2, **more}
    return PaddleJob(entry_point=entry_point, **given)
