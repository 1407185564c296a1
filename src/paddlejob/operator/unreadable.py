"""Jobs that cannot be read: nothing is done about them, and whoever asks Kubernetes about one is told so.

Kept until somebody leads, each once. What its pods are doing goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import NoReturn

import structlog

from paddlejob.api import Job, ObjectMeta, reasons
from paddlejob.core import JobEvent
from paddlejob.kube.errors import KubeError
from paddlejob.kube.events import Skipped
from paddlejob.operator.apply import Hands

log = structlog.get_logger()


class Unreadable:
    def __init__(self) -> None:
        self._found: dict[str, Skipped] = {}
        """By UID."""
        self._news = asyncio.Event()

    def note(self, skipped: Skipped) -> None:
        if skipped.kind == Job.__name__ and skipped.uid:
            self._found[skipped.uid] = skipped
            self._news.set()

    async def tell(self, hands: Hands, now: Callable[[], datetime]) -> NoReturn:
        while True:
            await self._news.wait()
            self._news.clear()
            while self._found:
                uid, skipped = self._found.popitem()
                namespace, name = skipped.key
                job = Job(metadata=ObjectMeta(name=name, namespace=namespace, uid=uid))
                note = f"left alone, for it cannot be read ({skipped.error}): correct that field, or delete the job"
                try:
                    await hands.send_events(job, [JobEvent("Warning", reasons.UNREADABLE, note, 0)], now())
                except KubeError as error:
                    log.warning("event not sent", job=name, namespace=namespace, error=str(error))
