"""Jobs on this machine, through the local runner: it gets a process of its own, so that a job outlives a notebook cell.

Owns how that process is started and asked. What such a job cannot do says so.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from paddlejob.api import PaddleJob
from paddlejob.local import errors as local
from paddlejob.local import scaling
from paddlejob.local.following import Logs
from paddlejob.local.manifest import Manifest, as_manifest
from paddlejob.local.proc import is_alive
from paddlejob.local.runner import NAMESPACE
from paddlejob.local.state import Folder, State, find, root
from paddlejob.places.start import Asked, prepare
from paddlejob.sdk import errors
from paddlejob.sdk.description import Description, Json
from paddlejob.sdk.place import Happening, Key, Line, Wanted

PAUSE = 0.1


class Here:
    where = "on this machine"

    def __init__(self, volumes: Mapping[str, str | Path] | None = None) -> None:
        self._volumes = {name: Path(path).resolve() for name, path in (volumes or {}).items()}
        for name, path in self._volumes.items():
            if not path.is_dir():
                raise ValueError(f"volumes: {name} is to be in {path}, and there is no such folder")

    async def namespace(self) -> str:
        return NAMESPACE

    async def submit(self, description: Description) -> PaddleJob:
        def start() -> PaddleJob:
            manifest, ours = _manifest(description), Path(sys.executable)
            with _explained():
                prepare(Asked(manifest=manifest, volumes=self._volumes, ours=ours)).in_background()
            return self._state(_key(description))[1].job

        return await asyncio.to_thread(start)

    def _state(self, key: Key) -> tuple[Folder, State]:
        with _explained():
            return find(root(os.environ), key.namespace, key.name)

    async def get(self, key: Key) -> PaddleJob:
        return self._state(key)[1].job

    async def watch(self, key: Key) -> AsyncGenerator[PaddleJob, None]:
        told = None
        while True:
            _, state = self._state(key)
            alive = state.alive
            if not alive:
                _, state = self._state(key)  # what it said last may have come between
            if state.job != told:
                told = state.job
                yield told
            if not alive:
                return
            await asyncio.sleep(PAUSE)

    async def logs(self, key: Key, wanted: Wanted) -> AsyncGenerator[Line, None]:
        role = "*" if wanted.role == "all" else wanted.role
        folder, _ = self._state(key)
        following = Logs(folder.logs, f"{key.name}-{role}-{'*' if wanted.index is None else wanted.index}")
        first = True
        while True:
            _, state = self._state(key)
            over = not wanted.follow or not state.alive
            for pod, lines in following.news(last_call=over):
                for text in lines[-wanted.tail :] if first and wanted.tail else lines:
                    yield Line(pod, text)
            if over:
                return
            first = False
            await asyncio.sleep(PAUSE)

    async def events(self, key: Key) -> tuple[Happening, ...]:
        told = self._state(key)[1].events
        return tuple(Happening(one.at, one.type, one.reason, one.note) for one in told)

    async def change(self, key: Key, spec: Mapping[str, Any]) -> PaddleJob:
        self._refuse(f"{key.name} runs on this machine and its {', '.join(spec)} cannot be changed")

    async def scale(self, key: Key, trainers: int) -> None:
        folder, state = self._state(key)
        try:
            scaling.ask(folder, state, trainers)
        except local.CannotScale as error:
            raise errors.NotHere(str(error)) from error

    def _refuse(self, why: str) -> NoReturn:
        raise errors.NotHere(f"{why}: delete it and submit it anew, or submit it to a cluster")

    async def delete(self, key: Key) -> None:
        folder, state = self._state(key)
        folder.mark_deleted()
        if state.alive:
            os.kill(state.pid, signal.SIGTERM)
        while is_alive(state.pid, state.start_time) and not state.ended:  # noqa: ASYNC110 - nobody would set an event
            await asyncio.sleep(PAUSE)
        await asyncio.to_thread(folder.remove, state)


def _key(description: Description) -> Key:
    return Key(description.namespace or NAMESPACE, description.name)


def _manifest(description: Description) -> Manifest:
    folder = Path(description.folder or Path.cwd())
    document = description.document if description.folder else _at_home(description.document)
    with _explained():
        return as_manifest(folder / description.name, [*description.beside, document])


def _at_home(document: Json) -> Json:
    """A working directory that only the image has is not here: then the command starts where the person is."""
    made: Json = msgspec.json.decode(msgspec.json.encode(document))
    for role in ("ps", "worker", "heter"):
        pod = (made["spec"].get(role) or {}).get("template", {}).get("spec", {})
        mounted = {one.get("mountPath") for each in pod.get("containers", ()) for one in each.get("volumeMounts", ())}
        for container in pod.get("containers", ()):
            at = container.get("workingDir")
            if at and not Path(at).is_dir() and not any(at == one or at.startswith(f"{one}/") for one in mounted):
                del container["workingDir"]
    return made


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except local.AlreadyRunning as error:
        raise errors.AlreadyExists(str(error)) from error
    except local.NotFound as error:
        raise errors.NotFound(str(error)) from error
    except (local.BadFile, local.BadName, local.NoPython) as error:
        said = re.sub(r"--volume (\S+)=PATH", r"submit(local=True, volumes={'\1': PATH})", str(error))
        raise errors.Invalid(said) from error
    except local.LocalError as error:
        raise errors.PaddleJobError(str(error)) from error
    except OSError as error:
        raise errors.PaddleJobError(
            f"cannot keep the job's state in {root(os.environ)}: {error.strerror or error}"
        ) from error
