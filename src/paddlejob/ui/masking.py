"""Secrets that somebody wrote into a job are shown as dots: whoever looks over a shoulder learns none.

Owns what looks like a secret: the value of a variable, option or annotation that is named like one, and the password in
an address. What refers to a Secret shows its name only, as Kubernetes does.
"""

from __future__ import annotations

import re
from typing import Any

DOTS = "••••••"
# Tokens of a text, and a tokenizer, are no secrets; nor is a compass.
_SECRET = (
    r"(?:passw(?:or)?d|passphrase|secret|credential|token(?![a-z])|(?:api|access|private)[-_.]?key"
    r"|(?<![a-z])(?:pass|pwd|auth)(?![a-z]))"
)
_NAME = re.compile(_SECRET, re.IGNORECASE)
_OPTION = re.compile(rf"(?P<name>--?[\w.-]*{_SECRET}[\w.-]*(?:=|\s+))(?P<value>\"[^\"]*\"|'[^']*'|[^\s\"']+)", re.I)
_OPTION_ALONE = re.compile(rf"--?[\w.-]*{_SECRET}[\w.-]*", re.IGNORECASE)
_ASSIGNED = re.compile(rf"(?P<name>\b\w*{_SECRET}\w*=)(?P<value>\"[^\"]*\"|'[^']*'|[^\s\"';&]+)", re.IGNORECASE)
_ADDRESS = re.compile(r"(?P<name>\w+://[^\s/:@]*:)(?P<value>[^\s/@]+)(?=@)")
# As kubectl keeps it: the whole object once more, as text.
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def masked(value: Any) -> Any:
    """The same object, without secrets."""
    if isinstance(value, dict):
        if _names_secret(value.get("name")) and isinstance(value.get("value"), str):
            value = {**value, "value": DOTS}
        return {key: _of_key(key, one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_after(before, one) for before, one in zip([None, *value], value, strict=False)]
    return _text(value) if isinstance(value, str) else value


def _of_key(key: object, value: Any) -> Any:
    if isinstance(value, str) and (key == _LAST_APPLIED or (_names_secret(key) and not _is_reference(key))):
        return DOTS
    return masked(value)


def _after(before: Any, one: Any) -> Any:
    """`--password`, and in the next argument what it is."""
    if isinstance(before, str) and isinstance(one, str) and _OPTION_ALONE.fullmatch(before.strip()):
        return DOTS
    return masked(one)


def _names_secret(name: object) -> bool:
    return isinstance(name, str) and _NAME.search(name) is not None


def _is_reference(key: object) -> bool:
    """`secretName: x` and the like name a Secret; they are none."""
    return str(key).endswith("Name")


def _text(value: str) -> str:
    for pattern in (_OPTION, _ASSIGNED, _ADDRESS):
        value = pattern.sub(rf"\g<name>{DOTS}", value)
    return value
