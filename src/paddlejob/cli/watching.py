"""`paddlejob list -w`: a table that stays up to date on a terminal, one line per change elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from rich.live import Live
from rich.text import Text

from paddlejob.api.names import API_VERSION, KIND
from paddlejob.cli.errors import UserError
from paddlejob.cli.listing import HERE, Row, local_rows, nothing, remote_row, table
from paddlejob.cli.output import Format, console, note, qualified, show
from paddlejob.cli.reaching import connect, exit_codes
from paddlejob.cli.where import Place
from paddlejob.kube.tasks import cancelled_and_joined
from paddlejob.sdk.errors import PaddleJobError

# How often this machine's jobs are looked at, and ages are drawn anew.
PAUSE = 0.5

Key = tuple[str, str, str]
Show = Callable[[dict[Key, Row]], None]


def watch_jobs(place: Place, everywhere: bool, output: Format | None) -> int:
    with exit_codes():
        asyncio.run(_watch(place, everywhere, output))
    return 0


async def _watch(place: Place, everywhere: bool, output: Format | None) -> None:
    rows: dict[Key, Row] = {}
    changed = asyncio.Event()
    watching: list[asyncio.Task[None]] = []
    if not place.only_there:
        watching.append(asyncio.ensure_future(_this_machine(place, rows, changed)))
    if not place.only_here:
        watching.append(asyncio.ensure_future(_the_cluster(place, everywhere, rows, changed)))
    async with _screen(place, everywhere, output) as refresh:
        try:
            while True:
                refresh(rows)
                await _pause(watching, changed)
        finally:
            await cancelled_and_joined(*watching)


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
        except (PaddleJobError, UserError) as error:
            if not watching:
                raise
            note(str(error))


async def _this_machine(place: Place, rows: dict[Key, Row], changed: asyncio.Event) -> None:
    while True:
        found = {_key(row): row for row in local_rows(place)}
        before = {key: row for key, row in rows.items() if key[0] == HERE}
        if found != before:
            for key in before:
                rows.pop(key)
            rows.update(found)
            changed.set()
        await asyncio.sleep(PAUSE)


async def _the_cluster(place: Place, everywhere: bool, rows: dict[Key, Row], changed: asyncio.Event) -> None:
    async with connect(place) as cluster:
        namespace = None if everywhere else place.namespace or cluster.namespace
        await cluster.documents(namespace)  # says what is wrong with the namespace, which a watch does not
        async for change in cluster.watch(namespace):
            if change.before is not None:
                rows.pop(_key(remote_row(change.before)), None)
            if change.after is not None:
                row = remote_row(change.after)
                rows[_key(row)] = row
            changed.set()


def _key(row: Row) -> Key:
    return (row.where, row.job.metadata.namespace, row.job.metadata.name)


@asynccontextmanager
async def _screen(place: Place, everywhere: bool, output: Format | None) -> AsyncIterator[Show]:
    to = console()
    wide = output == "wide"

    def drawn(rows: dict[Key, Row]) -> Text:
        found = [rows[key] for key in sorted(rows)]
        return table(found, wide=wide, namespaces=everywhere) if found else Text(nothing(place))

    if to.is_terminal and output != "name":
        with Live(console=to, auto_refresh=False) as live:
            yield lambda rows: live.update(drawn(rows), refresh=True)
        return
    told: dict[Key, Row] = {}

    def tell(rows: dict[Key, Row]) -> None:
        news = [row for key, row in sorted(rows.items()) if told.get(key) != row]
        gone = [Row(row.where, "Deleted", row.job) for key, row in sorted(told.items()) if key not in rows]
        if output == "name":
            for row in (*news, *gone):
                print(qualified(API_VERSION, KIND, row.job.metadata.name), flush=True)
        elif news or gone:
            lines = table([*news, *gone], wide=wide, namespaces=everywhere).split("\n")
            for line in lines[1 if told else 0 :]:
                show(line, to)
        told.clear()
        told.update(rows)

    yield tell
