"""What pods have printed lately, read through the API server when a plan asks for it: only with --progress.

One limit for all jobs: who would exceed it is told when its turn is, and asks again then. Who may not read logs is told
so once, in a log line. May be forgotten at any time without harm: it is read again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

import structlog
from msgspec.structs import replace

from paddlejob.api import Job
from paddlejob.core import Listen, Listening, Said
from paddlejob.core.observe import SILENCE
from paddlejob.core.times import moment
from paddlejob.kube.client import Client
from paddlejob.kube.errors import ApiForbidden, KubeError
from paddlejob.operator.resources import PODS
from paddlejob.profiles.ear import Ear, without_half
from paddlejob.profiles.profile import profiles

log = structlog.get_logger()

OFTEN = Listening(every=timedelta(seconds=15), patience=timedelta(seconds=60))
READS_PER_SECOND = 20
TIMEOUT_SECONDS = 3.0
# The first time it may take a while to find where an epoch began.
FIRST_LINES, LINES = 1000, 200
FIRST_BYTES, BYTES = 256 * 1024, 64 * 1024
# How soon to see whether somebody has given the right to read logs.
DENIED_FOR = timedelta(minutes=10)
KEPT_FOR = timedelta(hours=1)

Stamp = tuple[str, str]
STAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z", re.ASCII)


class _Heard(NamedTuple):
    """`until`: the stamp of the last line. `most`: how many lines to ask for. `first`, `at`: when it was read for the
    first time, and lately, if it was."""

    life: int
    ear: Ear
    said: Said
    until: Stamp | None = None
    most: int = LINES
    first: datetime | None = None
    at: datetime | None = None


class Ears:
    """By the UID of the job, and of the pod."""

    def __init__(self, client: Client, now: Callable[[], datetime], *, enabled: bool) -> None:
        self._client = client
        self._now = now
        self._enabled = enabled
        self._known: dict[str, dict[str, _Heard]] = {}
        self._turns: dict[str, datetime] = {}
        self._free: datetime | None = None
        self._denied: dict[str, datetime] = {}
        if enabled:
            profiles()  # so that nobody waits for them later

    def listening(self, job: Job) -> Listening:
        denied = self._denied.get(job.metadata.namespace)
        return OFTEN if self._enabled and (denied is None or self._now() >= denied) else SILENCE

    def known(self, uid: str) -> Mapping[str, Said]:
        return {pod: heard.said for pod, heard in self._known.get(uid, {}).items()}

    def forget(self, uid: str) -> None:
        self._known.pop(uid, None)
        self._turns.pop(uid, None)

    async def listen(self, job: Job, listens: tuple[Listen, ...]) -> float:
        """Seconds until the job should be looked at again: at once if something was read."""
        wait = 0.0
        for asked in listens:
            if (wait := self._wait(job.metadata.uid)) > 0:
                break
            if not await self._read(job, asked):
                break  # the others later: what holds this one up may hold up them all, and the job meanwhile
        return max(wait, self._denial(job))

    def _wait(self, uid: str) -> float:
        """How long until its turn; a turn that has come is taken."""
        now = self._now()
        turn = self._turns.pop(uid, None)
        if turn is None:
            turn = now if self._free is None else max(now, self._free)
            self._free = turn + timedelta(seconds=1 / READS_PER_SECOND)
        if turn > now:
            self._turns[uid] = turn
        return max(0.0, (turn - now).total_seconds())

    def _denial(self, job: Job) -> float:
        until = self._denied.get(job.metadata.namespace)
        return max(0.0, (until - self._now()).total_seconds()) if until is not None else 0.0

    async def _read(self, job: Job, asked: Listen) -> bool:
        """Whether it could be read."""
        before = self._known.get(job.metadata.uid, {}).get(asked.uid)
        if before is None or before.life != asked.life:
            ear = Ear(job.spec.progress)
            before = _Heard(asked.life, ear, ear.said(self._now()))
        heard, error, changed = before, "", before.ear.changed
        try:
            first = before.until is None
            limit = FIRST_BYTES if first else BYTES
            text = await self._ask(job, asked, FIRST_LINES if first else before.most, limit)
            until, most = _hear(before, text, cut=len(text) >= limit)
            read = self._now()
            heard = before._replace(until=until, most=most, first=before.first or read, at=read)
        except KubeError as failed:
            error = str(failed)
            self._failed(job, asked, failed)
        at = self._now()
        said = before.ear.said(at, last=asked.last, error=error)
        since = before.said.changed if said.changed == changed else _by_our_clock(said.changed, before.at, at)
        kept = {uid: one for uid, one in self._known.get(job.metadata.uid, {}).items() if at - one.said.at < KEPT_FOR}
        self._known[job.metadata.uid] = {
            **kept,
            asked.uid: heard._replace(said=replace(said, changed=since, first=heard.first)),
        }
        return not error

    async def _ask(self, job: Job, asked: Listen, lines: int, limit: int) -> bytes:
        params = {"timestamps": "true", "tailLines": str(lines), "limitBytes": str(limit)}
        if asked.container:
            params["container"] = asked.container
        path = PODS.path(job.metadata.namespace, asked.name, "log")
        return await self._client.request("GET", path, params=params, timeout=TIMEOUT_SECONDS)

    def _failed(self, job: Job, asked: Listen, failed: KubeError) -> None:
        namespace = job.metadata.namespace
        if not isinstance(failed, ApiForbidden):
            log.info("log not read", namespace=namespace, pod=asked.name, error=str(failed))
            return
        if namespace not in self._denied:
            log.warning(
                "no progress: logs may not be read; apply deploy/v1/progress.yaml",
                namespace=namespace,
                error=str(failed),
            )
        self._denied[namespace] = self._now() + DENIED_FOR


def _hear(heard: _Heard, text: bytes, *, cut: bool) -> tuple[Stamp | None, int]:
    """The stamp of the last line, and how many lines to ask for next: fewer while they do not fit."""
    lines = text.decode(errors="replace").split("\n")
    if cut:
        lines[-1] = without_half(lines[-1])
    new, until, missed = [], heard.until, heard.until is not None
    for line in reversed(lines):  # most of them were there the last time
        one = _stamped(line)
        if one is not None and until is not None and one[0] <= until:
            missed = False
            break
        if one is not None:
            new.append(one)
    new.reverse()
    heard.ear.hear([(_moment(stamp), line) for stamp, line in new], missed=missed and bool(new))
    most = max(1, heard.most // 8) if cut else min(LINES, heard.most * 2)
    return (new[-1][0] if new else until), most


def _stamped(line: str) -> tuple[Stamp, str] | None:
    """Kubelets write a time before each line, with as many digits as it needs; but not before what they say themselves,
    such as why there is no log just now."""
    at, _, said = line.partition(" ")
    found = STAMP.fullmatch(at)
    return None if found is None else ((found[1], (found[2] or "").ljust(9, "0")), said)


def _moment(stamp: Stamp) -> datetime:
    return moment(f"{stamp[0]}.{stamp[1][:6]}Z")


def _by_our_clock(printed: datetime | None, heard_before: datetime | None, now: datetime) -> datetime | None:
    """When a new line was printed. The clock of its node may be wrong: it came after the last time that we listened."""
    if printed is None:
        return None
    return min(now, printed if heard_before is None else max(printed, heard_before))
