"""A reflector at work, with everything it tells."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from paddlejob.kube.client import Client
from paddlejob.kube.reflector import Reflector
from paddlejob.kube.store import Change, Store
from tests.kube.things import THINGS, Thing


@dataclass
class Running:
    reflector: Reflector[Thing]
    store: Store[Thing]
    task: asyncio.Task[None]
    errors: list[Exception] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    changes: list[Change[Thing]] = field(default_factory=list)

    def names(self) -> set[str]:
        return {thing.metadata.name for thing in self.store}

    def value(self, name: str) -> int | None:
        thing = self.store.get(("default", name))
        return None if thing is None else thing.value


@asynccontextmanager
async def reflecting(client: Client, *, silence: float = 60.0, selector: str = "") -> AsyncIterator[Running]:
    store: Store[Thing] = Store()
    errors: list[Exception] = []
    skipped: list[str] = []
    changes: list[Change[Thing]] = []
    store.subscribe(changes.append)
    reflector = Reflector(
        client,
        THINGS,
        store,
        selector=selector,
        on_undecodable=lambda one: skipped.append(one.name),
        on_error=errors.append,
        rng=random.Random(7),
        silence=silence,
    )
    task: asyncio.Task[None] = asyncio.create_task(reflector.run())
    try:
        yield Running(reflector, store, task, errors, skipped, changes)
        assert not task.done(), "the reflector lost its task"
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
