"""The runner's end of its supervisor: start, signal and kill containers, and hear what became of them.

Never blocks on a container and never waits for one: every answer is an event. Decides nothing. If the supervisor is
killed, what it leaves is swept up here.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

import paddlejob
from paddlejob.errors import PaddleJobError
from paddlejob.local.supervisor.frames import Frames, frame
from paddlejob.local.sweeping import sweep

# The package's own directory comes last, so that nothing installed beside it hides the standard library.
_BOOT = """\
import sys
sys.path.append(sys.argv[4])
from paddlejob.local.supervisor.supervision import main
main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
"""


class SupervisorLost(PaddleJobError):
    """There is no supervisor, though nobody closed it; every process it looked after has been ended."""


class Process(msgspec.Struct, frozen=True):
    """What a container runs. The environment is all it gets."""

    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str


class Started(msgspec.Struct, frozen=True, array_like=True, tag="started"):
    """The program runs as process `pid`, which leads a session and a process group."""

    id: str
    pid: int
    at: float


class Exited(msgspec.Struct, frozen=True, array_like=True, tag="exited"):
    """The main process ended with this code, as a kubelet reports it, and nothing of the container is left."""

    id: str
    code: int
    at: float


class NotStarted(msgspec.Struct, frozen=True, array_like=True, tag="not_started"):
    """The program never ran: 127 not found, 126 not executable, 128 anything else. The message is for a person."""

    id: str
    code: int
    message: str
    at: float


ProcessEvent = Started | Exited | NotStarted


class Supervisor:
    def __init__(self, process: subprocess.Popen[bytes], channel: socket.socket, token: str) -> None:
        self.pid = process.pid
        self._process = process
        self._channel = channel
        self.token = token
        self._frames = Frames()
        self._unsent = bytearray()
        self._loop: asyncio.AbstractEventLoop | None = None  # set while it watches for room to send
        self._live: dict[str, int | None] = {}  # id to the main process's number, once that is known
        self._reading = asyncio.Lock()
        self._closing = False
        self._ended = False

    @classmethod
    def fork(cls) -> Supervisor:
        """Start the supervisor, a bare interpreter beside us: it is ready while we still read our files.

        Call it in the main thread: to the kernel, the end of the thread that called is the end of the parent.
        """
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        token = f"{os.getpid()}-{os.urandom(8).hex()}"
        home = str(Path(paddlejob.__file__).parent.parent)
        said = [str(theirs.fileno()), str(os.getpid()), token, home]
        # The encoding must be ours: strange file names then mean the same there.
        command = [sys.executable, "-I", "-S", "-X", f"utf8={sys.flags.utf8_mode}", "-c", _BOOT, *said]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # what the terminal sends is for the runner
            )
        except OSError as error:
            ours.close()
            raise SupervisorLost(f"cannot start {sys.executable} to supervise processes: {error.strerror}") from error
        finally:
            theirs.close()
        return cls(process, ours, token)

    async def listen(self, on_event: Callable[[ProcessEvent], None]) -> None:
        """Pass on every event until closed. Raises SupervisorLost, after a sweep, if the supervisor dies first."""
        async with self._reading:
            if self._ended:
                return
            self._flush()
            while data := await self._receive():
                for message in self._frames.feed(data):
                    event: ProcessEvent = msgspec.convert(message, ProcessEvent)
                    if isinstance(event, Started):
                        self._live[event.id] = event.pid
                    else:
                        self._live.pop(event.id, None)
                    on_event(event)
            if self._closing:
                return
            self._finish()
            how = f"signal {-code}" if (code := self._process.returncode) < 0 else f"exit code {code}"
            raise SupervisorLost(
                f"the supervisor of the job's processes (pid {self.pid}) ended with {how}; they were all killed"
            )

    def launch(self, id: str, process: Process, log: str) -> None:
        """Start a container, its output appended to `log`; after `close`, nothing happens."""
        if id in self._live:
            raise ValueError(f"container {id} was launched and has not ended: wait for its Exited or NotStarted")
        self._live[id] = None
        self._say("launch", id, process.argv, process.env, process.cwd, log)

    def signal(self, id: str, number: int) -> None:
        """To the container's whole process group, once its program runs; nothing if it has ended."""
        self._say("signal", id, int(number))

    def kill(self, id: str) -> None:
        """End every process of the container at once, also those that left its group or its session."""
        self._say("kill", id)

    async def close(self) -> None:
        """End everything that is left, and the supervisor. The events of that still reach whoever listens."""
        if not self._closing:
            self._closing = True
            self._unsent.clear()
            self._stop_watching()
            with contextlib.suppress(OSError):  # it may be gone already
                self._channel.shutdown(socket.SHUT_WR)
        async with self._reading:
            while not self._ended and await self._receive():
                pass
            self._finish()

    def _say(self, *message: object) -> None:
        if not self._closing:
            self._unsent += frame(*message)
            self._flush()

    def _flush(self) -> None:
        """As much as fits. The rest waits for room, or for `listen` if no loop runs yet."""
        try:
            while self._unsent:
                del self._unsent[: self._channel.send(self._unsent)]
        except BlockingIOError:
            if self._loop is None and (loop := asyncio._get_running_loop()) is not None:
                self._loop = loop
                loop.add_writer(self._channel, self._flush)
            return
        except OSError:
            self._unsent.clear()  # it is gone: whoever listens is about to learn of it
        self._stop_watching()

    def _stop_watching(self) -> None:
        if self._loop is not None:
            self._loop.remove_writer(self._channel)
            self._loop = None

    async def _receive(self) -> bytes:
        try:
            return await asyncio.get_running_loop().sock_recv(self._channel, 1 << 16)
        except ConnectionError:  # it was killed with words of ours unread
            return b""

    def _finish(self) -> None:
        """The supervisor closed its end of the channel, so it has exited or will now. Unless with 0, sweep."""
        if self._ended:
            return
        self._ended = self._closing = True
        self._stop_watching()
        self._channel.close()
        if self._process.wait() != 0:
            sweep(self.token, {pid for pid in self._live.values() if pid is not None})
