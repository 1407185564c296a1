"""Going to the background: a process of its own session whose output goes to a file."""

from __future__ import annotations

import os
from pathlib import Path


def detach(log: Path) -> bool:
    """True in the caller, whose work is done; False in the new process, which carries on."""
    if os.fork():
        return True
    os.setsid()
    if os.fork():
        os._exit(0)  # no controlling terminal can ever come back
    null = os.open(os.devnull, os.O_RDONLY)
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for source, target in ((null, 0), (out, 1), (out, 2)):
        os.dup2(source, target)
    return False
