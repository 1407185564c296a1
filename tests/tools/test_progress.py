"""A run of the tests says how far it is, and how long it will take by the measure of the last run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.progress import Progress

ROOT = Path(__file__).parents[2]


class Item:
    def __init__(self, nodeid: str) -> None:
        self.nodeid = nodeid


class Session:
    items = tuple(Item(f"test_{number}") for number in range(4))


def a_report(nodeid: str, seconds: float) -> pytest.TestReport:
    return pytest.TestReport(nodeid, ("", 0, ""), {}, "passed", None, "call", duration=seconds)


@pytest.fixture
def progress(pytestconfig: pytest.Config, tmp_path: Path) -> Progress:
    return Progress(pytestconfig, tmp_path / "tests.json")


def play(progress: Progress, *tests: int) -> None:
    progress.pytest_collection_finish(Session())  # type: ignore[arg-type]  # all that is asked of one
    for number in tests:
        progress.pytest_runtest_logstart(f"test_{number}")
        progress.pytest_runtest_logreport(a_report(f"test_{number}", 60.0))
        progress.pytest_runtest_logfinish(f"test_{number}")


def test_the_first_run_counts_and_does_not_guess(progress: Progress) -> None:
    assert progress.line() == "    collecting the tests, 0 s"
    play(progress, 0)
    assert progress.line() == "    1 of 4 tests · 0 s gone · no earlier run to estimate from"


def test_the_next_run_estimates(progress: Progress, pytestconfig: pytest.Config, tmp_path: Path) -> None:
    progress.pytest_sessionstart()
    play(progress, 0, 1, 2, 3)
    progress.pytest_sessionfinish()
    again = Progress(pytestconfig, tmp_path / "tests.json")
    play(again, 0)
    # Four minutes of tests in no time: so many ran at once.
    assert "1 of 4 tests · 0 s gone · about 1 s left" in again.line()
    play(again, 1, 2, 3)
    assert "4 of 4 tests · 0 s gone · about 0 s left" in again.line()


def run(folder: Path, seed: int) -> list[str]:
    """What pytest says of the tests in this folder."""
    command = [sys.executable, "-m", "pytest", "-v", "-p", "tests.progress", "--rootdir", str(folder), str(folder)]
    env = {**os.environ, "XDG_CACHE_HOME": str(folder)}  # how long they took is nobody else's measure
    done = subprocess.run(
        [*command, f"--randomly-seed={seed}"], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    return done.stdout.splitlines()


def test_the_order_is_another_every_time_and_its_seed_is_told(tmp_path: Path) -> None:
    (tmp_path / "test_many.py").write_text("".join(f"def test_{number}(): pass\n" for number in range(50)))
    orders = []
    for seed in (1, 2, 1):
        said = run(tmp_path, seed)
        assert sum(f"PYTEST_ADDOPTS=--randomly-seed={seed}" in line for line in said) == 1
        orders.append([line for line in said if "::test_" in line])
    assert orders[0] == orders[2]
    assert orders[0] != orders[1]


def test_the_last_line_after_a_failure_tells_the_seed_again(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("def test_one(): assert False\n")
    assert run(tmp_path, 7)[-1].endswith("PYTEST_ADDOPTS=--randomly-seed=7")
