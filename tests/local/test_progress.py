"""How far a local job is, wherever a person looks: list, describe, the live table, Python, a notebook."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from rich.console import Console

from paddlejob import AsyncPaddleJob, PaddleJob
from paddlejob.api import Progress
from paddlejob.cli.list import table
from paddlejob.cli.views import LiveView
from paddlejob.core.times import timestamp
from paddlejob.local.state import State
from paddlejob.places.place import Found
from paddlejob.places.words import far, pace
from tests.builders import a_job
from tests.local.workbench import Workbench, a_role

SAY = "echo step 7 of 9 loss: 0.25; echo step 9 of 9 loss: 0.125; sleep 2"


def soon(seconds: float) -> str:
    """Between two whole seconds, so that the next moment shows the same."""
    return timestamp(datetime.now(timezone.utc) + timedelta(seconds=seconds))


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    bench = Workbench(tmp_path_factory.mktemp("bench"))
    for name, script in (("far", SAY), ("silent", "true")):
        done = bench.paddlejob("run", bench.write(name, worker=a_role(1, "sh", "-c", script)))
        assert done.returncode == 0, done.stdout
    yield bench
    bench.close()


def test_the_list_has_columns_for_it(ended: Workbench) -> None:
    heads, *rows = ended.paddlejob("list", "--local").stdout.splitlines()
    assert heads.split() == ["NAME", "STATUS", "MODE", "PS", "WORKER", "AGE", "PROGRESS", "ETA"]
    assert {row.split()[0]: row.split()[-1] == "100%" for row in rows} == {"far": True, "silent": False}


def test_a_list_without_any_progress_has_none() -> None:
    found = Found(job=a_job().build(), where="the cluster", phase="Running", over=False)
    assert "PROGRESS" not in table([found]).plain
    assert "PROGRESS" in table([found], progress=True).plain


def test_describe_says_all_of_it_in_a_line(ended: Workbench) -> None:
    said = ended.paddlejob("describe", "far", "--local").stdout
    assert "Progress:   100%, step 9 of 9, loss 0.125" in said
    assert "Progress" not in ended.paddlejob("describe", "silent", "--local").stdout


async def test_python_has_it(ended: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", ended.env["XDG_STATE_HOME"])
    job = await AsyncPaddleJob.get("far", local=True)
    told = await job.progress()
    assert told is not None
    assert (told.step, told.total, told.loss) == (9, 9, 0.125)


def test_a_notebook_shows_a_bar(ended: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", ended.env["XDG_STATE_HOME"])
    job = PaddleJob.get("far", local=True)
    assert job.progress is not None
    assert '<progress max="100" value="100"></progress> 100%, step 9 of 9' in job._repr_html_()
    silent = PaddleJob.get("silent", local=True)
    assert silent.progress is None
    assert "<progress" not in silent._repr_html_()


def test_the_live_table_has_a_bar_above_it(tmp_path: Path) -> None:
    told = Progress(summary="40%", percent=40, step=4, total=10, loss=0.5, eta=soon(90.5))
    job = a_job().in_phase("Running").with_status(progress=told).build()
    screen = Console(file=io.StringIO(), force_terminal=True, width=120)
    view = LiveView(tmp_path, screen)
    view.update(State(job=job, file="", pid=1, start_time=None))
    view.close()
    drawn = screen.file.getvalue() if isinstance(screen.file, io.StringIO) else ""
    assert "━" in drawn
    assert "40%, step 4 of 10, loss 0.5, " in drawn


SAID: dict[str, tuple[Progress, str]] = {
    "steps": (Progress(summary="step 4", step=4), "step 4"),
    "epochs of which nobody knows the steps": (Progress(summary="20%", percent=20, epoch=3), "20%, epoch 3"),
    "a metric": (Progress(metrics={"acc": 0.91234}), "acc 0.9123"),
    "the end is near": (Progress(eta=timestamp(datetime.fromtimestamp(0, timezone.utc))), "0s left"),
    "a pattern that nobody can read": (Progress(summary="unreadable pattern"), "unreadable pattern"),
    "nothing": (Progress(), ""),
}


@pytest.mark.parametrize(("told", "words"), SAID.values(), ids=SAID.keys())
def test_in_one_line(told: Progress, words: str) -> None:
    assert far(told) == words


def test_steps_that_take_long_are_told_by_their_time() -> None:
    assert [pace(Progress(speed=speed)) for speed in (12.5, 0.25, None)] == ["12.5 steps/s", "4 s/step", ""]
