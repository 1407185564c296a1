"""Which workers have succeeded, as the status remembers it: in few words, read with care, for anybody may write it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddlejob.api.rules import MOST_PODS
from paddlejob.core.indexes import read, write

WRITTEN: dict[str, set[int]] = {
    "": set(),
    "0": {0},
    "0-1": {0, 1},
    "0-3,7": {0, 1, 2, 3, 7},
    "1,3,5-9": {1, 3, 5, 6, 7, 8, 9},
}


@pytest.mark.parametrize(("text", "indexes"), WRITTEN.items())
def test_written_and_read(text: str, indexes: set[int]) -> None:
    assert write(indexes) == text
    assert read(text, 10) == indexes


ODD: dict[str, set[int]] = {
    "0-99999999999999999999": set(),
    "8-12": {8, 9},
    "11": set(),
    "3-1": set(),
    "all,1,-,2-,-3, 4,٥": {1},
    "9" * 5000: set(),
    "0-4,2-6": {0, 1, 2, 3, 4, 5, 6},
    ",".join(["0-99999"] * 100_000): {*range(10)},
}


@pytest.mark.parametrize(("text", "indexes"), ODD.items(), ids=range(len(ODD)))
def test_what_cannot_be_read_or_is_no_worker_is_left_out(text: str, indexes: set[int]) -> None:
    assert read(text, 10) == indexes


@given(st.sets(st.integers(0, 200)))
def test_whatever_is_written_is_read_again(indexes: set[int]) -> None:
    assert read(write(indexes), 201) == indexes


def test_even_of_the_largest_job_it_is_not_long() -> None:
    assert len(write(range(0, MOST_PODS, 2))) < 25_000
    assert len(write(index for index in range(MOST_PODS) if index % 3)) < 34_000
    assert write(range(MOST_PODS)) == f"0-{MOST_PODS - 1}"
