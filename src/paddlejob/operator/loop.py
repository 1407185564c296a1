"""The loop: a key comes out of the queue, its job is looked at, what is missing is done, its status is written.

One look per job at a time, any number of jobs at once. An error in one job is that job's alone: it waits and is looked
at again, the others go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import NoReturn

import msgspec
import structlog

from paddlejob.api import Job
from paddlejob.core import Plan, plan
from paddlejob.core.managed import is_ours
from paddlejob.core.refusals import Wish
from paddlejob.kube.errors import ApiError, KubeError, delay_asked
from paddlejob.kube.objects import Key, key_of
from paddlejob.kube.queue import WorkQueue
from paddlejob.kube.tasks import TaskGroup
from paddlejob.meeting import Meetings
from paddlejob.operator.apply import Hands, refusal
from paddlejob.operator.cache import Cache, wanted_pods
from paddlejob.operator.inquiries import Inquiries
from paddlejob.operator.listening import Ears
from paddlejob.operator.memory import Memory
from paddlejob.operator.metrics import Metrics
from paddlejob.operator.reporting import Reporter
from paddlejob.operator.unreadable import Unreadable

log = structlog.get_logger()

LONGEST_SILENCE = timedelta(minutes=10)
# A look at so many pods takes up to 25 ms, a thread costs a fraction of one.
PODS_FOR_A_THREAD = 500


@dataclass(kw_only=True)
class Loop:
    cache: Cache
    hands: Hands
    reporter: Reporter
    memory: Memory
    queue: WorkQueue[Key]
    metrics: Metrics
    meetings: Meetings
    inquiries: Inquiries
    ears: Ears
    now: Callable[[], datetime]
    unreadable: Unreadable = field(default_factory=Unreadable)
    _uids: dict[Key, str] = field(default_factory=dict)
    _last_heard: dict[Key, datetime] = field(default_factory=dict)
    # One at a time: each more would make the loop wait longer for its turn at the interpreter.
    _thread: asyncio.Lock = field(default_factory=asyncio.Lock)

    def turns(self, now: datetime) -> bool:
        """Whether no reconcile hangs. A large job may need many calls, but every call has a time limit."""
        return all(now - heard < LONGEST_SILENCE for heard in self._last_heard.values())

    async def run(self) -> NoReturn:
        """Look at every job once, then at whatever changes, until cancelled."""
        for job in self.cache.jobs:
            self.queue.add(key_of(job))
        async with TaskGroup() as tasks:
            tasks.create_task(self.unreadable.tell(self.hands, self.now))
            while True:
                key = await self.queue.get()
                # Not in `_handle`: a task that is cancelled before it began would leave its key taken for ever.
                tasks.create_task(self._handle(key)).add_done_callback(partial(self._done, key))

    async def _handle(self, key: Key) -> None:
        self._heard(key)
        try:
            with self.metrics.reconciles.time():
                await self.reconcile(key)
            self.queue.forget(key)
        except KubeError as error:
            self.metrics.errors.inc()
            delay = self.queue.retry(key, at_least=delay_asked(error))
            log.warning("will try again", namespace=key[0], job=key[1], seconds=round(delay, 2), error=str(error))
        except Exception:
            # A defect of ours that one job brings to light must not take the others down.
            self.metrics.errors.inc()
            delay = self.queue.retry(key)
            log.exception("defect, will try again", namespace=key[0], job=key[1], seconds=round(delay, 2))
        finally:
            del self._last_heard[key]

    def _heard(self, key: Key) -> None:
        self._last_heard[key] = self.now()

    def _done(self, key: Key, _: asyncio.Task[None]) -> None:
        self.queue.done(key)

    async def reconcile(self, key: Key) -> None:
        job = self.cache.jobs.get(key)
        self._forget_previous(key, job)
        if job is None or not is_ours(job):
            return
        now = self.now()
        planned = await self._plan(job, now)
        await self._carry_out(key, job, planned, now)
        self._note_progress(job, planned, now)
        if planned.more:
            self.queue.add(key)
        if planned.wake_at is not None:
            self.queue.add_after(key, (planned.wake_at - now).total_seconds())

    async def _plan(self, job: Job, now: datetime) -> Plan:
        """Of a large job in a thread, where it may take its time: the others, probes and the lease go on meanwhile."""
        while names := self.cache.doubts.about(job):
            await self.hands.find(job, names, now)
        seen = self.cache.gather(job, self.memory.refusals(job), self.meetings.known(job.metadata.uid))
        known = {
            "complaints": self.inquiries.known(job.metadata.uid),
            "said": self.ears.known(job.metadata.uid),
            "listening": self.ears.listening(job),
        }

        def look() -> Plan:
            return plan(job, msgspec.structs.replace(seen(), **known), now)

        if wanted_pods(job) < PODS_FOR_A_THREAD:
            return look()
        async with self._thread:
            return await asyncio.to_thread(look)

    async def _carry_out(self, key: Key, job: Job, planned: Plan, now: datetime) -> None:
        """Write the status and act at the same time. If something was refused, look again at once, to report that."""
        outcomes = await asyncio.gather(
            self._report(job, planned, now),
            self.hands.apply(job, planned, now, heard=partial(self._heard, key)),
            self._meet(key, job, planned),
            self._inquire(key, job, planned),
            self._listen(key, job, planned),
            return_exceptions=True,
        )
        again, refused, *_ = outcomes
        if not isinstance(refused, BaseException) and self.memory.remember(job, planned, refused):
            self.queue.add(key)
        if errors := [outcome for outcome in outcomes if isinstance(outcome, BaseException)]:
            raise max(errors, key=delay_asked)
        if isinstance(again, float):
            self.queue.add_after(key, again)

    async def _meet(self, key: Key, job: Job, planned: Plan) -> None:
        """Beside the API calls and outside their limit: an etcd that does not answer holds up its own job only."""
        for question in planned.questions:
            if await self.meetings.do(job.metadata.uid, question):
                self.queue.add(key)

    async def _inquire(self, key: Key, job: Job, planned: Plan) -> None:
        await asyncio.gather(*(self.inquiries.ask(job, inquiry) for inquiry in planned.inquiries))
        if planned.inquiries:
            self.queue.add(key)

    async def _listen(self, key: Key, job: Job, planned: Plan) -> None:
        if planned.listens:
            self.queue.add_after(key, await self.ears.listen(job, planned.listens))
        elif planned.heard_out:
            self.ears.forget(job.metadata.uid)

    async def _report(self, job: Job, planned: Plan, now: datetime) -> float | None:
        """Events go out before the status: a written status tells the next leader that its events were sent."""
        await self.hands.send_events(job, planned.events, now)
        if (pause := self.memory.pause_before_status(job, now)) > 0:
            return pause
        try:
            return await self.reporter.report(job, planned.status)
        except ApiError as error:
            refused = refusal(Wish("patch", job.kind, "status"), error, now)
            await self.hands.complain(job, refused, now)
            return self.memory.status_refused(job, refused, now)

    def _forget_previous(self, key: Key, job: Job | None) -> None:
        """A name may come back as another job; what was remembered belongs to the old one."""
        previous = self._uids.get(key)
        current = job.metadata.uid if job else None
        if previous is not None and previous != current:
            self.memory.forget(previous)
            self.meetings.forget(previous)
            self.inquiries.forget(previous)
            self.ears.forget(previous)
        if current is None:
            self._uids.pop(key, None)
            self.queue.forget(key)
        else:
            self._uids[key] = current

    def _note_progress(self, job: Job, planned: Plan, now: datetime) -> None:
        before, after = job.status.phase, planned.status.phase
        if before == after:
            return
        log.info("phase", namespace=job.metadata.namespace, job=job.metadata.name, was=before, phase=after)
        if after == "Running" and job.metadata.creation_timestamp:
            created = datetime.fromisoformat(job.metadata.creation_timestamp.replace("Z", "+00:00"))
            self.metrics.time_to_running.observe((now - created).total_seconds())
