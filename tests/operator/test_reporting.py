"""When a status is written, and what of it: only what changed, counts not too often."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from paddlejob.api import RoleStatus, Status
from paddlejob.operator.reporting import difference, only_counts

PATCHES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "nothing changed": ({"a": 1}, {"a": 1}, {}),
    "a new field": ({}, {"a": 1}, {"a": 1}),
    "a field that went": ({"a": 1}, {}, {"a": None}),
    "inside an object only what changed": ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, {"a": {"c": 3}}),
    "lists are replaced whole": ({"a": [1, 2]}, {"a": [1, 3]}, {"a": [1, 3]}),
    "an object that went inside": ({"a": {"b": 1}}, {"a": {}}, {"a": {"b": None}}),
}


@pytest.mark.parametrize("case", PATCHES)
def test_a_patch_says_only_what_changed(case: str) -> None:
    before, after, patch = PATCHES[case]
    assert difference(before, after) == patch


def running(**counts: Any) -> Status:
    return Status(phase="Running", worker=RoleStatus(**counts))


QUIET: dict[str, tuple[Status, Status, bool]] = {
    "a count": (running(running=2), running(running=1, succeeded=1), True),
    "a message": (Status(phase="Pending", reason="A"), Status(phase="Pending", reason="A", message="b"), True),
    "the phase": (Status(phase="Pending"), Status(phase="Running"), False),
    "the reason": (Status(phase="Pending"), Status(phase="Pending", reason="A"), False),
    "which worker succeeded": (running(running=2), replace(running(running=1), succeeded_indexes="0"), True),
}


@pytest.mark.parametrize("case", QUIET)
def test_only_counts_and_messages_may_wait(case: str) -> None:
    before, after, may_wait = QUIET[case]
    assert only_counts(before, after) is may_wait
