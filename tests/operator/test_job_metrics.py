"""Metrics by job: of running jobs that tell how far they are, and never of more than were asked for."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, generate_latest

from paddlejob.api import Job, Progress
from paddlejob.operator.job_metrics import JobMetrics
from tests.builders import a_job

HALFWAY = Progress(at="2026-05-04T12:00:00Z", step=50, total=100, percent=50, loss=0.25, speed=4.0)


def running(name: str, start: str = "2026-05-04T11:00:00Z", progress: Progress | None = HALFWAY) -> Job:
    made = a_job().named(name).in_phase("Running")
    return made.with_status(start_time=start, progress=progress).build()


def told(*jobs: Job, most: int = 10) -> list[str]:
    registry = CollectorRegistry()
    registry.register(JobMetrics(lambda: jobs, most))
    return [line for line in generate_latest(registry).decode().splitlines() if not line.startswith("#")]


def test_a_running_job_tells_its_speed_its_loss_and_how_far_it_is() -> None:
    assert told(running("a")) == [
        'paddlejob_job_steps_per_second{job="a",namespace="team"} 4.0',
        'paddlejob_job_loss{job="a",namespace="team"} 0.25',
        'paddlejob_job_progress_ratio{job="a",namespace="team"} 0.5',
        "paddlejob_job_metrics_left_out 0.0",
    ]


def test_what_is_not_known_is_not_told() -> None:
    assert told(running("a", progress=Progress(step=3)), running("b", progress=None)) == [
        "paddlejob_job_metrics_left_out 0.0"
    ]


def test_a_job_that_has_ended_has_no_series() -> None:
    ended = a_job().in_phase("Completed").with_status(progress=HALFWAY).build()
    assert told(ended) == ["paddlejob_job_metrics_left_out 0.0"]


def test_of_more_jobs_than_the_bound_those_that_began_last_are_told() -> None:
    jobs = [running(f"job-{at}", f"2026-05-04T11:00:0{at}Z") for at in range(5)]
    lines = told(*jobs, most=2)
    assert {line.split('"')[1] for line in lines if "{" in line} == {"job-3", "job-4"}
    assert lines[-1] == "paddlejob_job_metrics_left_out 3.0"
