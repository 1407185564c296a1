"""The supervisor's end of the socket, and the pipe that wakes it when a signal came: all that it ever waits for."""

from __future__ import annotations

import os
import select
import signal

from paddlejob.local.supervisor.frames import Frames, frame

# The kernel tells of a child's end with the first, of the runner's with the second; the others come from terminals.
_HEARD = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP)


class Channel:
    """Messages from the runner and to it. Never waits for room: a runner that is stopped must not stop us."""

    def __init__(self, socket: int, poll: select.poll) -> None:
        os.set_inheritable(socket, False)  # a container that held it would hide the runner's end from us
        os.set_blocking(socket, False)
        poll.register(socket, select.POLLIN)
        self.socket = socket
        self._poll = poll
        self._frames = Frames()
        self._unsent = bytearray()

    def receive(self) -> list[tuple[object, ...]] | None:
        """What came; None when nothing will come any more."""
        try:
            data = os.read(self.socket, 1 << 18)
        except BlockingIOError:
            return []
        except OSError:  # reset: the runner ended with words of ours unread
            return None
        return list(self._frames.feed(data)) if data else None

    def say(self, *message: object) -> None:
        self._unsent += frame(*message)

    def send(self) -> None:
        """As much as fits now; the poll object tells when there is room for the rest."""
        try:
            while self._unsent:
                del self._unsent[: os.write(self.socket, self._unsent)]
        except BlockingIOError:
            self._poll.modify(self.socket, select.POLLIN | select.POLLOUT)
            return
        except OSError:
            self._unsent.clear()  # nobody listens any more
        self._poll.modify(self.socket, select.POLLIN)

    def finish(self) -> None:
        """Send the rest. Here it may wait: the runner reads it or ends, and nothing else is left to do."""
        os.set_blocking(self.socket, True)
        self.send()


class Wakeups:
    """Readable after a signal. Which one does not matter: whoever wakes looks at children and runner.

    Anybody else's SIGTERM is for the runner to interpret, as is whatever a terminal sends.
    """

    def __init__(self, poll: select.poll) -> None:
        self.pipe, waking = os.pipe()
        os.set_blocking(self.pipe, False)
        os.set_blocking(waking, False)
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
        ignored = [one for one in signal.valid_signals() if signal.getsignal(one) is signal.SIG_IGN]
        for number in (*_HEARD, *ignored):
            # Handled even if only to be forgotten: exec undoes that by itself, and would not undo ignoring.
            signal.signal(number, lambda *_: None)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        poll.register(self.pipe, select.POLLIN)

    def wait(self, seconds: float) -> None:
        select.select([self.pipe], [], [], seconds)
        self.drain()

    def drain(self) -> None:
        try:
            while os.read(self.pipe, 4096):
                pass
        except BlockingIOError:
            return
