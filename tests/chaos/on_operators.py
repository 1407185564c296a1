"""Trouble of an operator: its process, its clock, and what it hears of the API server. One thing at a time for each."""

from __future__ import annotations

import signal
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

from tests.chaos.replica import Replica
from tests.chaos.world import Undo, World
from tests.scenarios.exchange import Action, Answer, Delay, Stall, Test, anything, is_call, is_watch, is_write

if TYPE_CHECKING:
    from tests.chaos.troubles import Trouble

DEAF = 90.0
OFFSETS = (-90, -20, 20, 90)
PLURALS = ("", "", "pods", "paddlejobs", "configmaps")


def kill(world: World, trouble: Trouble) -> Undo:
    replica = world.idle(trouble.replica)
    replica.kill()
    return _until(replica, replica.start)


def stop(world: World, trouble: Trouble) -> Undo:
    replica = world.idle(trouble.replica)
    replica.terminate()
    return _until(replica, replica.start)


def freeze(world: World, trouble: Trouble) -> Undo:
    replica = world.idle(trouble.replica)
    replica.signal(signal.SIGSTOP)
    return _until(replica, lambda: replica.signal(signal.SIGCONT))


def cut_off(world: World, trouble: Trouble) -> Undo:
    replica = world.idle(trouble.replica)
    replica.proxy.partition()
    return _until(replica, replica.proxy.heal)


def set_clock(world: World, trouble: Trouble) -> Undo:
    replica = world.idle(trouble.replica)
    replica.start(OFFSETS[trouble.dice % len(OFFSETS)])
    return _until(replica, replica.start)


def refuse(world: World, trouble: Trouble) -> Undo:
    answer = (Answer(429, retry_after=1), Answer(500), Answer(503))[trouble.dice % 3]
    return _faulty(world.idle(trouble.replica), answer, is_write if trouble.dice % 2 else anything)


def slow_down(world: World, trouble: Trouble) -> Undo:
    return _faulty(world.idle(trouble.replica), Delay(0.2 + trouble.dice % 30 / 10), is_call)


def leave_unanswered(world: World, trouble: Trouble) -> Undo:
    return _faulty(world.idle(trouble.replica), Stall(), is_call, times=1 + trouble.dice % 4)


def refuse_watches(world: World, trouble: Trouble) -> Undo:
    replica = world.idle(trouble.replica)
    undo = _faulty(replica, Answer(410, reason="Expired"), is_watch, times=1 + trouble.dice % 8)
    replica.proxy.order_watches("close")
    return undo


def end_watches(world: World, trouble: Trouble) -> None:
    replica = world.idle(trouble.replica)
    for order in ("close", "break", "expire"):
        if trouble.dice % 3 == ("close", "break", "expire").index(order):
            replica.proxy.order_watches(order, PLURALS[trouble.slot % len(PLURALS)])


def silence_watches(world: World, trouble: Trouble) -> None:
    """Open and dead: the operator must notice by itself."""
    replica = world.idle(trouble.replica)
    replica.deaf_until = time.time() + DEAF
    replica.proxy.order_watches("silence", PLURALS[trouble.slot % len(PLURALS)])


def _faulty(replica: Replica, action: Action, test: Test, times: int | None = None) -> Undo:
    stack = ExitStack()
    stack.enter_context(replica.proxy.faulty(action, test, times))
    return _until(replica, stack.close)


def _until(replica: Replica, undo: Undo) -> Undo:
    """Nothing else is done to it before this is over."""
    replica.busy = True

    def over() -> None:
        replica.busy = False
        undo()

    return over
