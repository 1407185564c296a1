"""Times of the API, also such as nobody should have written."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from paddlejob.core.times import LONG_AGO, after, earliest, moment, timestamp
from tests.builders import NOW, NOW_TEXT


@pytest.mark.parametrize("text", [NOW_TEXT, "2026-05-04T12:00:00.000000Z", "2026-05-04T14:00:00+02:00"])
def test_a_moment_in_any_notation(text: str) -> None:
    assert moment(text) == NOW


def test_a_moment_without_zone_is_utc() -> None:
    assert moment("2026-05-04T12:00:00") == NOW


def test_what_cannot_be_read_is_long_ago() -> None:
    assert moment("soon") == LONG_AGO


def test_whole_seconds_are_written() -> None:
    assert timestamp(NOW + timedelta(microseconds=999999)) == NOW_TEXT


@pytest.mark.parametrize("seconds", [2**40, 2**62])
def test_a_deadline_beyond_the_calendar_is_as_late_as_possible(seconds: int) -> None:
    assert after(NOW, seconds) > NOW + timedelta(days=365 * 99)
    assert after(datetime.max.replace(tzinfo=timezone.utc), seconds) == datetime.max.replace(tzinfo=timezone.utc)


def test_the_earliest_moment_that_is_still_to_come() -> None:
    later = NOW + timedelta(seconds=2)
    assert earliest(NOW, None, NOW, later + timedelta(1), later, NOW - timedelta(1)) == later
    assert earliest(NOW, NOW, None) is None
