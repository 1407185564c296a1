"""Structured concurrency on every Python we support.

Owns where `TaskGroup` and `timeout` come from. Refuses to add anything of its own.
"""

from __future__ import annotations

import sys

if sys.version_info >= (3, 11):
    from asyncio import TaskGroup, timeout
else:
    # The back-port is installed only where it is needed, so a newer Python's mypy cannot see it.
    from taskgroup import TaskGroup, timeout  # type: ignore[import-not-found, unused-ignore]

__all__ = ["TaskGroup", "timeout"]
