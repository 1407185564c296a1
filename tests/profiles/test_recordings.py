"""Recordings of real programs: each tells steps, a loss, and after a third of the run when it will be at the end."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest

from paddlejob.api import Progress
from paddlejob.core import Listening, Said, observe
from paddlejob.core.progress import progressed
from paddlejob.core.times import moment
from paddlejob.profiles.ear import Ear
from tests.builders import a_job, a_pod
from tests.profiles.recordings import BEGUN, FOLDER, Recording, recording

# What each one told last: steps, all steps, epochs.
ENDS: dict[str, tuple[int | None, int | None, int | None]] = {
    "model-fit": (500, 500, 10),
    "model-fit-bar": (300, 300, 6),
    "paddlenlp": (120, 120, None),
    "paddleseg": (240, 240, 30),
    "paddleocr": (200, 200, 8),
    "paddledetection": (231, None, 6),
    "wide-and-deep": (8, 8, 8),
    "word2vec": (4, 4, 4),
    "resnet": (8, 8, 8),
    "elastic": (300, 300, None),
}
# It says nothing of a total, but when it will be at the end.
WITHOUT_TOTAL = {"paddledetection"}


def ears_of(told: Recording, moments: list[float]) -> list[Said]:
    """What was heard at these moments by one who has listened since the beginning."""
    ear, heard, known = Ear(None), [], 0
    for at in moments:
        lines, unfinished = told.until(at)
        ear.hear(lines[known:], unfinished=unfinished)
        known = len(lines)
        heard.append(ear.said(BEGUN + timedelta(seconds=at)))
    return heard


def progress(said: Said, before: Progress | None) -> Progress | None:
    job = a_job().with_workers(1).in_phase("Running").with_status(progress=before).build()
    seen = observe(job, [a_pod().of(job, "worker", 0).running().build()])
    heard = {"uid-of-train-worker-0": said}
    return progressed(job, msgspec.structs.replace(seen, said=heard, listening=Listening(timedelta(seconds=1))))


def test_every_recording_is_read() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == {*ENDS}
    for name in ENDS:
        made = recording(name)
        moments = [at for at, _ in made.pieces]
        assert made.made_by
        assert moments == sorted(moments)
        assert len({int(at) for at in moments}) > 5  # when each line came, and not all of them at the end


@pytest.mark.parametrize("every", [1, 15], ids=["each second", "each quarter of a minute"])
@pytest.mark.parametrize("name", ENDS)
def test_a_real_program_is_followed_to_its_end(name: str, every: float) -> None:
    told = recording(name)
    end = told.pieces[-1][0]
    moments = [every * count for count in range(1, int(end / every) + 1)] + [end]
    made: Progress | None = None
    percents = []
    for said in ears_of(told, moments):
        made = progress(said, made)
        percents.append(made.percent or 0 if made else 0)
    assert made is not None
    assert (made.step, made.total, made.epoch) == ENDS[name]
    assert made.loss is not None
    assert percents == sorted(percents)
    assert name in WITHOUT_TOTAL or made.summary == "100%"


@pytest.mark.parametrize("name", ENDS)
def test_after_a_third_of_the_run_the_end_is_told_to_within_a_fifth(name: str) -> None:
    told = recording(name)
    first, last = _training(told)
    third = first + (last - first) / 3
    made: Progress | None = None
    moments = [float(second) for second in range(1, int(third))] + [third]
    for said in ears_of(told, moments):
        made = progress(said, made)
    assert made is not None
    assert made.step is not None
    assert made.loss is not None
    assert made.total == (None if name in WITHOUT_TOTAL else ENDS[name][1])
    assert made.eta is not None
    left = (moment(made.eta) - BEGUN).total_seconds() - third
    assert left == pytest.approx(last - third, rel=0.2), f"{left} s left of {last - third}"


def _training(told: Recording) -> tuple[float, float]:
    """From the first line that tells something to the last one."""
    ear, moments = Ear(None), []
    for at, line in told.until(told.pieces[-1][0])[0]:
        ear.hear([(at, line)])
        if ear.said(at).readings:
            moments.append((ear.said(at).readings[-1].at - BEGUN).total_seconds())
    return moments[0], moments[-1]
