"""Formats of text and numbers, as an API server understands them where a schema names one."""

from __future__ import annotations

import re


def matches(pattern: str, text: str) -> bool:
    """As an API server matches a pattern: `$` is the end of the text, not the end of its last line.

    >>> matches("^a$", "a"), matches("^a$", "a\\n")
    (True, False)
    """
    return re.search(pattern.removesuffix("$") + r"\Z" if pattern.endswith("$") else pattern, text) is not None


def is_json_integer(value: object) -> bool:
    """A number of 64 bits; as a fraction only where it can be told from its neighbours, and nearly whole.

    >>> is_json_integer(1.0), is_json_integer(1.5), is_json_integer(2**63)
    (True, False, False)
    """
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    if not isinstance(value, float) or not abs(value) < 2**53:
        return False
    whole = float(int(value))
    return value == whole or (whole != 0 and abs(value - whole) / (abs(value) + abs(whole)) < 1e-9)
