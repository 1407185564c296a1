"""Secrets that somebody wrote into a job are shown as dots: whoever looks over a shoulder learns none.

Owns what looks like a secret: the value of a variable, header, option or annotation that is named like one, a password
in an address, and what is a key or token by its form. What refers to a Secret shows its name only, as Kubernetes does.
Others write the texts: no pattern takes longer than the text is long, so every name has an end.
"""

from __future__ import annotations

import re
from typing import Any

DOTS = "••••••"
# Tokens of a text, a tokenizer and what stands for a token in a vocabulary are no secrets; nor is a compass.
_TOKEN = r"(?<!(?:pad|eos|bos|unk|sep|cls)[-_])(?<!mask[-_])token(?![a-z])(?![-_]ids?(?![a-z]))"
_SECRET = (
    rf"(?:passw(?:or)?d|passphrase|secret|credential|authorization|cookie|connection[-_.]?string|{_TOKEN}"
    r"|(?:api|access|account|auth|encryption|license|master|private|shared|sign(?:ing)?|ssh|storage|webhook)[-_.]?key"
    r"|(?<![a-z])(?:pass|pwd|auth|pat|dsn|ak|sk|sig|signature)(?![a-z]))"
)
_QUOTED = r"\"[^\"]*\"|'[^']*'"
_FLAG = rf"(?<![\w.-])--?[\w.-]{{0,99}}{_SECRET}[\w.-]{{0,99}}"
_NAME = re.compile(_SECRET, re.IGNORECASE)
_OPTION = re.compile(rf"(?P<name>{_FLAG}(?:=|\s+))(?P<value>{_QUOTED}|[^\s\"']+)", re.IGNORECASE)
_OPTION_ALONE = re.compile(_FLAG, re.IGNORECASE)
_ASSIGNED = re.compile(
    rf"(?P<name>\b\w{{0,99}}{_SECRET}\w{{0,99}}(?:=|\s*=\s+|[\"']\s*:\s*|:\s+)(?!=)(?:(?:bearer|basic|token)\s+)?)"
    rf"(?P<value>{_QUOTED}|[^\s\"';&]+)",
    re.IGNORECASE,
)
_BEARER = re.compile(r"(?P<name>\b(?:bearer|basic)\s+)(?P<value>[\w+/=.~-]{8,})", re.IGNORECASE)
_ADDRESS = re.compile(r"(?P<name>\b\w{1,99}://[^\s/:@]*:)(?P<value>[^\s/]+)(?=@)")
_USER = re.compile(r"(?P<name>\b\w{1,99}://)(?P<value>[\w-]{16,})(?=@)")
# What the issuers of keys and tokens begin them with, for others to find what leaked; and the parts of a JWT.
_ISSUED = re.compile(
    r"(?P<name>)(?P<value>(?<![\w-])(?:AKIA[0-9A-Z]{16}|gh[opsu]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|hf_\w{20,}"
    r"|sk-[\w-]{20,}|xox[abprs]-[\w-]{10,}|ya29\.[\w-]{20,}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*))"
)
_PEM = re.compile(
    r"(?P<name>-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)(?P<value>.*?)(?=-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
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
    for pattern in (_PEM, _OPTION, _ASSIGNED, _BEARER, _ADDRESS, _USER, _ISSUED):
        value = pattern.sub(rf"\g<name>{DOTS}", value)
    return value
