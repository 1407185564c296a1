"""The Linux namespaces in which everything of the cluster lives: processes, mounts, network and host name of its own.

One process, the holder, is their first: when it is killed, the kernel ends every other process, and mounts and network
go with them, whatever state they are in. It is found by its name, so nothing has to be remembered on disk. Within,
/var/lib, /var/log, /tmp and /run are the cluster's own; all else is this machine's.
"""

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from tests.cluster.waiting import wait_until

# The holder ignores the end of its children, so the kernel clears them away: containers' shims are left to it.
HOLD = """
set -eu
name=$1 folder=$2
echo "$name" >/proc/sys/kernel/hostname
mount --make-rshared /
mkdir -p "$folder/lib/$name"
mount --bind "$folder" "$folder/lib/$name"
mount --rbind "$folder/lib" /var/lib
mount --bind "$folder/log" /var/log
mount --bind "$folder/tmp" /tmp
mount -t tmpfs tmpfs /run
trap '' CHLD
exec -a "$name" sleep infinity
"""

# What it starts is the holder's child, not ours.
DETACH = 'exec setsid "$@" </dev/null >>"$0" 2>&1 &'

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
KINDS = ("--pid", "--mount", "--net", "--uts")


class CommandFailed(Exception):
    """A command within the namespaces ended with an error; the message is what it printed."""


class Namespaces:
    """Those of one cluster, by its name; `folder` is below /var/lib and has the folders lib, log and tmp."""

    def __init__(self, name: str, folder: Path) -> None:
        self._name = name
        self._folder = folder

    def create(self) -> None:
        """Returns when the mounts are made and the holder holds."""
        log = self._folder / "log" / "holder.log"
        log.touch()
        unshare = ["unshare", *KINDS, "--fork", "--kill-child", "--mount-proc", "--propagation=private"]
        subprocess.run(["bash", "-c", DETACH, log, *unshare, *self._making()], env=self._env(), check=True)

        def holds() -> bool:
            assert self.holder() is not None, f"no namespaces: {log.read_text().strip()}"
            return True

        wait_until(holds, timeout=20)

    def destroy(self) -> None:
        """Ends every process within, also where someone was cut off while he made it; a holder is the last to go."""
        for pid in self._first(self._holding(), self._making()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not self._first(self._holding(), self._making()))

    def holder(self) -> int | None:
        """Its process id on this machine."""
        return next(iter(self._first(self._holding())), None)

    def pids(self, program: Path) -> list[int]:
        """The processes of this program within, by their ids on this machine."""
        holder = self.holder()
        if holder is None:
            return []
        space = _space(holder)
        return [pid for pid, argv in _running() if argv[0] == str(program) and _space(pid) == space]

    def start(self, command: Sequence[str | Path], log: Path) -> None:
        """It goes on when this process ends; its log goes on when it is started again."""
        self.run(["bash", "-c", DETACH, log, *command])

    def run(self, command: Sequence[str | Path]) -> str:
        """What it prints."""
        done = subprocess.run(
            self.entering(command), stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd="/", check=False
        )
        if done.returncode:
            raise CommandFailed(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
        return done.stdout

    def entering(self, command: Sequence[str | Path]) -> list[str]:
        """The command line that runs it within."""
        holder = self.holder()
        if holder is None:
            raise CommandFailed(f"the cluster {self._name} does not run")
        env = [f"{name}={value}" for name, value in self._env().items()]
        enter = ["nsenter", f"--target={holder}", *KINDS, "--", "env", "--ignore-environment", *env]
        return [*enter, *map(str, command)]

    def _holding(self) -> list[str]:
        return [self._name, "infinity"]

    def _making(self) -> list[str]:
        """What the holder is before it holds."""
        return ["bash", "-c", HOLD, "bash", self._name, str(self._folder)]

    def _first(self, *commands: list[str]) -> list[int]:
        return [pid for pid, argv in _running() if argv in commands and _is_first(pid)]

    def _env(self) -> dict[str, str]:
        """Not the developer's: it may hold proxies and settings of other clusters."""
        return {"PATH": PATH, "HOME": str(self._folder / "home")}


def _running() -> Iterator[tuple[int, list[str]]]:
    """All processes of this machine and their arguments; those that end meanwhile are left out."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                argv = (entry / "cmdline").read_text(errors="replace").rstrip("\0").split("\0")
            except OSError:
                continue
            yield int(entry.name), argv


def _is_first(pid: int) -> bool:
    """Whether it is process 1 of process ids below this machine's."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    (ids,) = (line.split()[1:] for line in status.splitlines() if line.startswith("NSpid:"))
    return len(ids) > 1 and ids[-1] == "1"


def _space(pid: int) -> str | None:
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return None
