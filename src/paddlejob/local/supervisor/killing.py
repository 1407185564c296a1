"""SIGKILL to one, to a group or to a family. That a process is gone, or another user's (sudo), is no error here."""

from __future__ import annotations

import os
import signal

from paddlejob.local.supervisor import proc


def kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return False
    return True


def kill_tree(root: int, family: dict[int, list[int]]) -> None:
    """Parents first, so that none replaces its child; `family` is `proc.children()` of just now."""
    for pid in (root, *proc.descendants(root, family)):
        kill(pid)


def signal_group(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except OSError:
        return False
    return True
