"""Kubernetes events about a job. Their names are made of what they say, so a repeated one meets itself."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any

from paddlejob.api import PaddleJob
from paddlejob.api.names import API_VERSION, GROUP, KIND
from paddlejob.core import Announce

CONTROLLER = f"{GROUP}/paddle-operator"
LONGEST_NOTE = 1024


def event(job: PaddleJob, announce: Announce, now: datetime, instance: str) -> dict[str, Any]:
    meta = job.metadata
    told = f"{meta.uid}/{announce.attempt}/{announce.reason}"
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {
            "name": f"{meta.name}.{hashlib.sha256(told.encode()).hexdigest()[:16]}",
            "namespace": meta.namespace,
        },
        "eventTime": now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "type": announce.type,
        "reason": announce.reason,
        "note": _shortened(announce.note),
        "action": announce.reason,
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
