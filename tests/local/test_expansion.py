"""`$(VAR)` as Kubernetes defines it."""

from __future__ import annotations

import pytest

from paddlejob.local.invocation import expand

KNOWN = {"A": "1", "LONG_NAME": "value", "EMPTY": ""}

CASES = {
    "$(A)": "1",
    "x$(A)y$(LONG_NAME)z": "x1yvaluez",
    "$(EMPTY)": "",
    "$(UNKNOWN)": "$(UNKNOWN)",
    "$$(A)": "$(A)",
    "$$$(A)": "$1",
    "$A ${A}": "$A ${A}",
    "$(A": "$(A",
    "$": "$",
    "$$": "$",
    "": "",
}


@pytest.mark.parametrize("text", CASES)
def test_references_are_expanded_and_nothing_else(text: str) -> None:
    assert expand(text, KNOWN) == CASES[text]
