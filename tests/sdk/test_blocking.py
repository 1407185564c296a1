"""Waiting from ordinary code for what is to be awaited: interrupts at any moment, errors, forks."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncGenerator

import pytest

from paddlejob.sdk.blocking import blocking, iterating

# In a process of its own: pytest's own time limit uses the same signal.
INTERRUPTED = """
import asyncio, random, signal
from paddlejob.sdk.blocking import iterating

def interrupt(*_):
    raise KeyboardInterrupt

counts = {"opened": 0, "closed": 0}

async def numbers():
    counts["opened"] += 1
    try:
        while True:
            await asyncio.sleep(0.0003)
            yield 1
    finally:
        await asyncio.sleep(0.001)
        counts["closed"] += 1

signal.signal(signal.SIGALRM, interrupt)
random.seed(1)
for _ in range(200):
    try:
        # Again after a while: Python itself swallows what is raised in a callback of a weak reference.
        signal.setitimer(signal.ITIMER_REAL, 0.0001 + random.random() * 0.004, 5)
        for _ in iterating(numbers()):
            pass
    except KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, 0)
print(counts["opened"], counts["opened"] - counts["closed"])
"""


def test_an_interrupt_at_any_moment_leaves_nothing_open_and_is_not_held_up() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False, timeout=150)
    assert done.returncode == 0, done.stderr
    opened, left = map(int, done.stdout.split())
    assert opened > 150  # some are interrupted before they begin
    assert left == 0


async def numbers(count: int) -> AsyncGenerator[int, None]:
    for one in range(count):
        await asyncio.sleep(0)
        yield one
    raise ValueError("no more")


def test_items_come_in_order_and_errors_come_through() -> None:
    items = iterating(numbers(3))
    assert [next(items) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="no more"):
        next(items)


async def answer() -> int:
    return os.getpid()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_gets_a_loop_of_its_own() -> None:
    assert blocking(answer()) == os.getpid()
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        os.write(write, str(blocking(answer())).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert int(os.read(read, 100)) == child
    os.close(read)
    os.close(write)
