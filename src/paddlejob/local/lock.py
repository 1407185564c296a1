"""A lock beside a job's folder: who holds it may make, empty or remove the folder, and nobody else.

The kernel keeps it: a crash frees it, and a process that inherits the open file holds it too.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


class Lock:
    def __init__(self, path: Path, fd: int) -> None:
        self.path = path
        self.fd = fd

    @classmethod
    def take(cls, path: Path, *, wait: bool = False) -> Lock:
        """Raises BlockingIOError if somebody has it and we shall not wait."""
        while True:
            fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
                if os.path.samestat(os.fstat(fd), path.stat()):
                    return cls(path, fd)
            except FileNotFoundError:
                pass  # whoever had it before us took the file away with it
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)

    def free(self) -> None:
        """For all who hold it; the file goes while nobody else can have it."""
        self.path.unlink(missing_ok=True)
        fcntl.flock(self.fd, fcntl.LOCK_UN)
        self.close()

    def close(self) -> None:
        """Leave it to those who hold it beside us."""
        os.close(self.fd)
