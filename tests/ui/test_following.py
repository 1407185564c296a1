"""What a job's page is told, whatever comes first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import msgspec
import pytest

from paddlejob.api import Job
from paddlejob.core.children import Pod
from paddlejob.errors import Forbidden
from paddlejob.places.place import Change, Event, Found, PodChange
from paddlejob.places.this_machine import ThisMachine
from paddlejob.ui.following import JobWatch
from tests.builders import a_job


def a_pod(node: str) -> Pod:
    return msgspec.convert({"metadata": {"name": "train-worker-0", "uid": "a"}, "spec": {"nodeName": node}}, Pod)


class Behind(ThisMachine):
    """The list of pods that it answers with is older than what its watch has told by then."""

    def __init__(self, *told: PodChange) -> None:
        super().__init__()
        self._told = told
        self._all_told = asyncio.Event()

    async def watch(self, _namespace: str | None, _name: str | None = None) -> AsyncGenerator[Change, None]:
        yield job().key, job()
        await asyncio.Event().wait()

    async def pods(self, _: Job) -> tuple[Pod, ...]:
        await self._all_told.wait()
        return (a_pod(""),)

    async def watch_pods(self, _: Job) -> AsyncGenerator[PodChange, None]:
        for one in self._told:
            yield one
        self._all_told.set()
        await asyncio.Event().wait()

    async def events(self, _: Job) -> tuple[Event, ...]:
        return ()


def job() -> Found:
    return Found(job=a_job().build(), where="this machine", phase="Starting", over=False)


TOLD: dict[str, tuple[tuple[PodChange, ...], list[str]]] = {
    "placed": ((("a", a_pod("")), ("a", a_pod("node-1"))), ["node-1"]),
    "gone": ((("a", a_pod("")), ("a", None)), []),
}


@pytest.mark.parametrize(("told", "nodes"), TOLD.values(), ids=TOLD)
async def test_a_list_that_is_late_does_not_undo_what_the_watch_has_told(
    told: tuple[PodChange, ...], nodes: list[str]
) -> None:
    looks = JobWatch(Behind(*told), job()).run()
    first = await anext(looks)
    await looks.aclose()
    assert [one.node for one in first.pods] == nodes


class Closed(Behind):
    """Shows no pods to this person; the watch says so later than the list."""

    def __init__(self) -> None:
        super().__init__()
        self.looked = asyncio.Event()

    async def pods(self, _: Job) -> tuple[Pod, ...]:
        raise Forbidden("cannot list the pods")

    async def watch_pods(self, _: Job) -> AsyncGenerator[PodChange, None]:
        await self.looked.wait()
        for one in self._told:  # none
            yield one
        raise Forbidden("cannot watch the pods")


async def test_that_pods_may_not_be_listed_is_said_whoever_is_refused_last() -> None:
    place = Closed()
    looks = JobWatch(place, job()).run()
    first = await anext(looks)
    place.looked.set()
    second = await anext(looks)
    await looks.aclose()
    assert [one.refused for one in (first, second)] == [{"pods": "cannot list the pods"}] * 2
