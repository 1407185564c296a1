"""The numbers in a printed line. A program prints what it likes: what is no number of a sane size is no number here."""

from __future__ import annotations

import math
import re

MOST_CHARACTERS = 40
LARGEST = 10**15
LONGEST_SECONDS = 10 * 365 * 86400.0
_DURATION = re.compile(r"(?:(\d{1,5}) days?,? +)?(?:(?:(\d{1,6}):)?(\d{1,4}):)?(\d{1,8})(?:\.\d{1,9})? ?s?")


def whole(text: str | None) -> int | None:
    """
    >>> whole("1,200")
    1200
    """
    if text is None or len(text) > MOST_CHARACTERS:
        return None
    digits = text.strip().replace(",", "")
    if not (digits.isascii() and digits.isdigit()):
        return None
    return sane(int(digits))


def sane(found: int) -> int | None:
    return found if found <= LARGEST else None


def number(text: str | None) -> float | None:
    """To six digits, which is more than a person reads; None for what JSON cannot hold."""
    if text is None or len(text) > MOST_CHARACTERS:
        return None
    try:
        found = float(text)
    except ValueError:
        return None
    return float(f"{found:.6g}") if math.isfinite(found) and abs(found) <= LARGEST else None


def duration(text: str | None) -> float | None:
    """In seconds.

    >>> duration("1 day, 2:00:03")
    93603.0
    """
    found = _DURATION.fullmatch(text.strip()) if text is not None and len(text) <= MOST_CHARACTERS else None
    if found is None:
        return None
    days, hours, minutes, seconds = (int(one or 0) for one in found.groups())
    total = float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
    return total if total <= LONGEST_SECONDS else None
