"""Two promises the Linux kernel makes about families of processes: dying with a parent, and adopting orphans.

Elsewhere both calls do nothing and say so by returning False; what is lost then is in the supervisor's docstring.
"""

from __future__ import annotations

import ctypes
import sys

_SET_PDEATHSIG = 1
_SET_CHILD_SUBREAPER = 36


def die_with_parent(number: int) -> bool:
    """Send this process the signal when its parent ends, however it ends. Survives exec, not fork."""
    return _prctl(_SET_PDEATHSIG, number)


def adopt_orphans() -> bool:
    """Become the parent of every descendant whose own parent ends: from now on none can leave this family."""
    return _prctl(_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> bool:
    if _libc is None:
        return False
    return bool(_libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) == 0)


_libc = ctypes.CDLL(None) if sys.platform == "linux" else None
