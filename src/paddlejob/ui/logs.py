"""What pods print, to the page as it comes and to a file as a whole.

Lines go out in batches. A page that is slow slows down the reading: nothing is collected without end.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec
from aiohttp import web

from paddlejob.api import Job
from paddlejob.errors import Invalid
from paddlejob.kube.tasks import cancelled_and_joined
from paddlejob.places.place import Heading, Place, Wanted
from paddlejob.terminal import plain

# Seconds between two batches, lines and characters in one, and characters of a line that a page shows.
TICK = 0.1
MOST_LINES = 2000
MOST_CHARACTERS = 1_000_000
LONGEST_LINE = 8000

# A name that a hand wrote into the state on disk may be none.
_NOT_IN_NAMES = re.compile(r"[^\w.-]", re.ASCII)

# Pod, number of its log, and text; without text it is a heading.
Entry = tuple[str, int, str] | tuple[str, int]


def wanted_logs(query: dict[str, str], *, follow: bool) -> Wanted:
    """As the page asks for them."""
    said = {name: query[name] for name in ("role", "index", "tail") if query.get(name)}
    try:
        return msgspec.convert({"role": "all", **said, "follow": follow, "attempts": True}, Wanted, strict=False)
    except msgspec.ValidationError as error:
        raise Invalid(f"cannot read logs: {error}") from error


async def log_batches(place: Place, job: Job, wanted: Wanted) -> AsyncGenerator[tuple[str, bytes], None]:
    """Kind and JSON of each message: `lines`, and `end` when no more will come."""
    batch = Batch()
    reading = asyncio.ensure_future(_read(place, job, wanted, batch))
    try:
        while not (reading.done() and batch.is_empty):
            was_full = batch.is_full
            if not batch.is_empty:
                yield "lines", msgspec.json.encode(batch.take())
            if not was_full:
                await asyncio.wait({reading}, timeout=TICK)
        reading.result()
        yield "end", b"{}"
    finally:
        await cancelled_and_joined(reading)


class Batch:
    """Lines that are read and not yet sent; who reads on waits while there are many."""

    def __init__(self) -> None:
        self._lines: list[Entry] = []
        self._characters = 0
        self._room = asyncio.Event()

    @property
    def is_empty(self) -> bool:
        return not self._lines

    @property
    def is_full(self) -> bool:
        return len(self._lines) >= MOST_LINES or self._characters >= MOST_CHARACTERS

    async def put(self, one: Entry) -> None:
        while self.is_full:
            self._room.clear()
            await self._room.wait()
        self._lines.append(one)
        self._characters += len(one[-1]) if len(one) == 3 else 0

    def take(self) -> list[Entry]:
        taken, self._lines, self._characters = self._lines, [], 0
        self._room.set()
        return taken


async def _read(place: Place, job: Job, wanted: Wanted, into: Batch) -> None:
    numbers: dict[str, int] = {}
    async with aclosing(place.logs(job, wanted)) as lines:
        async for line in lines:
            if isinstance(line, Heading):
                numbers[line.pod] = int(line.text)
                await into.put((line.pod, numbers[line.pod]))
                continue
            text = line.text if len(line.text) <= LONGEST_LINE else f"{line.text[:LONGEST_LINE]} …"
            await into.put((line.pod, numbers.get(line.pod, 1), text))


async def download(request: web.Request, place: Place, job: Job, wanted: Wanted) -> web.StreamResponse:
    """Plain text, one line as `paddlejob logs` prints it."""
    response = web.StreamResponse(
        headers={
            "Content-Type": "text/plain; charset=utf-8",
            "Content-Disposition": f'attachment; filename="{_NOT_IN_NAMES.sub("-", job.metadata.name)}.log"',
        }
    )
    await response.prepare(request)
    async with aclosing(place.logs(job, wanted)) as lines:
        pieces: list[str] = []
        async for line in lines:
            pieces.append(
                f"==== {line.pod}, start {line.text} ====\n"
                if isinstance(line, Heading)
                else f"[{line.pod}] {plain(line.text)}\n"
            )
            if len(pieces) == MOST_LINES:
                await response.write("".join(pieces).encode())
                pieces = []
        await response.write("".join(pieces).encode())
    return response
