"""What a bus error means: nearly always a full /dev/shm, and nothing that a person would look for in the program."""

from __future__ import annotations

import re

from paddlejob.api import Failure

SIGBUS = 128 + 7
# The shell's words, those of Paddle's and of other DataLoaders, and of Paddle's own report of a fatal signal.
SIGNS = re.compile(r"\bbus error\b|\bSIGBUS\b|insufficient shared (memory|storage)", re.IGNORECASE)
ADVICE = (
    "a bus error: most often /dev/shm is full, through which DataLoader workers hand over their batches."
    " Raise the container's memory limit or the size of what is mounted at /dev/shm,"
    " or use fewer workers (num_workers), smaller batches or use_shared_memory=False"
)


def advice(failure: Failure) -> str:
    """What to say of a failure besides; nothing if it is another."""
    return ADVICE if failure.exit_code == SIGBUS or SIGNS.search(failure.message) else ""
