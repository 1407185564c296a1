"""What to do when the supervisor itself was killed: its children die with it, and this finds their descendants."""

from __future__ import annotations

import time

from paddlejob.local.supervisor import proc
from paddlejob.local.supervisor.killing import kill

PAUSE = 0.005
# A process that is just becoming another program has no environment for a moment, so one look is not enough.
QUIET_LOOKS = 3
GIVE_UP = 5.0


def sweep(token: str, sessions: set[int]) -> None:
    """Kill whoever carries the supervisor's mark or is in one of the sessions, until nobody is left.

    Blocks for some ten milliseconds, on purpose: a cancelled task must not leave processes behind.
    """
    quiet, until = 0, time.monotonic() + GIVE_UP
    while quiet < QUIET_LOOKS and time.monotonic() < until:
        left = {*proc.marked(f"{proc.SUPERVISOR_MARK}={token}"), *proc.members(sessions)}
        for pid in left:
            kill(pid)
        quiet = 0 if left else quiet + 1
        time.sleep(PAUSE)
