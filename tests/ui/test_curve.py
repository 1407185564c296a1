"""The curves of a job's page: from its log, thinned to what a screen shows."""

from __future__ import annotations

import pytest

from paddlejob.core import Reading
from paddlejob.places.this_machine import ThisMachine
from paddlejob.ui.curve import MOST_POINTS, Point, add, curve, thin
from tests.builders import NOW
from tests.local.workbench import Workbench, a_role


def points(*read: Reading | None) -> list[Point]:
    made: list[Point] = []
    for one in read:
        add(made, one)
    return made


def test_a_training_that_begins_anew_draws_its_curve_anew() -> None:
    read = [Reading(NOW, step=step, loss=step / 10) for step in (1, 2, 3, 2, 3)]
    assert [one.step for one in points(*read)] == [1, 2, 3]


def test_what_has_no_place_on_a_curve_is_left_out() -> None:
    assert points(None, Reading(NOW, loss=0.5), Reading(NOW, step=1)) == []
    assert points(Reading(NOW, step=1, speed=2.0)) == [Point(1, None, 2.0)]


def test_of_many_points_the_first_and_the_last_stay() -> None:
    many = [Point(step, 0.5, None) for step in range(12_345)]
    few = thin(many)
    assert len(few) <= MOST_POINTS
    assert (few[0], few[-1]) == (many[0], many[-1])


async def test_a_job_that_has_ended_still_has_its_curve(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    say = "for i in 1 2 3; do echo step $i/3 loss: 0.$((5 - i)); done"
    bench.paddlejob("run", bench.write("drawn", worker=a_role(1, "sh", "-c", say)))
    monkeypatch.setenv("XDG_STATE_HOME", bench.env["XDG_STATE_HOME"])
    found = await curve(ThisMachine(), bench.state("drawn").job)
    assert [(one.step, one.loss) for one in found] == [(1, 0.4), (2, 0.3), (3, 0.2)]
