"""What a person may do from the page: submit a job, suspend, resume, scale and delete one.

Every request names the job by its UID, too: what was asked back is done to that very job or not at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Literal

import msgspec

from paddlejob.api import Job
from paddlejob.api.meta import Key
from paddlejob.api.names import KIND
from paddlejob.errors import Invalid, NotFound, PaddleJobError
from paddlejob.local.reading import Document, Misplaced, parse_text
from paddlejob.places.place import Description, Place, label
from paddlejob.ui.rows import At


class Order(msgspec.Struct, frozen=True, kw_only=True):
    place: str
    namespace: str
    name: str
    uid: str
    do: Literal["suspend", "resume", "scale", "delete"]
    workers: int = 0


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A file that somebody writes on the page. `namespace`: for jobs that name none."""

    place: str
    text: str
    namespace: str = ""


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with a draft, each mistake with its line; the jobs in it, and what is applied beside them."""

    mistakes: tuple[Misplaced, ...] = ()
    jobs: tuple[At, ...] = ()
    beside: tuple[str, ...] = ()


async def act(places: Mapping[str, Place], asked: Order) -> None:
    place = place_of(places, asked.place)
    job = (await place.get(Key(asked.namespace, asked.name))).job
    if job.metadata.uid != asked.uid:
        raise NotFound(f"{asked.name} is another job now, submitted meanwhile: look at it first")
    await _done(place, job, asked)


async def _done(place: Place, job: Job, asked: Order) -> None:
    match asked.do:
        case "delete":
            await place.delete(job)
        case "scale":
            await place.scale(job, asked.workers)
        case "suspend" | "resume":
            await place.change(job, {"suspend": asked.do == "suspend"})


async def judge(places: Mapping[str, Place], draft: Draft) -> Judgement:
    """As the API server would judge it, and asked of the place itself when nothing else is wrong."""
    documents, mistakes = await asyncio.to_thread(parse_text, draft.text)
    if mistakes:
        return Judgement(mistakes=tuple(mistakes))
    try:
        place = place_of(places, draft.place)
        described = _described(documents, draft.namespace)
        for one in described:
            await place.check(one)
    except PaddleJobError as error:
        return Judgement(mistakes=(Misplaced(0, 0, str(error)),))
    return Judgement(
        jobs=tuple(At(draft.place, one.namespace or place.namespace, one.name) for one in described),
        beside=tuple(label(one) for one in described[0].beside),
    )


async def submit(places: Mapping[str, Place], draft: Draft) -> Judgement:
    judgement = await judge(places, draft)
    if not judgement.mistakes:
        place = place_of(places, draft.place)
        for one in _described(parse_text(draft.text)[0], draft.namespace):
            await place.submit(one)
    return judgement


def _described(documents: list[Document], namespace: str) -> list[Description]:
    bodies = [one.body for one in documents]
    beside = tuple(one for one in bodies if one.get("kind") != KIND)
    jobs = [one for one in bodies if one.get("kind") == KIND]
    if not jobs:
        raise Invalid(f"there is no {KIND} in it: add a document with kind: {KIND}")
    for one in jobs:
        if namespace and not one["metadata"].get("namespace"):
            one["metadata"]["namespace"] = namespace
    return [Description(one, beside) for one in jobs]


def place_of(places: Mapping[str, Place], name: str) -> Place:
    if name not in places:
        raise NotFound(f"there is no place {name!r} here, only {', '.join(places)}")
    return places[name]
