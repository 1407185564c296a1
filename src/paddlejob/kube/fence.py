"""A body that asks once more, in the very moment in which it is written to the connection, whether it may go out.

Between the question and the first byte a process may be stopped for longer than its lease lives: another leads by then.
What is left of that window is a system call.
"""

from __future__ import annotations

from collections.abc import Callable

from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import BytesPayload

Gate = Callable[[], None]
"""Raises when this process may not act any more."""


class FencedBody(BytesPayload):
    def __init__(self, body: bytes, gate: Gate) -> None:
        super().__init__(body)
        self._gate = gate

    async def write(self, writer: AbstractStreamWriter) -> None:
        self._gate()
        await super().write(writer)

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        self._gate()
        await super().write_with_length(writer, content_length)
