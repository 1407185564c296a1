"""Runs one job on this machine to its end: observe, plan, act, report; then clean up and exit.

The same `plan` as the operator's. Ends when the job has ended and its clean-up is done, or when asked to stop.
"""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Callable
from datetime import datetime, timezone

import msgspec

from paddlejob.api import Job, ObjectMeta, reasons
from paddlejob.api.names import ANNOTATION_PORTS
from paddlejob.api.spec import Intranet
from paddlejob.core import Question, plan
from paddlejob.core.rendezvous import forget
from paddlejob.core.times import timestamp
from paddlejob.core.usage import settled
from paddlejob.local import scaling
from paddlejob.local.addresses import Endpoints
from paddlejob.local.invocation import Surroundings
from paddlejob.local.listening import OFTEN, LocalEars
from paddlejob.local.machine import Machine
from paddlejob.local.manifest import Manifest
from paddlejob.local.processes import Supervisor
from paddlejob.local.state import NAMESPACE, DatedEvent, Folder, State
from paddlejob.local.supervisor.proc import start_time
from paddlejob.meeting import Meetings

# How often the world can answer a plan within one look before something is wrong; each step is one more turn.
MOST_TURNS = 50
# Timers stand still while a laptop sleeps, deadlines do not: so nothing sleeps longer than this without a look.
LONGEST_NAP = 15.0


class Runner:
    """`watching` is called after every change, with the newest state."""

    def __init__(
        self,
        manifest: Manifest,
        surroundings: Surroundings,
        folder: Folder,
        *,
        supervisor: Supervisor,
        watching: Callable[[State], None],
        endpoints: Endpoints,
    ) -> None:
        self.job = here(manifest.job, endpoints.first_port)
        self._folder = folder
        self._file = os.fsencode(manifest.path).decode(errors="replace")  # names of files may be no valid Unicode
        self._supervisor = supervisor
        self._watching = watching
        self._events: list[DatedEvent] = []
        self._due = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._stopping = False
        self._meetings = Meetings(surroundings.etcd)
        self._question: asyncio.Future[bool] | None = None
        self._ears = LocalEars(self.job.spec.progress)
        self._written: State | None = None
        self.machine = Machine(
            manifest, surroundings, endpoints.addresses, supervisor=supervisor, changed=self._due.set
        )

    async def run(self) -> Job:
        """The job as it ended."""
        asyncio.get_running_loop().add_signal_handler(scaling.SIGNAL, self.scale)
        listening = asyncio.ensure_future(self._supervisor.listen(self.machine.handle))
        try:
            self._due.set()
            while not self._over():
                waiting = asyncio.ensure_future(self._due.wait())
                done, _ = await asyncio.wait({waiting, listening}, return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
                if listening in done:
                    listening.result()  # raises: nothing looks after our processes any more
                self._due.clear()
                self._look()
        finally:
            await self._leave(listening)
        return self.job

    def stop(self) -> None:
        """Stop all pods gracefully; when called a second time, kill them."""
        if self._stopping:
            self.machine.kill()
        else:
            self._stopping = True
            self._mark_deleted()
            self.machine.stop()
        self._due.set()

    def _mark_deleted(self) -> None:
        meta = msgspec.structs.replace(self.job.metadata, deletion_timestamp=timestamp(_now()))
        self.job = msgspec.structs.replace(self.job, metadata=meta)

    def _over(self) -> bool:
        if self._stopping:
            return self.machine.empty
        pods = self.machine.pods.values()
        return self.job.status.finished and not any(pod.deleting for pod in pods)

    def _look(self) -> None:
        """Plan and act until nothing is left to do now."""
        for _ in range(MOST_TURNS):
            now = _now()
            known = self._meetings.known(self.job.metadata.uid)
            seen = self.machine.observe(self.job, known)
            made = plan(self.job, msgspec.structs.replace(seen, said=self._ears.known, listening=OFTEN), now)
            unchanged = made.status == self.job.status
            self.job = msgspec.structs.replace(self.job, status=made.status)
            self._events += [DatedEvent(timestamp(now), one.type, one.reason, one.note) for one in made.events]
            for asked in made.listens:
                self._ears.listen(asked, self.machine.pods[asked.name].training.log, now)
            for action in made.actions:
                self.machine.do(action)
            for question in made.questions:
                self._ask(question)
            if made.expired:
                self._mark_deleted()
                self.machine.stop()  # what it owns goes with it
            if made.wake_at is not None:
                self._wake_in((made.wake_at - now).total_seconds())
            if unchanged and not made.actions and not made.listens:
                break
        self._report()

    def _ask(self, question: Question) -> None:
        """Ask etcd, one question at a time; the answer brings a new look."""
        if self._question is None or self._question.done():
            self._question = asyncio.ensure_future(self._meetings.do(self.job.metadata.uid, question))
            self._question.add_done_callback(lambda _: self._due.set())

    def scale(self) -> None:
        """Take the number of workers that somebody left in the folder."""
        replicas, worker = scaling.asked(self._folder), self.job.spec.worker
        if replicas is None or worker is None:
            return
        spec = msgspec.structs.replace(self.job.spec, worker=msgspec.structs.replace(worker, replicas=replicas))
        meta = msgspec.structs.replace(self.job.metadata, generation=self.job.metadata.generation + 1)
        self.job = msgspec.structs.replace(self.job, metadata=meta, spec=spec)
        self._due.set()

    def _wake_in(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(min(LONGEST_NAP, seconds), self._due.set)

    def _report(self, ended: bool = False) -> None:
        state = State(
            job=self.job,
            file=self._file,
            pid=os.getpid(),
            start_time=start_time(os.getpid()),
            token=self._supervisor.token,
            pods=tuple(pod.snapshot() for pod in self.machine.pods.values()),
            events=tuple(self._events),
            ended=ended,
        )
        if state == self._written:
            return  # somebody has listened, and nothing has changed
        self._folder.write(state)
        self._written = state
        self._watching(state)

    async def _leave(self, listening: asyncio.Future[None]) -> None:
        """Stop what still runs, because nothing would look after it; then write the last state."""
        if self._timer is not None:
            self._timer.cancel()
        await self._supervisor.close()
        listening.cancel()
        await asyncio.gather(listening, *([self._question] if self._question else []), return_exceptions=True)
        await self._forget()
        self.machine.close()
        if self._stopping and not self.job.status.finished:
            self._say_stopped()
        self._report(ended=True)

    def _say_stopped(self) -> None:
        message = "it was stopped before it ended"
        used = settled(self.job, _now())
        status = msgspec.structs.replace(self.job.status, reason=reasons.STOPPED, message=message, usage=used)
        self.job = msgspec.structs.replace(self.job, status=status)
        self._events.append(DatedEvent(timestamp(_now()), "Normal", reasons.STOPPED, message))

    async def _forget(self) -> None:
        """Remove the job's keys from etcd, unless that is done: nobody is left who would write them again."""
        known = self._meetings.known(self.job.metadata.uid)
        removal = forget(self.job, known) if self.job.spec.is_elastic else None
        if removal is not None and known.answer is not None and not known.forgotten:
            await self._meetings.do(self.job.metadata.uid, removal)


def here(job: Job, first_port: int | None) -> Job:
    """The job as it runs on this machine: found by address even if it asks for names, for there are none here, and
    whoever else runs it on a cluster."""
    annotations = dict(job.metadata.annotations)
    if first_port is not None:
        annotations[ANNOTATION_PORTS] = str(first_port)
    meta = ObjectMeta(
        name=job.metadata.name,
        namespace=job.metadata.namespace or NAMESPACE,
        uid=str(uuid.uuid4()),
        generation=1,
        creation_timestamp=timestamp(_now()),
        labels=job.metadata.labels,
        annotations=annotations,
    )
    intranet: Intranet = "Host" if job.spec.network == "Host" else "PodIP"
    return Job(metadata=meta, spec=msgspec.structs.replace(job.spec, intranet=intranet, managed_by=None))


def _now() -> datetime:
    return datetime.now(timezone.utc)
