"""Reads the API server's audit log: which calls did the operator make, in which order, with which answer.

Only calls of the service accounts of `paddle-system` are in it (credentials.py). A watch counts from its start
on, open or not.
"""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import msgspec


class Call(msgspec.Struct, frozen=True):
    verb: str
    resource: str
    subresource: str
    namespace: str
    name: str
    user: str
    code: int
    timestamp: datetime
    user_agent: str

    def __str__(self) -> str:
        kind = f"{self.resource}/{self.subresource}" if self.subresource else self.resource
        return f"{self.verb} {kind} {self.namespace}/{self.name} -> {self.code}"


class _Object(msgspec.Struct, frozen=True):
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""


class _User(msgspec.Struct, frozen=True):
    username: str


class _Response(msgspec.Struct, frozen=True):
    code: int = 0


class _Record(msgspec.Struct, frozen=True, rename="camel"):
    audit_id: str = msgspec.field(name="auditID")
    stage: str
    verb: str
    user: _User
    request_received_timestamp: datetime
    request_uri: str = msgspec.field(name="requestURI")
    user_agent: str = ""
    object_ref: _Object = _Object()
    response_status: _Response = _Response()


_decoder = msgspec.json.Decoder(_Record)


def read_calls(log: Path, *, namespace: str | None = None, since: datetime | None = None) -> list[Call]:
    """The calls in the order of their arrival; `since` is compared with the time of arrival."""
    if not log.exists():
        return []
    # A line that is being written has no end yet; the last stage of a call replaces its earlier one.
    lines = log.read_bytes().rpartition(b"\n")[0].splitlines()
    records = {record.audit_id: record for record in map(_decoder.decode, lines)}
    calls = [_call(record) for record in records.values()]
    wanted = (
        call
        for call in calls
        if (namespace is None or call.namespace == namespace) and (since is None or call.timestamp >= since)
    )
    return sorted(wanted, key=lambda call: call.timestamp)


def without_watches(calls: Iterable[Call]) -> list[Call]:
    return [call for call in calls if call.verb != "watch"]


def _call(record: _Record) -> Call:
    target = record.object_ref
    return Call(
        verb=record.verb,
        # Calls that name no resource (discovery, /version) are known by their path.
        resource=target.resource or record.request_uri,
        subresource=target.subresource,
        namespace=target.namespace,
        name=target.name,
        user=record.user.username,
        code=record.response_status.code,
        timestamp=record.request_received_timestamp,
        user_agent=record.user_agent,
    )
