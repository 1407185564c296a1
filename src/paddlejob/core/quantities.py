"""Kubernetes quantities, such as 500m, 2Gi or 1e3: read exactly, added up, written as Kubernetes would.

What is no quantity is read as nothing: an API server refuses it when the pod is made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

Amounts = dict[str, Fraction]

_QUANTITY = re.compile(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?:([eE][+-]?[0-9]{1,2})|([numkMGTPE]|[KMGTPE]i)?)")
# What is longer is not written by anybody who means it, and beyond some length Python reads no number at all.
LONGEST, MOST_BITS = 64, 64
_SUFFIXES: dict[str | None, Fraction] = {
    None: Fraction(1),
    **{letter: Fraction(1000) ** power for power, letter in enumerate("num kMGTPE", start=-3)},
    **{f"{letter}i": Fraction(1024) ** power for power, letter in enumerate("KMGTPE", start=1)},
}


def amount(value: object) -> Fraction:
    """
    >>> amount("1500m"), amount("2Gi"), amount(0.5), amount("1e3"), amount("many")
    (Fraction(3, 2), Fraction(2147483648, 1), Fraction(1, 2), Fraction(1000, 1), Fraction(0, 1))
    """
    found = _QUANTITY.fullmatch(_text(value))
    if found is None:
        return Fraction(0)
    number, exponent, suffix = found.groups()
    return Fraction(number) * (Fraction(10) ** int(exponent[1:]) if exponent else _SUFFIXES[suffix])


def _text(value: object) -> str:
    """Empty, if it cannot be a quantity."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return ""
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        return ""
    text = str(value).strip()
    return text if len(text) <= LONGEST else ""


def amounts(of: Mapping[str, object]) -> Amounts:
    return {str(name): amount(value) for name, value in of.items()}


def written(value: Fraction) -> str:
    """In thousandths where it is not whole, rounded up as Kubernetes does.

    >>> written(Fraction(3, 2)), written(Fraction(2048)), written(Fraction(1, 3000))
    ('1500m', '2048', '1m')
    """
    if value.denominator == 1:
        return str(value.numerator)
    thousandths = -(-value * 1000 // 1)
    return f"{thousandths}m"


def plus(*several: Amounts) -> Amounts:
    return {name: sum((one.get(name, Fraction(0)) for one in several), Fraction(0)) for name in _names(several)}


def most(*several: Amounts) -> Amounts:
    return {name: max(one.get(name, Fraction(0)) for one in several) for name in _names(several)}


def times(count: int, one: Amounts) -> Amounts:
    return {name: count * value for name, value in one.items()}


def _names(several: tuple[Amounts, ...]) -> dict[str, None]:
    return dict.fromkeys(name for one in several for name in one)
