"""What is known of local jobs, on disk and for their owner only, so that other terminals can ask.

One folder per job, one file that is always whole (written beside and renamed). A job whose runner died is
recognised by the runner's pid and start time. A job whose ttlSecondsAfterFinished has passed no longer exists: the
first to look removes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import msgspec

from paddlejob.api import Job, ObjectMeta
from paddlejob.api.meta import Key
from paddlejob.api.names import is_label
from paddlejob.api.stored import mended
from paddlejob.core.children import Pod
from paddlejob.core.ttl import expires_at
from paddlejob.errors import AlreadyExists, Invalid, NotFound, PaddleJobError
from paddlejob.local.lock import Lock
from paddlejob.local.removal import remove
from paddlejob.local.supervisor.proc import is_alive
from paddlejob.local.sweeping import sweep

NAMESPACE = "default"
FILE = "state.json"
DELETED = "deleted"
PRIVATE = 0o700


class DatedEvent(msgspec.Struct, frozen=True):
    """An event: when, how serious, what."""

    at: str
    type: str
    reason: str
    note: str


class State(msgspec.Struct, frozen=True, kw_only=True):
    job: Job
    file: str
    pid: int
    start_time: str | None
    token: str = ""
    """What every process of this run has in its environment."""
    pods: tuple[Pod, ...] = ()
    events: tuple[DatedEvent, ...] = ()
    ended: bool = False
    unreadable: str = ""
    """Why what is on disk cannot be read; then little of the above is known."""

    @property
    def alive(self) -> bool:
        """Whether its runner still looks after it."""
        return not self.ended and is_alive(self.pid, self.start_time)

    @property
    def expired(self) -> bool:
        """Whether its time to live is over; while its runner still cleans up, it is not."""
        at = expires_at(self.job)
        return at is not None and datetime.now(timezone.utc) >= at and not self.alive


class _Runner(msgspec.Struct, frozen=True):
    """Of a state whose job cannot be read: who looks after it."""

    pid: int
    start_time: str | None
    token: str = ""
    ended: bool = False


_BROKEN = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_decoder = msgspec.json.Decoder(State)
_encoder = msgspec.json.Encoder()


def root(env: Mapping[str, str]) -> Path:
    base = env.get("XDG_STATE_HOME") or str(Path(env.get("HOME", "~")).expanduser() / ".local" / "state")
    return Path(base) / "paddlejob"


class Folder:
    """Where one job keeps its state, logs and volumes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, base: Path, namespace: str, name: str) -> Folder:
        return cls(base / _label("namespace", namespace) / _label("job", name))

    @property
    def lock(self) -> Path:
        return self.path.parent / f".{self.path.name}.lock"  # no job's name begins with a dot

    def claim(self) -> Lock:
        """Empty it for a new run unless the job is running. The caller frees the lock when the state names a runner."""
        name = self.path.name
        for each in (self.path.parent.parent, self.path.parent):
            each.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        try:
            lock = Lock.take(self.lock)
        except BlockingIOError as error:
            raise AlreadyExists(f"another process is starting or deleting {name}: try again") from error
        try:
            if (state := self.read()) and state.alive:
                said = f"{name} is already running here (process {state.pid}): delete it with `paddlejob delete {name}`"
                raise AlreadyExists(said)
            if state:
                clear_up(state)
            remove(self.path)
            self.path.mkdir(mode=PRIVATE)
        except BaseException:
            lock.free()
            raise
        return lock

    def write(self, state: State) -> None:
        self.put(FILE, _encoder.encode(state))

    def put(self, name: str, data: bytes) -> None:
        """A file that is always whole."""
        temporary = self.path / f".{name}.{os.getpid()}"
        temporary.touch(mode=0o600)
        temporary.write_bytes(data)
        temporary.replace(self.path / name)

    def read(self) -> State | None:
        """What a crash of the machine damaged or another version wrote is there, too, as a state that says so."""
        try:
            body = (self.path / FILE).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            return _decoder.decode(body)
        except _BROKEN:
            return _mended(body, Key(self.path.parent.name, self.path.name))

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def deleted(self) -> bool:
        """Whether the job is being stopped because somebody deletes it."""
        return (self.path / DELETED).exists()

    def mark_deleted(self) -> None:
        with suppress(FileNotFoundError):
            (self.path / DELETED).touch()

    def remove(self, state: State) -> None:
        """What this run left, unless another run has begun meanwhile."""
        try:
            lock = Lock.take(self.lock, wait=True)
        except FileNotFoundError:
            return  # somebody removed the whole namespace
        try:
            now = self.read()
            if now is None or now.token == state.token:
                clear_up(state)
                remove(self.path)
        finally:
            lock.free()

    def look(self) -> State | None:
        """What is there; a job that has expired is removed."""
        state = self.read()
        if state is None or not state.expired:
            return state
        self.remove(state)
        return None


def _label(what: str, said: str) -> str:
    """Names become folders, so only DNS labels are allowed: they cannot contain `/` or `..`."""
    if is_label(said):
        return said
    raise Invalid(f"{said!r} cannot be the name of a {what}: use at most 63 lower-case letters, digits and '-'")


def _mended(body: bytes, key: Key) -> State:
    """As much of a state as can be read."""
    try:
        whole = msgspec.json.decode(body, type=dict[str, Any])
        return msgspec.convert({**whole, "job": mended(whole["job"])}, State)
    except (*_BROKEN, KeyError, TypeError) as error:
        said = f"{FILE} cannot be read: {error}"
    try:
        runner = msgspec.json.decode(body, type=_Runner)
    except _BROKEN:
        runner = _Runner(0, None, ended=True)
    job = Job(metadata=ObjectMeta(name=key.name, namespace=key.namespace))
    return State(
        job=job,
        file="",
        pid=runner.pid,
        start_time=runner.start_time,
        token=runner.token,
        ended=runner.ended,
        unreadable=said,
    )


def clear_up(state: State) -> None:
    """End what a run left behind whose runner and supervisor were killed at the same moment."""
    if state.token and not state.ended and not state.alive:
        sweep(state.token, set())


class LastStates:
    """Reads states, for whoever looks again and again: only those that were written since its last look."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[int, int], State | None]] = {}

    def forget_others(self, paths: Set[Path]) -> None:
        self._known = {path: one for path, one in self._known.items() if path in paths}

    def read(self, folder: Folder) -> State | None:
        """A state is replaced as a whole: then it is another file."""
        try:
            found = (folder.path / FILE).stat()
        except OSError:
            self._known.pop(folder.path, None)
            return folder.read()
        stamp = (found.st_ino, found.st_mtime_ns)
        before, state = self._known.get(folder.path, (None, None))
        if before != stamp:
            state = folder.read()
            self._known[folder.path] = (stamp, state)
        return state


def folders(
    base: Path, namespace: str | None = None, *, expiring: bool = False, reader: LastStates | None = None
) -> Iterator[tuple[Folder, State]]:
    """All local jobs, in order of namespace and name; `expiring`: also those that are just removed."""
    within = "*" if namespace is None else _label("namespace", namespace)
    reader = reader or LastStates()
    paths = sorted(base.glob(f"{within}/*/{FILE}"))
    reader.forget_others({path.parent for path in paths})
    for path in paths:
        folder = Folder(path.parent)
        state = reader.read(folder)
        if state is None:
            continue
        if state.expired:
            folder.remove(state)
            if not expiring:
                continue
        yield folder, state


def find(base: Path, namespace: str, name: str) -> tuple[Folder, State]:
    folder = Folder.of(base, namespace, name)
    state = folder.look()
    if state is None:
        raise NotFound(
            f"there is no job {name} in namespace {namespace} on this machine: `paddlejob list --local` lists all jobs"
        )
    return folder, state


@contextmanager
def explained() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        said = f"cannot read or write job state in {root(os.environ)}: {error.strerror or error}"
        raise PaddleJobError(said) from error
