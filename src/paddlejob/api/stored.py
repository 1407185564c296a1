"""Jobs as they are stored. Others write there, too: an earlier paddle-operator, people, other versions of ours.

A status is a report, so what cannot be read of it counts as not said. Only an end must not be missed: the job would be
started over. The spec is what somebody asked for: a job whose spec cannot be read is refused.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from paddlejob.api import reasons
from paddlejob.api.job import Job
from paddlejob.api.meta import ObjectMeta
from paddlejob.api.status import Condition, Status

Json = dict[str, Any]


def read_job(document: Json) -> Job:
    """The typed job, whoever wrote its status. A spec or metadata that cannot be read is a ValidationError."""
    try:
        return msgspec.convert(document, Job)
    except msgspec.ValidationError:
        return msgspec.convert(mended(document), Job)


def mended_json(body: bytes) -> bytes:
    """The same for JSON: what `mended` makes of it."""
    document = msgspec.json.decode(body)
    return msgspec.json.encode(mended(document)) if isinstance(document, dict) else body


def bare_metadata(document: Json) -> ObjectMeta:
    """What tells a job from all others, though the rest of it cannot be read."""
    given = document.get("metadata")
    said = given if isinstance(given, dict) else {}
    names = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp")
    return msgspec.convert({name: said[name] for name in names if isinstance(said.get(name), str)}, ObjectMeta)


def mended(document: Json) -> Json:
    """The job with as much of its status as can be read."""
    return {**document, "status": _readable(document.get("status"))}


def _readable(status: object) -> Json:
    if not isinstance(status, dict):
        return {}
    kept = {name: value for name, value in status.items() if name in _types() and _fits(value, _types()[name])}
    if isinstance(found := status.get("conditions"), list):
        kept["conditions"] = [one for one in found if _fits(one, Condition)]
    return {**kept, **_end(status, kept)}


def _end(status: Json, kept: Json) -> Json:
    """How a job ended in whose phase is none of ours. One that has ended somehow did not succeed, as far as we know."""
    said = status.get("phase")
    if kept.get("phase") is not None or said is None:
        return {}
    phase = reasons.ENDS_OF_OTHERS.get(said) if isinstance(said, str) else None
    if phase is None and kept.get("completionTime"):
        phase = "Failed"
    if phase is None:
        return {}
    return {
        "phase": phase,
        "reason": kept.get("reason") or reasons.OTHER_OPERATOR,
        "message": kept.get("message") or f"another operator wrote that this job has ended: {str(said)[:100]}",
    }


def _fits(value: object, type_: Any) -> bool:
    try:
        msgspec.convert(value, type_)
    except msgspec.ValidationError:
        return False
    return True


@cache
def _types() -> dict[str, Any]:
    return {field.encode_name: field.type for field in msgspec.structs.fields(Status)}
