"""Quantities are read as Kubernetes reads them, and added up exactly."""

from __future__ import annotations

from fractions import Fraction

import pytest

from paddlejob.core.quantities import amount, most, plus, times, written

READ = {
    "a number": (2, Fraction(2)),
    "a fraction": (0.5, Fraction(1, 2)),
    "thousandths": ("1500m", Fraction(3, 2)),
    "a power of two": ("2Gi", Fraction(2**31)),
    "a power of ten": ("2G", Fraction(2 * 10**9)),
    "kilobytes": ("1k", Fraction(1000)),
    "an exponent": ("1e3", Fraction(1000)),
    "a negative exponent": ("5E-1", Fraction(1, 2)),
    "exabytes are no exponent": ("1E", Fraction(10**18)),
    "nanos": ("1n", Fraction(1, 10**9)),
    "no digit before the dot": (".5", Fraction(1, 2)),
    "words": ("much", Fraction(0)),
    "nothing": (None, Fraction(0)),
    "a truth": (True, Fraction(0)),
    "an exponent that no quantity has": ("1e9999", Fraction(0)),
    "an exponent of three digits": ("1e100", Fraction(0)),
    "the longest number": ("9" * 64, Fraction(10**64 - 1)),
    "a number that is too long": ("9" * 65, Fraction(0)),
    "a number of thousands of digits": ("9" * 5000, Fraction(0)),
    "thousands of digits and an exponent": (f"{'9' * 4000}e999", Fraction(0)),
    "a whole number of thousands of digits": (10**5000, Fraction(0)),
}


@pytest.mark.parametrize(("text", "value"), READ.values(), ids=READ.keys())
def test_a_quantity_is_read(text: object, value: Fraction) -> None:
    assert amount(text) == value


def test_quantities_are_written_whole_or_in_thousandths() -> None:
    assert [written(Fraction(one)) for one in ("3", "3/2", "1/3000")] == ["3", "1500m", "1m"]


def test_amounts_are_added_compared_and_multiplied_by_name() -> None:
    one, other = {"cpu": Fraction(1), "memory": Fraction(5)}, {"cpu": Fraction(2)}
    assert plus(one, other) == {"cpu": 3, "memory": 5}
    assert most(one, other) == {"cpu": 2, "memory": 5}
    assert times(3, one) == {"cpu": 3, "memory": 15}
    assert plus() == {}
