"""Jobs on this machine: reads the state that their runners write, and leaves requests for the runners to pick up.

A runner has its own process, so a job outlives a notebook cell. What a job here cannot do raises `NotHere`.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from paddlejob import errors
from paddlejob.api import Job, reasons
from paddlejob.api.meta import Key
from paddlejob.api.names import ROLES
from paddlejob.core.children import Pod
from paddlejob.local import scaling
from paddlejob.local.following import Logs
from paddlejob.local.logfiles import LogFile
from paddlejob.local.state import NAMESPACE, Folder, LastStates, State, explained, find, folders, root
from paddlejob.local.supervisor.proc import is_alive
from paddlejob.places.place import (
    Bar,
    Change,
    Description,
    Event,
    Found,
    Heading,
    Json,
    Line,
    PodChange,
    Wanted,
    loop,
)

if TYPE_CHECKING:
    from paddlejob.local.manifest import Manifest

PAUSE = 0.1


class ThisMachine:
    """`volumes` says where volumes are on this machine, `ours` which Python to try first; both for `submit` only."""

    where = "this machine"
    namespace = NAMESPACE
    listed = None

    def __init__(self, volumes: Mapping[str, Path] | None = None, ours: Path | None = None) -> None:
        self._volumes = volumes or {}
        self._ours = ours

    async def __aenter__(self) -> ThisMachine:
        return self

    async def __aexit__(self, *error: object) -> None: ...

    async def answers(self) -> None: ...

    async def check(self, description: Description) -> None:
        """In a thread: which Python a job gets is found out by starting some."""
        from paddlejob.places.start import Asked, surroundings  # noqa: PLC0415 - only who starts a job pays for it

        await loop()
        import asyncio  # noqa: PLC0415 - a look needs no event loop

        with explained():
            asked = Asked(manifest=_manifest(description), volumes=self._volumes, ours=self._ours)
            await asyncio.to_thread(surroundings, asked)

    async def submit(self, description: Description) -> Found:
        from paddlejob.places.start import Asked, prepare  # noqa: PLC0415 - only who starts a job pays for it

        await loop()
        import asyncio  # noqa: PLC0415 - a look needs no event loop

        def start() -> Found:
            with explained():
                manifest = _manifest(description)
                prepare(Asked(manifest=manifest, volumes=self._volumes, ours=self._ours)).in_background()
                return _found(*find(_root(), manifest.job.metadata.namespace or NAMESPACE, description.name))

        # No task: on Ctrl-C Python 3.10 cancels all tasks, and then nobody would learn what the thread has started.
        starting = asyncio.get_running_loop().run_in_executor(None, start)
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            with suppress(errors.PaddleJobError):  # a thread goes on: what it still starts, nobody wants any more
                await self.delete((await starting).job, force=True)
            raise

    async def get(self, key: Key) -> Found:
        return _found(*self._state(key))

    def _state(self, key: Key) -> tuple[Folder, State]:
        with explained():
            return find(_root(), *key)

    async def list(self, namespace: str | None) -> tuple[Found, ...]:
        with explained():
            return tuple(_found(*one) for one in folders(_root(), namespace))

    async def watch(self, namespace: str | None, name: str | None = None) -> AsyncGenerator[Change, None]:
        known: dict[Key, Found | None] = {Key(namespace or NAMESPACE, name): None} if name else {}
        first, reader = True, LastStates()
        async with aclosing(_looks()) as looks:
            async for _ in looks:
                with explained():  # whoever waits for a job's end sees it, though it expires in that moment
                    seen = (_found(*one) for one in folders(_root(), namespace, expiring=True, reader=reader))
                    now: dict[Key, Found | None] = {one.key: one for one in seen if name in (None, one.key.name)}
                now = {**dict.fromkeys(known), **now}
                for key, one in now.items():
                    if first or known.get(key) != one:
                        yield key, one
                known, first = now, False

    async def namespaces(self) -> tuple[str | None, ...]:
        return (None,)

    async def pods(self, job: Job) -> tuple[Pod, ...]:
        return self._state(job.metadata.key)[1].pods

    async def watch_pods(self, job: Job) -> AsyncGenerator[PodChange, None]:
        folder, _ = self._state(job.metadata.key)
        known: dict[str, Pod | None] = {}
        async with aclosing(_looks()) as looks:
            async for _ in looks:
                state = folder.read()
                own = state is not None and state.job.metadata.uid == job.metadata.uid
                now: dict[str, Pod | None] = {one.metadata.uid: one for one in (state.pods if state and own else ())}
                for uid, pod in {**dict.fromkeys(known), **now}.items():
                    if known.get(uid) != pod:
                        yield uid, pod
                known = now

    async def events(self, job: Job) -> tuple[Event, ...]:
        return tuple(Event(one.at, one.type, one.reason, one.note) for one in self._state(job.metadata.key)[1].events)

    async def logs(self, job: Job, wanted: Wanted) -> AsyncGenerator[Line, None]:
        if wanted.since is not None:
            raise errors.NotHere("logs on this machine have no timestamps: use --tail instead of --since")
        role, index = "*" if wanted.role == "all" else wanted.role, "*" if wanted.index is None else wanted.index
        folder, _ = self._state(job.metadata.key)
        following = Logs(folder.logs, f"{job.metadata.name}-{role}-{index}", earlier=wanted.attempts)
        tail, begun = wanted.tail, set[LogFile]()
        async with aclosing(_looks()) as looks:
            async for _ in looks:
                state = folder.read()
                if state and state.job.metadata.uid != job.metadata.uid:
                    return  # another of the same name
                over = not wanted.follow or state is None or not state.alive
                for log, lines in following.news(last_call=over):
                    if wanted.attempts and log not in begun:
                        begun.add(log)
                        yield Heading(log.pod, str(log.life + 1))
                    for text in lines[-tail:] if tail else lines:
                        yield Line(log.pod, text)
                for pod, text in following.bars() if wanted.bars else ():
                    yield Bar(pod, text)
                if over:
                    return
                tail = None

    async def change(self, job: Job, spec: Mapping[str, Any]) -> None:
        raise errors.NotHere(
            f"{job.metadata.name} runs on this machine, where jobs cannot be changed ({', '.join(spec)}):"
            " delete it and submit it again, or submit it to a cluster"
        )

    async def scale(self, job: Job, workers: int) -> None:
        with explained():
            scaling.ask(*self._state(job.metadata.key), workers)

    async def delete(self, job: Job, *, force: bool = False) -> None:
        folder, state = self._state(job.metadata.key)
        with explained():
            folder.mark_deleted()
        # A runner counts what asks it to end. Two of one kind may reach it as one.
        for number in (signal.SIGTERM, signal.SIGHUP) if force else (signal.SIGTERM,):
            with suppress(ProcessLookupError):
                if state.alive:
                    os.kill(state.pid, number)
        async with aclosing(_looks()) as looks:
            async for _ in looks:
                if state.ended or not is_alive(state.pid, state.start_time):
                    break
        folder.remove(state)


async def _looks() -> AsyncGenerator[None, None]:
    """Ticks at once and then every PAUSE: a state file is polled, because its writer notifies nobody.

    Of hundreds of jobs a look costs more: then it comes so much later that looking takes a tenth of a core at most.
    """
    began = time.thread_time()
    yield
    await loop()
    from asyncio import sleep  # noqa: PLC0415 - a look needs no event loop

    while True:
        await sleep(max(PAUSE, 9 * (time.thread_time() - began)))
        began = time.thread_time()
        yield


def _root() -> Path:
    return root(os.environ)


def _found(folder: Folder, state: State) -> Found:
    """A job whose runner vanished in the middle did not end by itself."""
    job, alive = state.job, state.alive
    phase: str = job.status.phase or "Pending"
    if not alive and not job.status.finished:
        phase = reasons.STOPPED if state.ended else "Lost"
    if state.unreadable:
        phase = reasons.UNREADABLE
    lost = f"its runner (process {state.pid}) died without saying why; all of its processes ended with it"
    return Found(
        job=job,
        where=ThisMachine.where,
        phase=phase,
        over=not alive,
        why=lost if phase == "Lost" else state.unreadable,
        about=(("Where", ThisMachine.where), ("File", state.file), ("Logs", str(folder.logs))),
        flag=" --local",
    )


def _manifest(description: Description) -> Manifest:
    from paddlejob.local.manifest import as_manifest  # noqa: PLC0415 - only who starts a job pays for it

    document = description.document if description.file else _at_home(description.document)
    return as_manifest(Path(description.file or description.name), [*description.beside, document])


def _at_home(document: Json) -> Json:
    """A working directory that only the image has is not here: then the command starts where the person is."""
    made: Json = msgspec.json.decode(msgspec.json.encode(document))
    for role in ROLES:
        pod = (made["spec"].get(role) or {}).get("template", {}).get("spec", {})
        mounted = {one.get("mountPath") for each in pod.get("containers", ()) for one in each.get("volumeMounts", ())}
        for container in pod.get("containers", ()):
            at = container.get("workingDir")
            if at and not Path(at).is_dir() and not any(at == one or at.startswith(f"{one}/") for one in mounted):
                del container["workingDir"]
    return made
