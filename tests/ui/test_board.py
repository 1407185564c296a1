"""What the list of jobs is told of each place, whatever befalls the others."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator

import msgspec
import pytest

from paddlejob.api.meta import Key
from paddlejob.kube.tasks import cancelled_and_joined, timeout
from paddlejob.places.place import Change, Found
from paddlejob.places.this_machine import ThisMachine
from paddlejob.ui import board
from paddlejob.ui.board import Board
from tests.builders import a_job
from tests.cluster.waiting import TIMEOUT


class Odd(ThisMachine):
    """Answers once with what nobody could expect, such as a gateway's page of HTML, and then as it should."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    async def list(self, _namespace: str | None) -> tuple[Found, ...]:
        self.asked += 1
        if self.asked == 1:
            raise msgspec.DecodeError("JSON is malformed")
        return (Found(job=a_job().build(), where="this machine", phase="Running", over=False),)

    async def watch(self, _namespace: str | None, _name: str | None = None) -> AsyncGenerator[Change, None]:
        await asyncio.Event().wait()
        yield Key("default", "none"), None


async def test_an_answer_that_nobody_expects_is_told_and_the_place_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(board, "RETRY", 0.05)
    shown = Board((Odd(),), "default")
    keeping = asyncio.ensure_future(shown.run())
    told: list[str] = []
    try:
        async with timeout(TIMEOUT):
            async for news in shown.page():
                (place,) = msgspec.json.decode(news)["places"]
                told.append(place["trouble"])
                if place["known"]:
                    break
        assert not keeping.done()
    finally:
        await cancelled_and_joined(keeping)
    assert "DecodeError: JSON is malformed" in told
    assert told[-1] == ""
    assert [one.levelno for one in caplog.records if one.name == board.__name__] == [logging.ERROR]
