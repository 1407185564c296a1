"""How far the training is, from readings: what is told, how fast, until when, and when it is worth writing."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from paddlejob.api import Job, Mark, Progress
from paddlejob.core import Listening, Observed, Reading, Said, observe, plan
from paddlejob.core.progress import progressed
from tests.builders import NOW, NOW_TEXT, PodBuilder, a_config_map, a_job, a_pod

RUNS = a_pod().running()
MINUTE = "2026-05-04T12:01:00Z"


def at(seconds: float, **values: Any) -> Reading:
    return Reading(NOW + timedelta(seconds=seconds), **values)


def steps(*pairs: tuple[float, int], total: int | None = 100, **values: Any) -> tuple[Reading, ...]:
    return tuple(at(seconds, step=step, total=total, **values) for seconds, step in pairs)


def seen(
    *readings: Reading, pod: PodBuilder = RUNS, patience: float = 0, job: Job | None = None, **said: Any
) -> Observed:
    made = job or a_job().with_workers(1).in_phase("Running").build()
    there = [pod.of(made, "worker", 0).build(), a_config_map(made)]
    heard = {"uid-of-train-worker-0": Said(NOW, NOW, readings=readings, **said)}
    listening = Listening(timedelta(seconds=15), timedelta(seconds=patience))
    return replace(observe(made, there), said=heard, listening=listening)


def told(*readings: Reading, before: Progress | None = None, attempt: int = 0, **world: Any) -> Progress | None:
    job = a_job().with_workers(1).in_phase("Running").with_status(progress=before, attempt=attempt).build()
    return progressed(job, seen(*readings, **world))


def test_steps_loss_speed_and_the_end() -> None:
    assert told(*steps((0, 10), (10, 20), (20, 30), loss=0.5, epoch=2, metrics={"acc": 0.9})) == Progress(
        at="2026-05-04T12:00:20Z",
        summary="30%",
        step=30,
        total=100,
        percent=30,
        epoch=2,
        loss=0.5,
        metrics={"acc": 0.9},
        speed=1.0,
        eta="2026-05-04T12:01:30Z",
        begun=Mark(step=10, at=NOW_TEXT),
    )


SUMMARIES: dict[str, tuple[Reading, str, int | None]] = {
    "steps and a total": (at(0, step=999, total=1000), "99%", 99),
    "all steps": (at(0, step=1000, total=1000), "100%", 100),
    "steps alone": (at(0, step=7), "step 7", None),
    "no steps to do": (at(0, step=0, total=0), "step 0", None),
    "epochs of which nobody knows the steps": (at(0, step=700, epoch=3, epochs=10), "20%", 20),
    "more epochs than there are": (at(0, epoch=13, epochs=10), "100%", 100),
    "an epoch before the first": (at(0, epoch=0, epochs=10), "0%", 0),
    "an epoch alone": (at(0, epoch=3), "epoch 3", None),
    "a loss alone": (at(0, loss=0.5), "", None),
}


@pytest.mark.parametrize(("reading", "summary", "percent"), SUMMARIES.values(), ids=SUMMARIES.keys())
def test_in_a_word(reading: Reading, summary: str, percent: int | None) -> None:
    made = told(reading)
    assert made is not None
    assert (made.summary, made.percent) == (summary, percent)


def test_nothing_is_told_of_a_job_that_tells_nothing() -> None:
    assert told() is None
    assert progressed(a_job().with_workers(1).build(), Observed()) is None


def test_of_a_program_that_knows_no_total_the_end_is_what_it_says_itself() -> None:
    made = told(at(0, step=5, epoch=1, epochs=8, eta=90.0, speed=2.0))
    assert made is not None
    assert (made.eta, made.speed) == ("2026-05-04T12:01:30Z", 2.0)


def test_the_end_follows_from_the_speed_on_average_and_not_lately() -> None:
    """It saves for a long time now and then, and the newest lines show nothing of that."""
    before = Progress(at=NOW_TEXT, step=10, total=100, begun=Mark(step=10, at="2026-05-04T11:58:20Z"))
    made = told(*steps((0, 20), (1, 30)), before=before)
    assert made is not None
    assert made.speed == 10
    assert made.eta == "2026-05-04T12:05:55Z"  # 70 steps more, 20 in 101 s
    assert made.begun == before.begun


AFRESH: dict[str, tuple[Progress, int]] = {
    "another attempt": (Progress(at=NOW_TEXT, step=10, total=100, begun=Mark(step=0, at=NOW_TEXT)), 1),
    "it went back": (Progress(at=NOW_TEXT, step=90, total=100, begun=Mark(step=0, at=NOW_TEXT)), 0),
    "other steps": (Progress(at=NOW_TEXT, step=10, total=99, begun=Mark(step=0, at=NOW_TEXT)), 0),
    "nothing to begin from": (Progress(at=NOW_TEXT, step=10, total=100), 0),
}


@pytest.mark.parametrize(("before", "attempt"), AFRESH.values(), ids=AFRESH.keys())
def test_an_average_begins_afresh_with(before: Progress, attempt: int) -> None:
    made = told(*steps((0, 40), (10, 50)), before=before, attempt=attempt)
    assert made is not None
    assert (made.begun, made.speed) == (Mark(step=40, at=NOW_TEXT), 1.0)


def test_after_a_restart_the_speed_of_before_counts_until_there_is_another() -> None:
    before = Progress(at=NOW_TEXT, step=90, total=100, speed=1.0, begun=Mark(step=0, at=NOW_TEXT))
    made = told(*steps((0, 40)), before=before, attempt=1)
    assert made is not None
    assert (made.eta, made.attempt) == (MINUTE, 1)


def test_where_steps_go_down_another_training_has_begun() -> None:
    made = told(*steps((0, 80), (10, 100), (20, 10), (30, 20)))
    assert made is not None
    assert (made.speed, made.begun) == (1.0, Mark(step=10, at="2026-05-04T12:00:20Z"))


def test_a_total_that_comes_to_be_known_changes_nothing() -> None:
    made = told(*steps((0, 10), total=None), *steps((10, 20)))
    assert made is not None
    assert (made.speed, made.begun) == (1.0, Mark(step=10, at=NOW_TEXT))


KNEW = Progress(at=NOW_TEXT, step=10, total=100, begun=Mark(step=0, at="2026-05-04T11:59:50Z"))
FORGOTTEN: dict[str, tuple[Progress, int, tuple[Reading, ...], int | None]] = {
    "it goes on": (KNEW, 0, steps((0, 10), (10, 20), total=None), 100),
    "only the end of it is heard again": (KNEW, 0, steps((0, 90), (10, 99), total=None), 100),
    "another attempt": (KNEW, 1, steps((0, 10), (10, 20), total=None), None),
    "it went back": (KNEW, 0, steps((0, 1), (10, 9), total=None), None),
    "it is beyond": (KNEW, 0, steps((0, 100), (10, 101), total=None), None),
    "it was never known": (replace(KNEW, total=None), 0, steps((0, 10), (10, 20), total=None), None),
    "nor how far it was": (replace(KNEW, step=None), 0, steps((0, 10), (10, 20), total=None), None),
    "it is doubtful by now": (KNEW, 0, (*steps((0, 10)), *steps((10, 20), total=None)), None),
    "no step is told": (KNEW, 0, (at(10, loss=0.5),), None),
}


@pytest.mark.parametrize("name", FORGOTTEN)
def test_a_total_that_was_told_once_is_known_even_if_nobody_reads_that_line_again(name: str) -> None:
    """The heading of a training is far above the last lines of its log."""
    before, attempt, readings, total = FORGOTTEN[name]
    made = told(*readings, before=before, attempt=attempt)
    assert made is not None
    assert made.total == total
    if total:
        assert made.begun == before.begun
        assert made.eta is not None


def test_an_end_beyond_all_measure_is_none() -> None:
    made = told(*steps((0, 1), (10_000_000, 2), total=10**15))
    assert made is not None
    assert made.eta is None


def test_a_loss_alone_has_no_speed() -> None:
    made = told(at(0, loss=0.5), at(10, loss=0.4))
    assert made is not None
    assert (made.loss, made.speed, made.eta, made.begun) == (0.4, None, None, None)


def test_lines_of_the_same_moment_have_no_speed() -> None:
    made = told(*steps((0, 1), (0, 2)))
    assert made is not None
    assert made.speed is None


def test_what_runs_no_more_has_no_end_to_wait_for() -> None:
    done = told(*steps((0, 50), (10, 60)), pod=a_pod().succeeded())
    assert done is not None
    assert (done.summary, done.eta) == ("60%", None)
    before = Progress(at=NOW_TEXT, summary="60%", eta=MINUTE)
    assert told(before=before, pod=a_pod()) == replace(before, eta=None)
    assert told(before=before) == before


BEFORE = Progress(at=NOW_TEXT, summary="10%", step=10, total=100, percent=10, speed=1.0, eta="2026-05-04T12:01:30Z",
                  begun=Mark(step=0, at="2026-05-04T11:59:50Z"))  # fmt: skip
WORTH: dict[str, tuple[tuple[Reading, ...], Progress, bool]] = {
    "another percentage": (steps((1, 11)), BEFORE, True),
    "a loss, soon after": (steps((1, 10), loss=0.5), BEFORE, False),
    "a loss, after a while": (steps((60, 10), loss=0.5), replace(BEFORE, eta=None), True),
    "the end moves": (steps((30, 10)), BEFORE, True),
    "the end moves by a few seconds": (steps((1, 10)), BEFORE, False),
    "the end is known": (steps((1, 10)), replace(BEFORE, eta=None), True),
    "the same again": (steps((0, 10)), BEFORE, False),
    "another attempt": (steps((0, 10)), replace(BEFORE, attempt=1), True),
}


@pytest.mark.parametrize(("readings", "before", "written"), WORTH.values(), ids=WORTH.keys())
def test_it_is_written_when_a_person_sees_a_difference(
    readings: tuple[Reading, ...], before: Progress, written: bool
) -> None:
    assert (told(*readings, before=before, patience=60) is not before) == written


def test_a_pattern_that_cannot_be_read_is_told() -> None:
    assert told(unreadable="missing )") == Progress(summary="unreadable pattern")


def test_it_stands_in_the_status_also_after_the_end() -> None:
    job = a_job().with_workers(1).in_phase("Running").build()
    assert plan(job, seen(*steps((0, 10))), NOW).status.progress == told(*steps((0, 10)))
    ended = a_job().with_workers(1).in_phase("Completed").build()
    last = plan(ended, seen(*steps((0, 99), (1, 100)), pod=a_pod().succeeded(), job=ended), NOW).status.progress
    assert last is not None
    assert last.summary == "100%"
