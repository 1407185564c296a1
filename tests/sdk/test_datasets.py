"""Every trainer reads its own share, and together they read everything exactly once."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddlejob import dataset_from_reader, dist_reader, trainer_id, trainers

samples = st.lists(st.lists(st.integers(), min_size=1, max_size=4).map(tuple), max_size=40)


@given(samples, st.integers(1, 12))
def test_the_shares_are_together_exactly_all(data: list[tuple[int, ...]], count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.csv"
        dataset_from_reader(path, lambda: data)
        shares = [list(dist_reader(path, count, one)()) for one in range(count)]
    assert sorted(row for share in shares for row in share) == sorted(data)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize(("count", "one"), [(0, 0), (2, 2), (2, -1)])
def test_a_trainer_that_is_none_of_them_is_refused(count: int, one: int) -> None:
    with pytest.raises(ValueError, match="trainer"):
        dist_reader("train.csv", count, one)


def test_who_am_i(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (trainer_id(), trainers()) == (0, 1)
    monkeypatch.setenv("PADDLE_TRAINER_ID", "1")
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    assert (trainer_id(), trainers()) == (1, 2)
    monkeypatch.setenv("TRAINER_ID", "2")
    monkeypatch.setenv("TRAINERS", "3")
    assert (trainer_id(), trainers()) == (2, 3)
