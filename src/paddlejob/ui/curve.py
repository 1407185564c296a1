"""How the loss and the speed of a job went, by the log of its first worker: a few hundred points, long as it may be."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from datetime import datetime, timezone

import msgspec

from paddlejob.api import Job
from paddlejob.core import Reading
from paddlejob.errors import PaddleJobError
from paddlejob.places.place import Place, Wanted
from paddlejob.profiles.profile import asked
from paddlejob.profiles.reader import Reader
from paddlejob.terminal import plain

MOST_POINTS = 400
# Of a long log only the end is read: it stays with the person who looks.
MOST_LINES = 20_000
LONGEST_LINE = 1000
# Lines between two turns of the others.
A_WHILE = 200


class Point(msgspec.Struct, frozen=True, gc=False):
    """Speed in steps a second, where the program prints it itself."""

    step: int
    loss: float | None
    speed: float | None


async def curve(place: Place, job: Job) -> list[Point]:
    try:
        reader = Reader(asked(job.spec.progress))
    except ValueError:
        return []
    points: list[Point] = []
    with suppress(PaddleJobError):  # the log may be gone, or not this person's to read: the bar says enough
        await _read(place, job, reader, points)
    return thin(points)


async def _read(place: Place, job: Job, reader: Reader, points: list[Point]) -> None:
    now, count = datetime.now(timezone.utc), 0
    async with aclosing(place.logs(job, Wanted(role="worker", index=0, tail=MOST_LINES))) as lines:
        async for line in lines:
            add(points, reader.read(plain(line.text[:LONGEST_LINE]).strip(), now))
            count += 1
            if count % A_WHILE == 0:
                await asyncio.sleep(0)


def add(points: list[Point], read: Reading | None) -> None:
    """A training that begins anew draws its curve anew."""
    if read is None or read.step is None or (read.loss is None and read.speed is None):
        return
    while points and points[-1].step >= read.step:
        points.pop()
    points.append(Point(read.step, read.loss, read.speed))


def thin(points: list[Point]) -> list[Point]:
    """As many as a screen shows, the first and the last among them."""
    while len(points) > MOST_POINTS:
        points = [*points[:-1:2], points[-1]]
    return points
