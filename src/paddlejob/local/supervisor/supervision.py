"""The process that owns every container's processes, so that none outlives the runner, however the runner ends.

One thread, few imports (a fork of it is cheap), no decisions: it starts, signals, kills and reports what the runner
asks. On Linux it adopts orphans, so a process can leave its parent, group, session and environment, but not this
family; without prctl and /proc, a process that left its group and its parent is out of reach.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import sys
import time

from paddlejob.local.supervisor import proc
from paddlejob.local.supervisor.channel import Channel, Wakeups
from paddlejob.local.supervisor.killing import kill, kill_tree, signal_group
from paddlejob.local.supervisor.prctl import adopt_orphans, die_with_parent
from paddlejob.local.supervisor.program import NOT_STARTED, Program, become

# Between two looks at what ought to be dying; only while something is.
LOOK_AGAIN = 0.005
# Nothing survives SIGKILL this long except what waits inside the kernel or belongs to another user (sudo).
GIVE_UP = 10.0


class Supervised:
    """One container. Its main process leads a session and a group, both numbered `pid`; `code` once that has ended."""

    __slots__ = ("answer", "code", "ended", "ended_at", "id", "pid", "unsent")

    def __init__(self, id: str, pid: int, answer: int) -> None:
        self.id = id
        self.pid = pid
        self.answer: int | None = answer  # the pipe that closes when the program runs
        self.unsent: list[int] = []  # signals that would meet our own code, not yet the program
        self.code: int | None = None
        self.ended = 0.0
        self.ended_at = 0.0


class Supervision:
    def __init__(self, socket: int, runner: int, token: str) -> None:
        self._runner = runner
        self._token = token
        self._pid = os.getpid()
        self._poll = select.poll()
        self._channel = Channel(socket, self._poll)
        self._wakeups = Wakeups(self._poll)
        self._containers: dict[str, Supervised] = {}
        self._mains: dict[int, Supervised] = {}  # by pid, those not yet waited for
        self._answers: dict[int, Supervised] = {}  # by pipe

    def run(self) -> None:
        """Until the runner ends or says that it is done; then nothing of ours is left."""
        try:
            while self._turn() and os.getppid() == self._runner:
                pass
        finally:
            self._end_all()

    def _turn(self) -> bool:
        on = True
        for file, _ in self._poll.poll(LOOK_AGAIN * 1000 if self._ending() else None):
            if file == self._channel.socket:
                on = self._obey(self._channel.receive())
            elif file == self._wakeups.pipe:
                self._wakeups.drain()
            else:
                self._hear_answer(self._answers[file])
        self._reap()
        self._settle()
        self._channel.send()
        return on

    def _obey(self, messages: list[tuple[object, ...]] | None) -> bool:
        for message in messages or ():
            match message:
                case ("launch", str(id), tuple(argv), dict(env), str(cwd), str(log)):
                    self._launch(id, Program(argv, env, cwd, log))
                case ("signal", str(id), int(number)):
                    self._signal(id, number)
                case ("kill", str(id)):
                    self._kill(id)
        return messages is not None

    def _launch(self, id: str, program: Program) -> None:
        program.env.update({proc.CONTAINER_MARK: id, proc.SUPERVISOR_MARK: self._token})
        try:
            answer, theirs = os.pipe()
            try:
                pid = os.fork()
                if pid == 0:
                    become(program, self._pid, theirs)
            except OSError:
                os.close(answer)
                raise
            finally:
                os.close(theirs)
        except OSError as error:
            why = f"{error.strerror}; see `ulimit -u` and `ulimit -n`".lower()
            message = f"this machine has no room for another process: {why}"
            self._channel.say("not_started", id, NOT_STARTED, message, time.time())
            return
        self._containers[id] = self._mains[pid] = self._answers[answer] = Supervised(id, pid, answer)
        self._poll.register(answer, select.POLLIN)

    def _signal(self, id: str, number: int) -> None:
        container = self._containers.get(id)
        if container is None or container.code is not None:
            return
        if container.answer is not None:
            container.unsent.append(number)
        else:
            signal_group(container.pid, number)

    def _kill(self, id: str) -> None:
        """Parents first; whoever is born meanwhile is found when the main process has been waited for."""
        container = self._containers.get(id)
        if container is None or container.code is not None:
            return
        family = proc.children()
        strays = [pid for pid in self._strays() if self._owner(pid) == id]
        for root in (container.pid, *strays):
            kill_tree(root, family)
        signal_group(container.pid, signal.SIGKILL)

    def _hear_answer(self, container: Supervised) -> None:
        """The pipe closed: the program runs. It said something: the program cannot be started, and this is why."""
        assert container.answer is not None
        said = os.read(container.answer, 1 << 16)
        self._poll.unregister(container.answer)
        os.close(container.answer)
        del self._answers[container.answer]
        container.answer = None
        if said:
            code, _, message = said.decode(errors="replace").partition(" ")
            del self._containers[container.id]
            self._channel.say("not_started", container.id, int(code), message, time.time())
            return
        self._channel.say("started", container.id, container.pid, time.time())
        for number in container.unsent:
            signal_group(container.pid, number)

    def _reap(self) -> bool:
        """Whether there are children left. Without any there are no descendants either: orphans become children."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if container := self._mains.pop(pid, None):
                self._main_ended(container, os.waitstatus_to_exitcode(status))

    def _main_ended(self, container: Supervised, code: int) -> None:
        if container.answer is not None:
            self._hear_answer(container)
        container.code = code if code >= 0 else 128 - code
        container.ended = time.monotonic()
        container.ended_at = time.time()
        signal_group(container.pid, signal.SIGKILL)

    def _ending(self) -> list[Supervised]:
        return [one for one in self._containers.values() if one.code is not None]

    def _settle(self) -> None:
        """Kill what ended containers left behind, and report those that left nothing."""
        ending = self._ending()
        if not ending:
            return
        now = time.monotonic()
        waiting = self._clear_strays({one.id for one in ending})
        for one in ending:
            if one.id not in waiting or now - one.ended > GIVE_UP:
                self._report(one)

    def _clear_strays(self, ending: set[str]) -> set[str]:
        """Kill each orphan whose container is over; the ids of the containers that have to wait for an orphan's end."""
        waiting: set[str] = set()
        running = {one.id for one in self._containers.values() if one.code is None}
        family: dict[int, list[int]] | None = None
        for pid in self._strays():
            whose = self._owner(pid)
            if not whose and running:  # it may belong to a container that runs
                if whose == "":
                    waiting |= ending  # until the next look tells
            elif whose not in running:
                family = family or proc.children()
                kill_tree(pid, family)
                waiting |= {whose} if whose else ending
        return waiting

    def _strays(self) -> list[int]:
        """Children that we did not start: orphans of containers, adopted."""
        mine = proc.children_of_this_thread()
        if mine is None:
            mine = proc.children().get(self._pid, [])
        return [pid for pid in mine if pid not in self._mains]

    def _owner(self, pid: int) -> str | None:
        """The container that an orphan belongs to, by its session or by its mark; see `proc.container_of`."""
        try:
            session = os.getsid(pid)
        except OSError:
            return None
        for one in self._containers.values():
            if one.pid == session:
                return one.id
        return proc.container_of(pid)

    def _report(self, container: Supervised) -> None:
        del self._containers[container.id]
        self._channel.say("exited", container.id, container.code, container.ended_at)

    def _end_all(self) -> None:
        until = time.monotonic() + GIVE_UP
        while self._reap() and time.monotonic() < until:
            for pid in self._everybody():
                kill(pid)
            self._wakeups.wait(LOOK_AGAIN)
        for one in self._ending():
            self._report(one)
        self._channel.finish()

    def _everybody(self) -> list[int]:
        try:
            return proc.descendants(self._pid)
        except OSError:  # no file can be opened: those we know, and then the ones that they leave to us
            return list(self._mains)


def main(socket: int, runner: int, token: str) -> None:
    """The whole life of the supervisor process."""
    code = 1
    try:
        adopt_orphans()
        supervision = Supervision(socket, runner, token)
        die_with_parent(signal.SIGTERM)
        gc.freeze()  # the collector would touch, and so copy, pages in every fork
        supervision.run()
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)
