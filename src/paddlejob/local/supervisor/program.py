"""From a fresh fork of the supervisor to the container's own program, or to a sentence about why not.

Runs in the child only. Everything that may hang (a network file system, say) happens here, never in the supervisor.
"""

from __future__ import annotations

import errno
import os
import signal

from paddlejob.local.supervisor.prctl import die_with_parent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

# As a shell and a kubelet number them.
NOT_FOUND, NOT_EXECUTABLE, NOT_STARTED = 127, 126, 128
# One write of this much to a pipe is never split.
_MOST = 4000


class Refused(Exception):
    """The program cannot be started: the exit code to report, and a sentence for a person."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Program:
    """What to run and where; as the runner gave it, marks included."""

    __slots__ = ("argv", "cwd", "env", "log")

    def __init__(self, argv: tuple[str, ...], env: dict[str, str], cwd: str, log: str) -> None:
        self.argv = argv
        self.env = env
        self.cwd = cwd
        self.log = log


def become(program: Program, supervisor: int, answer: int) -> NoReturn:
    """Turn this child into the program. `answer` closes by itself when that worked; else it carries the refusal."""
    code = NOT_STARTED
    try:
        os.setsid()
        die_with_parent(signal.SIGKILL)
        if os.getppid() != supervisor:  # it ended before the line above
            os._exit(128 + signal.SIGKILL)
        _redirect(program.log)
        _enter(program.cwd)
        _execute(program)
    except Refused as refused:
        code = refused.code
        _answer(answer, code, refused.message)
    except BaseException as error:  # whatever it is, this copy of the supervisor must not go on
        _answer(answer, code, f"the process could not be prepared: {error!r}")
    finally:
        os._exit(code)


def _answer(pipe: int, code: int, message: str) -> None:
    os.write(pipe, f"{code} {message}".encode("utf-8", "backslashreplace")[:_MOST])


def _redirect(log: str) -> None:
    """Both outputs to the end of the log, which only its owner may read. The input is the supervisor's: nothing."""
    try:
        file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if _is_full(file):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError as error:
        advice = {
            errno.ENOSPC: "make room on that disk",
            errno.EDQUOT: "your quota there is used up",
            errno.ENOENT: "its directory does not exist",
            errno.EACCES: "you may not write there",
            errno.EROFS: "that file system is read-only",
        }.get(error.errno or 0, "is it a path to a file?")
        raise Refused(NOT_STARTED, f"cannot write the log {log}: {_lower(error)}; {advice}") from None
    except ValueError as error:
        raise Refused(NOT_STARTED, f"cannot write the log {log!r}: {error}") from None
    os.dup2(file, 1)
    os.dup2(file, 2)


def _is_full(file: int) -> bool:
    """Opening a file succeeds on a full disk. Better to say so now than to let training run without its log."""
    disk = os.fstatvfs(file)
    free = disk.f_bfree if os.geteuid() == 0 else disk.f_bavail
    return disk.f_blocks > 0 and free == 0


def _enter(cwd: str) -> None:
    try:
        os.chdir(cwd)
    except FileNotFoundError:
        message = f"the working directory {cwd} does not exist: make it, or change workingDir"
    except NotADirectoryError:
        message = f"the working directory {cwd} is not a directory: change workingDir"
    except PermissionError:
        message = f"you may not enter the working directory {cwd}: change its permissions, or workingDir"
    except (OSError, ValueError) as error:
        message = f"cannot enter the working directory {cwd!r}: {_lower(error)}"
    else:
        return
    raise Refused(NOT_STARTED, message)


def _execute(program: Program) -> NoReturn:
    """Try each file that the program may be, as a shell does."""
    if not program.argv or not program.argv[0]:
        raise Refused(NOT_FOUND, "there is no command to run: give command or args in the container")
    name = program.argv[0]
    path = program.env.get("PATH", os.defpath)
    files = [name] if "/" in name else [f"{folder or '.'}/{name}" for folder in path.split(":")]
    refusal = None
    for file in files:
        if not os.path.lexists(file):  # much cheaper than to let exec find out
            continue
        try:
            os.execve(file, program.argv, program.env)
        except (FileNotFoundError, NotADirectoryError):
            refusal = refusal or _without_interpreter(file)
        except PermissionError:
            refusal = refusal or _not_executable(file)
        except OSError as error:
            raise _unfit(file, error) from None
        except ValueError as error:
            raise Refused(NOT_EXECUTABLE, f"{name!r} cannot be run with these arguments and env: {error}") from None
    raise refusal or _not_found(name, path, program)


def _not_found(name: str, path: str, program: Program) -> Refused:
    if "/" in name:
        whole = name if name.startswith("/") else f"{name} in {program.cwd}"
        return Refused(NOT_FOUND, f"program not found: {whole}; correct command, or workingDir")
    where = f"looked in PATH={path}" if "PATH" in program.env else f"env has no PATH, so looked in {path}"
    return Refused(NOT_FOUND, f"program not found: {name}; {where}. Install it, or give its whole path in command")


def _without_interpreter(file: str) -> Refused:
    """The kernel says "not found" also when what the file's first line asks for is missing."""
    try:
        with open(file, "rb") as script:  # noqa: PTH123 - pathlib is as long to load as all else here
            first = script.readline(200)
    except OSError:
        first = b""
    if first.startswith(b"#!"):
        wanted = first[2:].decode(errors="replace").strip()
        return Refused(NOT_FOUND, f"{file} is there, but what its first line asks for is not: {wanted}")
    return Refused(
        NOT_FOUND, f"{file} is there, but what it needs to be loaded is not (a broken link, another system?)"
    )


def _not_executable(file: str) -> Refused:
    if os.path.isdir(file):  # noqa: PTH112 - pathlib is as long to load as all else here
        return Refused(NOT_EXECUTABLE, f"{file} is a directory, not a program: correct command")
    hint = f"chmod +x {file}, or run it with its interpreter, as in `python {file}`"
    return Refused(NOT_EXECUTABLE, f"{file} is not executable: {hint}")


def _unfit(file: str, error: OSError) -> Refused:
    why = {
        errno.ENOEXEC: "it is built for another machine, or is a script without a #! line",
        errno.E2BIG: "its arguments and env together are too long for this system",
        errno.ETXTBSY: "somebody is still writing it",
    }.get(error.errno or 0, _lower(error))
    return Refused(NOT_EXECUTABLE, f"{file} cannot be run: {why}")


def _lower(error: OSError | ValueError) -> str:
    return ((error.strerror if isinstance(error, OSError) else None) or str(error)).lower()
