"""Kubernetes events about a job. Their names are made of what they say, so a repeated one meets itself."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any

from paddlejob.api import Job
from paddlejob.api.names import API_VERSION, GROUP, KIND
from paddlejob.core import JobEvent

CONTROLLER = f"{GROUP}/paddle-operator"
LONGEST_NOTE = 1024


def event_body(job: Job, event: JobEvent, now: datetime, instance: str) -> dict[str, Any]:
    meta = job.metadata
    identity = f"{meta.uid}/{event.attempt}/{event.reason}"
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {
            "name": f"{meta.name}.{hashlib.sha256(identity.encode()).hexdigest()[:16]}",
            "namespace": meta.namespace,
        },
        "eventTime": now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "type": event.type,
        "reason": event.reason,
        "note": _shortened(event.note),
        "action": event.reason,
        "reportingController": CONTROLLER,
        "reportingInstance": instance[:128],
        "regarding": {
            "apiVersion": API_VERSION,
            "kind": KIND,
            "name": meta.name,
            "namespace": meta.namespace,
            "uid": meta.uid,
        },
    }


def _shortened(note: str) -> str:
    data = note.encode()
    return note if len(data) < LONGEST_NOTE else data[: LONGEST_NOTE - 5].decode(errors="ignore") + "…"
