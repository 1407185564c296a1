"""What every API server demands of the labels and annotations of an object, whatever its kind.

No CRD says it, so it stands here: a job that passes on this machine passes on a cluster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

LONGEST_LABEL = 63
LONGEST_PREFIX = 253
MOST_ANNOTATIONS = 256 * 1024
_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_PREFIX = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")

Wrong = tuple[str, str, str]
"""The field, its key, and what is wrong; no key where it is the field as a whole."""


def wrong_labels(metadata: dict[str, Any]) -> Iterator[Wrong]:
    """Of what is text; what is not, the schema refuses."""
    for key, value in _texts(metadata.get("labels")).items():
        if not _is_key(key):
            yield "labels", key, _KEY
        elif value and not (_NAME.fullmatch(value) and len(value) <= LONGEST_LABEL):
            yield "labels", key, f"cannot have this value: use at most {LONGEST_LABEL} {_LETTERS}"
    annotations = _texts(metadata.get("annotations"))
    for key in annotations:
        if not _is_key(key.lower()):
            yield "annotations", key, _KEY
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    if size > MOST_ANNOTATIONS:
        yield "annotations", "", f"are {size} bytes: an object may have {MOST_ANNOTATIONS}"


_LETTERS = "letters, digits, '-', '_' and '.', a letter or digit at both ends"
_KEY = f"cannot be a key: use at most {LONGEST_LABEL} {_LETTERS}, perhaps after a DNS name and a '/'"


def _is_key(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    if slash and not (_PREFIX.fullmatch(prefix) and len(prefix) <= LONGEST_PREFIX):
        return False
    return len(name) <= LONGEST_LABEL and _NAME.fullmatch(name) is not None


def _texts(said: object) -> dict[str, str]:
    if not isinstance(said, dict):
        return {}
    return {key: value for key, value in said.items() if isinstance(key, str) and isinstance(value, str)}
