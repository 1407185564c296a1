"""What elastic jobs ask of etcd, done, and the answers kept for the next look. Shared by the operator and local runs.

May be forgotten at any time without harm: whoever needs an answer asks again. An etcd that fails is an answer, not an
error: the plan decides what it means.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone

import msgspec

from paddlejob.core import Answer, AskEtcd, Etcd, ForgetEtcd, Question
from paddlejob.core.reach import EVERYWHERE, Reach
from paddlejob.etcd import EtcdClient, EtcdError


class Meetings:
    """By the UID of the job. `server` is the etcd of jobs that name none, `reach` where others may be."""

    def __init__(
        self,
        server: str = "",
        now: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
        reach: Reach = EVERYWHERE,
    ) -> None:
        self._nothing = Etcd(server, reach=reach)
        self._known: dict[str, Etcd] = {}
        self._client = EtcdClient()
        self._now = now

    def known(self, uid: str) -> Etcd:
        return self._known.get(uid, self._nothing)

    def forget(self, uid: str) -> None:
        self._known.pop(uid, None)

    async def do(self, uid: str, question: Question) -> bool:
        """Whether something is known now that was not before."""
        match question:
            case AskEtcd():
                answer = await self._ask(question)
                self._known[uid] = msgspec.structs.replace(self.known(uid), answer=answer)
                return True
            case ForgetEtcd():
                try:
                    await self._client.delete(question.server, question.keys, question.prefixes)
                except EtcdError:
                    return False  # the plan asks again, for a while
                self._known[uid] = msgspec.structs.replace(self.known(uid), forgotten=True)
                return True

    async def _ask(self, question: AskEtcd) -> Answer:
        exited = frozenset(question.exited)
        try:
            value = await self._client.get(question.server, f"/paddle/{question.id}")
        except EtcdError as error:
            return Answer(question.id, self._now(), exited=exited, error=str(error))
        return Answer(question.id, self._now(), value or "", exited)
