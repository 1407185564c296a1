"""Checks what a person passes to the SDK, at once and by name: a wrong type is a TypeError, a wrong value a ValueError.

Owns no default and no meaning: only what a text, a count, a quantity, a path or a name may be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from paddlejob.api.names import LABEL, is_label

_MEMORY = re.compile(r"[1-9][0-9]*([EPTGMKk]|[EPTGMK]i)")
_VARIABLE = re.compile(r"[^=\0]+")


def text(parameter: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{parameter} must be a str, not {type(value).__name__}: {value!r}")
    if not value.strip():
        raise ValueError(f"{parameter} is empty")
    return value


def count(parameter: str, value: object, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{parameter} must be an int, not {type(value).__name__}: {value!r}")
    if value < least:
        raise ValueError(f"{parameter} must be {least} or more, not {value}")
    return value


def flag(parameter: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{parameter} must be True or False, not {value!r}")
    return value


def memory(parameter: str, value: object) -> str:
    """As Kubernetes writes it: its kilo is a small k.

    >>> memory("memory", "512K")
    '512k'
    """
    said = text(parameter, value)
    if not _MEMORY.fullmatch(said):
        raise ValueError(
            f"{parameter} must be a whole number with one of the suffixes E, P, T, G, M, K (10G), or Ei, Pi, Ti, Gi,"
            f" Mi, Ki (10Gi), not {said!r}"
        )
    return said.replace("K", "k") if said.endswith("K") else said


def path(parameter: str, value: object) -> str:
    said = text(parameter, value)
    if not said.startswith("/"):
        raise ValueError(f"{parameter} must be an absolute path, beginning with /, not {said!r}")
    return said


def namespace(parameter: str, value: object) -> str:
    said = text(parameter, value)
    if not is_label(said):
        raise ValueError(f"{parameter}: {said!r} cannot be the name of a namespace: {LABEL}")
    return said


def environment(parameter: str, value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{parameter} must be a mapping of names to values, not {type(value).__name__}")
    for name, said in value.items():
        if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
            raise ValueError(f"{parameter}: {name!r} cannot be the name of a variable")
        if not isinstance(said, str):
            raise TypeError(f"{parameter}[{name!r}] must be a str, not {type(said).__name__}: write {str(said)!r}")
    return dict(value)


def one_of(spellings: Mapping[str, Any]) -> Any:
    """The value of a parameter that has several spellings; None when none was used."""
    said = {name: value for name, value in spellings.items() if value is not None}
    if len(set(map(repr, said.values()))) > 1:
        raise ValueError(f"{' and '.join(said)} are two names of one parameter, but have different values")
    return next(iter(said.values()), None)
