"""Who goes next when there is not room for all."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import pytest

from paddlejob.kube.fairness import FairLimiter


class Crowd:
    """Tasks that hold a slot until they are told to leave, and the order in which they got it."""

    def __init__(self, limit: int) -> None:
        self.limiter = FairLimiter(limit)
        self.entered: list[str] = []
        self.inside = 0
        self.most = 0
        self.tasks: list[asyncio.Task[None]] = []

    def come(self, key: str, leave: Awaitable[object] | None = None) -> asyncio.Task[None]:
        task = asyncio.create_task(self._work(key, leave))
        self.tasks.append(task)
        return task

    async def _work(self, key: str, leave: Awaitable[object] | None) -> None:
        async with self.limiter.slot(key):
            self.entered.append(key)
            self.inside += 1
            self.most = max(self.most, self.inside)
            try:
                await (leave if leave is not None else asyncio.sleep(0))
            finally:
                self.inside -= 1

    async def all_gone(self) -> None:
        await asyncio.gather(*self.tasks, return_exceptions=True)


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_never_more_than_the_limit_are_inside() -> None:
    crowd = Crowd(3)
    for number in range(50):
        crowd.come(f"key-{number % 4}")
    await crowd.all_gone()
    assert crowd.most == 3
    assert len(crowd.entered) == 50


async def test_a_key_with_a_thousand_waiters_does_not_starve_a_key_with_one() -> None:
    crowd = Crowd(1)
    for _ in range(1000):
        crowd.come("many")
    await settle()
    served = len(crowd.entered)
    crowd.come("one")
    await crowd.all_gone()
    assert crowd.entered.index("one") - served <= 6


async def test_keys_take_turns() -> None:
    crowd = Crowd(1)
    gate = asyncio.Event()
    crowd.come("first", gate.wait())
    await settle()
    for key in "aaabbc":
        crowd.come(key)
    await settle()
    gate.set()
    await crowd.all_gone()
    assert "".join(crowd.entered[1:]) == "abcaba"


async def test_a_cancelled_waiter_gives_its_turn_away() -> None:
    crowd = Crowd(1)
    gate = asyncio.Event()
    crowd.come("first", gate.wait())
    await settle()
    leaving = [crowd.come("a"), crowd.come("b")]
    crowd.come("b")
    await settle()
    for task in leaving:
        task.cancel()
    await settle()
    gate.set()
    await crowd.all_gone()
    assert crowd.entered == ["first", "b"]


async def test_a_waiter_cancelled_in_the_moment_of_its_turn_passes_the_slot_on() -> None:
    crowd = Crowd(1)
    gate = asyncio.Event()
    crowd.come("first", gate.wait())
    await settle()
    unlucky = crowd.come("a")
    crowd.come("b")
    await settle()
    gate.set()
    await asyncio.sleep(0)
    unlucky.cancel()
    await crowd.all_gone()
    assert crowd.entered[-1] == "b"
    assert crowd.inside == 0
    await asyncio.wait_for(crowd.come("again"), 5)


async def test_a_waiter_cancelled_just_before_a_release_is_passed_over() -> None:
    limiter = FairLimiter(1)
    await limiter._acquire("first")
    waiting = asyncio.create_task(limiter._acquire("a"))
    after = asyncio.create_task(limiter._acquire("b"))
    await settle()
    waiting.cancel()
    limiter._release()
    await asyncio.wait_for(after, 5)
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_failure_inside_frees_the_slot() -> None:
    limiter = FairLimiter(1)
    with pytest.raises(ValueError, match="inside"):
        async with limiter.slot("a"):
            raise ValueError("inside")
    async with limiter.slot("a"):
        pass


def test_a_limit_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="lets nothing through"):
        FairLimiter(0)
