"""What the pods of a local job have printed lately: from their log files, which cost nothing to read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from paddlejob.api.spec import ProgressPolicy
from paddlejob.core import Listen, Listening, Said
from paddlejob.local.following import Follower
from paddlejob.local.supervisor.proc import CONTAINER_MARK, is_stopped, marked
from paddlejob.profiles.ear import Ear

OFTEN = Listening(every=timedelta(seconds=1))
# Who says nothing for that long may be stopped. To see it, all processes of the machine are looked at: not too often.
QUIET = timedelta(seconds=10)
# Who was not listened to for so long slept, and with it the whole machine: what it would have said is not known.
ASLEEP = timedelta(seconds=30)


class LocalEars:
    """One for every life of a container."""

    def __init__(self, policy: ProgressPolicy | None) -> None:
        self._policy = policy
        self._ears: dict[tuple[str, int], Ear] = {}
        self._followers: dict[str, Follower] = {}
        self._known: dict[str, Said] = {}
        self._woken: dict[str, datetime] = {}
        self._stopped: dict[str, tuple[datetime, bool]] = {}

    @property
    def known(self) -> Mapping[str, Said]:
        """By the UID of the pod."""
        return dict(self._known)

    def listen(self, asked: Listen, log: Path, now: datetime) -> None:
        follower = self._followers.setdefault(asked.uid, Follower(log))
        ear = self._ears.setdefault((asked.uid, asked.life), Ear(self._policy))
        error = ""
        try:
            lines = [(now, line) for line in follower.lines(last_call=asked.last)]
            ear.hear(lines, unfinished=(now, follower.bar))
        except OSError as failed:
            error = str(failed)
        said = self._awake(asked.uid, ear.said(now, last=asked.last, error=error))
        if said.changed is not None and now - said.changed >= QUIET and not asked.last:
            said = replace(said, stopped=self._is_stopped(asked, now))
        self._known[asked.uid] = said

    def _awake(self, uid: str, said: Said) -> Said:
        before = self._known.get(uid)
        if before is not None and said.at - before.at >= ASLEEP:
            self._woken[uid] = said.at
        woken = self._woken.get(uid)
        return said if woken is None or said.changed is None else replace(said, changed=max(said.changed, woken))

    def _is_stopped(self, asked: Listen, now: datetime) -> bool:
        at, found = self._stopped.get(asked.uid, (now - QUIET, False))
        if now - at >= QUIET:
            found = any(is_stopped(pid) for pid in marked(f"{CONTAINER_MARK}={asked.uid}/{asked.container}"))
            self._stopped[asked.uid] = (now, found)
        return found
