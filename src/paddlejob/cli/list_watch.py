"""`paddlejob list -w`: a table that stays up to date on a terminal, one line per change elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import msgspec
from rich.live import Live
from rich.text import Text

from paddlejob.api.names import API_VERSION, KIND
from paddlejob.cli.list import listed, nothing, table
from paddlejob.cli.output import Format, console, note, qualified, show
from paddlejob.cli.where import Enter, Where
from paddlejob.errors import PaddleJobError
from paddlejob.places.place import Found, loop

# How often ages are drawn anew.
PAUSE = 0.5

Key = tuple[str, str, str]
Show = Callable[[dict[Key, Found]], None]


async def watch_jobs(where: Where, everywhere: bool, output: Format | None) -> None:
    await loop()
    jobs: dict[Key, Found] = {}
    changed = asyncio.Event()

    async def watch(enter: Enter) -> None:
        async with enter() as place:
            namespace = listed(place, where, everywhere)
            await place.list(namespace)  # says what is wrong with the namespace, which a watch does not
            async with aclosing(place.watch(namespace)) as changes:
                async for key, now in changes:
                    jobs.pop(at := (place.where, *key), None)
                    if now is not None:
                        jobs[at] = now
                    changed.set()

    watching = [asyncio.ensure_future(watch(enter)) for enter in where.places]
    async with _screen(where, everywhere, output) as refresh:
        try:
            while True:
                refresh(jobs)
                await _pause(watching, changed)
        finally:
            for one in watching:
                one.cancel()
            await asyncio.gather(*watching, return_exceptions=True)


async def _pause(watching: list[asyncio.Task[None]], changed: asyncio.Event) -> None:
    """Until something changed, or ages have; a cluster that refuses us ends it all when nothing else is watched."""
    waiting = asyncio.ensure_future(changed.wait())
    pending: set[asyncio.Task[Any]] = {waiting, *watching}
    await asyncio.wait(pending, timeout=PAUSE, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    changed.clear()
    for one in [one for one in watching if one.done()]:
        watching.remove(one)
        try:
            one.result()
        except PaddleJobError as error:
            if not watching:
                raise
            note(str(error))


@asynccontextmanager
async def _screen(where: Where, everywhere: bool, output: Format | None) -> AsyncIterator[Show]:
    to = console()
    wide = output == "wide"

    def drawn(jobs: dict[Key, Found]) -> Text:
        found = [jobs[key] for key in sorted(jobs)]
        return table(found, wide=wide, namespaces=everywhere) if found else Text(nothing(where))

    if to.is_terminal and output != "name":
        with Live(console=to, auto_refresh=False) as live:
            yield lambda jobs: live.update(drawn(jobs), refresh=True)
        return
    shown: dict[Key, Found] = {}

    def show_changes(jobs: dict[Key, Found]) -> None:
        news = [one for key, one in sorted(jobs.items()) if shown.get(key) != one]
        gone = [msgspec.structs.replace(one, phase="Deleted") for key, one in sorted(shown.items()) if key not in jobs]
        if output == "name":
            for one in (*news, *gone):
                print(qualified(API_VERSION, KIND, one.key.name), flush=True)
        elif news or gone:
            lines = table([*news, *gone], wide=wide, namespaces=everywhere, progress=True).split("\n")
            for line in lines[1 if shown else 0 :]:
                show(line, to)
        shown.clear()
        shown.update(jobs)

    yield show_changes
