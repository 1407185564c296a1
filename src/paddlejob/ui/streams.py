"""Server-sent events: messages to a page for as long as it is open."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress

import msgspec
from aiohttp import web

from paddlejob.errors import NoCluster, PaddleJobError
from paddlejob.kube.tasks import cancelled_and_joined

# Seconds of silence after which a word is said, so that a page that went away is noticed.
SILENCE = 15.0
# Milliseconds after which a browser comes back by itself.
COME_BACK = 1000
# The same, when it was told of trouble that may pass.
COME_BACK_LATER = 5000

Messages = AsyncGenerator[tuple[str, bytes], None]


async def streamed(request: web.Request, messages: Messages) -> web.StreamResponse:
    """Kind and JSON of each message, as they come.

    An error is told as a message of the kind `error-told`. What may pass is `trouble`: the browser comes back.
    """
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    with suppress(ConnectionError):
        await response.write(b"retry: %d\n\n" % COME_BACK)
        try:
            await _send_all(response, messages)
        except NoCluster as error:
            await response.write(b"retry: %d\n\n" % COME_BACK_LATER)
            await _send(response, "trouble", msgspec.json.encode(str(error)))
        except PaddleJobError as error:
            await _send(response, "error-told", msgspec.json.encode(str(error)))
        finally:
            await messages.aclose()
    return response


async def _send_all(response: web.StreamResponse, messages: Messages) -> None:
    while True:
        coming = asyncio.ensure_future(anext(messages))
        try:
            while not (await asyncio.wait({coming}, timeout=SILENCE))[0]:
                await response.write(b": still here\n\n")
        except BaseException:
            await cancelled_and_joined(coming)
            raise
        try:
            kind, data = coming.result()
        except StopAsyncIteration:
            return
        await _send(response, kind, data)


async def _send(response: web.StreamResponse, kind: str, data: bytes) -> None:
    """JSON holds no line break, so one line of data is always enough."""
    await response.write(b"event: %s\ndata: %s\n\n" % (kind.encode(), data))
