"""The queue in virtual time: exact and instant."""

from __future__ import annotations

import asyncio
import random

import pytest

from paddlejob.kube.backoff import Backoff
from paddlejob.kube.queue import WorkQueue

# Finer than any delay here, because a timer closer than the resolution would never come due.
pytestmark = pytest.mark.looptime(resolution=1e-9)


def now() -> float:
    return asyncio.get_running_loop().time()


async def test_a_key_added_often_comes_once_and_in_order() -> None:
    queue: WorkQueue[str] = WorkQueue()
    for key in "abcab":
        queue.add(key)
    assert queue.depth == 3
    assert [await queue.get() for _ in range(3)] == ["a", "b", "c"]
    assert queue.depth == 0


async def test_a_key_added_while_it_is_processed_comes_once_more_after_it_is_done() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    assert await queue.get() == "a"
    queue.add("a")
    queue.add("a")
    queue.add("b")
    assert await queue.get() == "b"
    assert queue.depth == 0
    queue.done("a")
    assert await queue.get() == "a"
    queue.done("a")
    assert queue.depth == 0


async def test_of_several_delays_the_earliest_wins() -> None:
    queue: WorkQueue[str] = WorkQueue()
    start = now()
    queue.add_after("a", 10)
    queue.add_after("a", 3)
    queue.add_after("a", 5)
    assert await queue.get() == "a"
    assert now() - start == pytest.approx(3)
    queue.done("a")
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(queue.get(), 60)


async def test_no_delay_is_now_and_an_immediate_add_leaves_the_timer() -> None:
    queue: WorkQueue[str] = WorkQueue()
    start = now()
    queue.add_after("a", 4)
    queue.add_after("a", 0)
    assert await queue.get() == "a"
    assert now() == start
    queue.done("a")
    assert await queue.get() == "a"
    assert now() - start == pytest.approx(4)


async def test_many_waiters_are_each_given_one_key() -> None:
    queue: WorkQueue[int] = WorkQueue()
    takers = [asyncio.create_task(queue.get()) for _ in range(3)]
    await asyncio.sleep(0)
    takers[0].cancel()
    for number in range(2):
        queue.add(number)
    assert [await taker for taker in takers[1:]] == [0, 1]
    assert takers[0].cancelled()


async def test_a_key_that_fails_comes_later_and_later_up_to_a_minute() -> None:
    queue: WorkQueue[str] = WorkQueue(random.Random(3))
    delays = []
    for _ in range(15):
        start = now()
        delays.append(queue.retry("a"))
        assert await queue.get() == "a"
        assert now() - start == pytest.approx(delays[-1], abs=1e-5)
        queue.done("a")
    ceilings = [min(60.0, 0.05 * 2**failures) for failures in range(15)]
    assert all(ceiling / 2 <= delay <= ceiling for delay, ceiling in zip(delays, ceilings, strict=True))
    assert ceilings[-1] == 60.0


async def test_what_the_server_asks_for_is_the_least() -> None:
    queue: WorkQueue[str] = WorkQueue(random.Random(3))
    assert queue.retry("a", at_least=7.0) == 7.0
    queue.close()


async def test_a_forgotten_key_starts_over_and_keys_do_not_share_a_back_off() -> None:
    queue: WorkQueue[str] = WorkQueue(random.Random(3))
    for _ in range(10):
        queue.retry("a")
    assert queue.retry("a") > 20
    assert queue.retry("b") <= 0.05
    queue.forget("a")
    queue.forget("never seen")
    assert queue.retry("a") <= 0.05
    queue.close()


async def test_a_closed_queue_has_no_timers() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add_after("a", 1)
    queue.close()
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(queue.get(), 5)


def test_a_back_off_survives_thousands_of_failures() -> None:
    backoff = Backoff(first=0.2, most=30.0, rng=random.Random(1), failures=5000)
    assert 15 <= backoff.next() <= 30
    backoff.reset()
    assert backoff.next() <= 0.2


async def test_a_key_that_the_server_wants_held_comes_only_then_whatever_happens_meanwhile() -> None:
    queue: WorkQueue[str] = WorkQueue(rng=random.Random(1))
    queue.add("a")
    assert await queue.get() == "a"
    queue.retry("a", at_least=5.0)
    queue.add("a")  # something about it changed
    queue.done("a")
    began = now()
    assert await queue.get() == "a"
    assert now() - began >= 5.0
    queue.done("a")
    queue.forget("a")
    queue.add("a")
    again = now()
    assert await queue.get() == "a"
    assert now() == again
    queue.close()
