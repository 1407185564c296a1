"""Which process is which: identity that survives the reuse of numbers, families, and marks in the environment.

Reads /proc; where there is none it asks `ps`, and marks cannot be seen. Keeps nothing and signals nobody. The
supervisor starts with this module, so it imports next to nothing.
"""

from __future__ import annotations

import functools
import os

PROC = "/proc"
# A zombie, or one about to vanish: it runs nothing any more.
ENDED = ("Z", "X")
STOPPED = ("T", "t")
# The field env_end of proc(5), counted from the state on: the address at which a program's environment ends, even one
# without entries. 0 while the kernel is still loading the program.
ENV_END, LOADING = 48, "0"
# Every process of a container carries both marks in its environment, and so do its children unless they drop them. The
# container's id, for people and for telling orphans apart:
CONTAINER_MARK = "PADDLEJOB_CONTAINER"
# Unlike a container's id never the same in two runs: whoever sweeps by it cannot hit another run's processes.
SUPERVISOR_MARK = "PADDLEJOB_SUPERVISOR"


def start_time(pid: int) -> str | None:
    """When the process started, in words that no other process of this machine ever has; None when it is gone.

    Only for comparing. Ticks since boot alone would repeat after a reboot, so the boot is part of it.
    """
    if not has_proc():
        return _ps("lstart=", pid) or None
    stat = _stat(pid)
    return None if stat is None or stat[0] in ENDED else f"{_boot()}/{stat[19]}"


def is_alive(pid: int, started: str | None) -> bool:
    """Whether the process that had this start time still runs: not a zombie, and no later owner of its number.

    None, a start time that could not be had, is true of whatever process has the number now.
    """
    now = start_time(pid)
    return now is not None and started in (None, now)


def is_stopped(pid: int) -> bool:
    """Whether a signal, or a debugger, has stopped it; nobody can say where there is no /proc."""
    stat = _stat(pid) if has_proc() else None
    return stat is not None and stat[0] in STOPPED


def children() -> dict[int, list[int]]:
    """The processes of this machine by their parent, at one moment as nearly as can be had."""
    family: dict[int, list[int]] = {}
    for pid, parent in _parents():
        family.setdefault(parent, []).append(pid)
    return family


def descendants(pid: int, family: dict[int, list[int]] | None = None) -> list[int]:
    """Children, their children and so on, parents first: killed in this order, no parent replaces a child."""
    family = children() if family is None else family
    found = list(family.get(pid, ()))
    for one in found:  # grows while it is walked
        found += family.get(one, ())
    return found


def children_of_this_thread() -> list[int] | None:
    """The caller's own children in one read, zombies included; None where the kernel does not tell.

    Complete if the process has one thread: a child leaves the list only when it is waited for.
    """
    try:
        return [int(pid) for pid in _read(f"{PROC}/thread-self/children").split()]
    except OSError:
        return None


def environment(pid: int) -> list[bytes] | None:
    """What the process was started with, as `NAME=value`; None when gone or not ours to read.

    Empty for a program started with nothing, for the moment in which one replaces another, and, in older kernels, for a
    zombie.
    """
    try:
        return [entry for entry in _read(f"{PROC}/{pid}/environ").split(b"\0") if entry]
    except OSError:
        return None


def container_of(pid: int) -> str | None:
    """The id of the container that the process was born in; None if it carries no such mark (any more).

    Empty if only the next look can tell: it is just becoming another program, or it has ended, and the children that it
    may have left are not ours yet.
    """
    before, entries, after = _program(pid), environment(pid), _program(pid)
    if after in ENDED or (entries == [] and (after == LOADING or before != after)):
        return ""
    prefix = f"{CONTAINER_MARK}=".encode()
    found = (entry for entry in entries or () if entry.startswith(prefix))
    return next((os.fsdecode(entry[len(prefix) :]) for entry in found), None)


def _program(pid: int) -> str | None:
    """Tells two programs of one process apart by the address of their environment, which the kernel randomises; of a
    process that has ended, its state."""
    stat = _stat(pid)
    if stat is None:
        return None
    return stat[0] if stat[0] in ENDED else stat[ENV_END]


def marked(marker: str) -> list[int]:
    """The living processes that have `NAME=value` in their environment; none where there is no /proc."""
    wanted = os.fsencode(marker)
    return [pid for pid in _pids() if wanted in (environment(pid) or ())] if has_proc() else []


def members(sessions: set[int]) -> list[int]:
    """The living processes of these sessions, or process groups of the same numbers where there is no /proc."""
    if not has_proc():
        rows = [line.split() for line in _ps("pid=,pgid=,state=").splitlines()]
        return [int(pid) for pid, group, state in rows if int(group) in sessions and not state.startswith("Z")]
    stats = ((pid, _stat(pid)) for pid in _pids())
    return [pid for pid, stat in stats if stat and int(stat[3]) in sessions and stat[0] not in ENDED]


@functools.cache
def has_proc() -> bool:
    return os.path.exists(f"{PROC}/self/stat")  # noqa: PTH110 - pathlib is as long to load as all else here


def _pids() -> list[int]:
    return [int(name) for name in os.listdir(PROC) if name.isdigit()]  # noqa: PTH208 - thrice as fast as iterdir


def _parents() -> list[tuple[int, int]]:
    if has_proc():
        return [(pid, int(stat[1])) for pid in _pids() if (stat := _stat(pid))]
    rows = [line.split() for line in _ps("pid=,ppid=").splitlines()]
    return [(int(pid), int(parent)) for pid, parent in rows]


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the third, the state, on: the second may hold spaces and brackets."""
    try:
        return _read(f"{PROC}/{pid}/stat").rpartition(b")")[2].decode().split()
    except OSError:
        return None


@functools.cache
def _boot() -> str:
    try:
        return _read(f"{PROC}/sys/kernel/random/boot_id").decode().strip()
    except OSError:  # hidden in some sandboxes; the ticks alone still tell two processes of one boot apart
        return "this-boot"


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - see has_proc
        return file.read()


def _ps(columns: str, pid: int | None = None) -> str:
    import subprocess  # noqa: PLC0415 - half as long to load as Python itself, and Linux never needs it

    which = ["-p", str(pid)] if pid is not None else ["-A"]
    asked = subprocess.run(
        ["ps", *which, "-o", columns],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C", "TZ": "UTC"},  # the same words in every shell
    )
    return asked.stdout.strip()
