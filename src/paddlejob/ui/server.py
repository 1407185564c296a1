"""The page's server: which question is answered by what, and how it is started and ended.

Static files are read once, by name, so no path of a request ever reaches the disk.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import TypeVar

import msgspec
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.typedefs import Middleware

from paddlejob import errors
from paddlejob.api.meta import Key
from paddlejob.kube.tasks import cancelled_and_joined
from paddlejob.places.place import Place
from paddlejob.places.words import as_yaml, document, without_managed_fields
from paddlejob.ui.actions import Draft, Order, act, judge, place_of, submit
from paddlejob.ui.board import Board
from paddlejob.ui.curve import curve
from paddlejob.ui.following import followed
from paddlejob.ui.logs import download, log_batches, wanted_logs
from paddlejob.ui.masking import masked
from paddlejob.ui.rows import At
from paddlejob.ui.security import Gate, Handler, add_headers
from paddlejob.ui.streams import Messages, streamed

STATIC = Path(__file__).parent / "static"
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
LARGEST_DRAFT = 1024 * 1024
T = TypeVar("T")
# What somebody sends that is no HTTP is answered, and nothing of it is written to the person's terminal.
_LOG = logging.getLogger(__name__)
_LOG.addFilter(lambda record: not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError)))
Around = Callable[[web.Request, Handler], Awaitable[web.StreamResponse]]


class PageOptions(msgspec.Struct, frozen=True, kw_only=True):
    host: str = "127.0.0.1"
    port: int = 0
    namespace: str | None = None
    read_only: bool = False


class PageServer:
    """Answers of the server."""

    def __init__(self, places: Mapping[str, Place], board: Board, options: PageOptions) -> None:
        self._places = places
        self._board = board
        self._options = options

    def routes(self, base: str) -> list[web.RouteDef]:
        found = [
            _get(f"{base}/api/about", self._about),
            _get(f"{base}/api/jobs", self._jobs),
            _get(f"{base}/api/job", self._job),
            _get(f"{base}/api/yaml", self._yaml),
            _get(f"{base}/api/logs", self._logs),
            _get(f"{base}/api/download", self._download),
            _get(f"{base}/api/curve", self._curve),
        ]
        if not self._options.read_only:
            found += [
                web.post(f"{base}/api/check", self._check),
                web.post(f"{base}/api/submit", self._submit),
                web.post(f"{base}/api/act", self._act),
            ]
        return found

    async def _about(self, _: web.Request) -> web.Response:
        places = [{"name": name, "namespace": one.namespace} for name, one in self._places.items()]
        return _json({"readOnly": self._options.read_only, "places": places})

    async def _jobs(self, request: web.Request) -> web.StreamResponse:
        async def messages() -> Messages:
            async with aclosing(self._board.page()) as news:
                async for one in news:
                    yield "jobs", one

        return await streamed(request, messages())

    async def _job(self, request: web.Request) -> web.StreamResponse:
        async def messages() -> Messages:
            at = _at(request)
            async with aclosing(followed(place_of(self._places, at.place), Key(*at[1:]))) as looks:
                async for one in looks:
                    yield one

        return await streamed(request, messages())

    async def _yaml(self, request: web.Request) -> web.Response:
        at = _at(request)
        found = await place_of(self._places, at.place).get(Key(*at[1:]))
        text = as_yaml(masked(without_managed_fields(document(found))), unicode=True)
        return web.Response(text=text, content_type="text/plain", charset="utf-8")

    async def _logs(self, request: web.Request) -> web.StreamResponse:
        async def messages() -> Messages:
            at = _at(request)
            place = place_of(self._places, at.place)
            job = (await place.get(Key(*at[1:]))).job
            async with aclosing(log_batches(place, job, wanted_logs(dict(request.query), follow=True))) as batches:
                async for one in batches:
                    yield one

        return await streamed(request, messages())

    async def _download(self, request: web.Request) -> web.StreamResponse:
        at = _at(request)
        place = place_of(self._places, at.place)
        job = (await place.get(Key(*at[1:]))).job
        return await download(request, place, job, wanted_logs(dict(request.query), follow=False))

    async def _curve(self, request: web.Request) -> web.Response:
        at = _at(request)
        place = place_of(self._places, at.place)
        return _json(await curve(place, (await place.get(Key(*at[1:]))).job))

    async def _check(self, request: web.Request) -> web.Response:
        return _json(await judge(self._places, await _read(request, Draft)))

    async def _submit(self, request: web.Request) -> web.Response:
        return _json(await submit(self._places, await _read(request, Draft)))

    async def _act(self, request: web.Request) -> web.Response:
        await act(self._places, await _read(request, Order))
        return _json({})


class Entrance(msgspec.Struct, frozen=True):
    """The address for a person, with its token, and one that opens once, for a browser that we start."""

    address: str
    once: str


@asynccontextmanager
async def serving(entered: Mapping[str, Place], options: PageOptions) -> AsyncGenerator[Entrance, None]:
    """Where the page is, for as long as the server runs."""
    gate = Gate(options.host)
    board = Board(tuple(entered.values()), options.namespace)
    app = web.Application(middlewares=[_middleware(gate.middleware), _middleware(_told)], client_max_size=LARGEST_DRAFT)
    app.on_response_prepare.append(add_headers)
    app.add_routes(PageServer(entered, board, options).routes(gate.base))
    app.add_routes([_get(f"{gate.base}/{name}", _file(body, kind)) for name, body, kind in _files()])
    runner = web.AppRunner(app, access_log=None, logger=_LOG, shutdown_timeout=0.5, handler_cancellation=True)
    await runner.setup()
    keeping = asyncio.ensure_future(board.run())
    try:
        port = await _listen(runner, options)
        shown = f"[{options.host}]" if ":" in options.host else options.host or "0.0.0.0"
        at = f"http://{shown}:{port}/?token="
        yield Entrance(at + gate.token, at + gate.ticket())
    finally:
        await cancelled_and_joined(keeping)
        await runner.cleanup()


async def _listen(runner: web.AppRunner, options: PageOptions) -> int:
    site = web.TCPSite(runner, options.host, options.port)
    try:
        await site.start()
    except OSError as error:
        said = f"cannot listen on {options.host}:{options.port}: {error.strerror}: choose another with --port or --host"
        raise errors.PaddleJobError(said) from error
    return int(runner.addresses[0][1])


def _get(path: str, handler: Handler) -> web.RouteDef:
    """Without HEAD: a stream would not end for whoever wants none of it."""
    return web.get(path, handler, allow_head=False)


def _middleware(around: Around) -> Middleware:
    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        return await around(request, handler)

    return middleware


async def _told(request: web.Request, handler: Handler) -> web.StreamResponse:
    """An error of ours is an answer that the page can show."""
    try:
        return await handler(request)
    except (errors.NotFound, errors.NoNamespace) as error:
        return _json({"error": str(error)}, status=404)
    except errors.PaddleJobError as error:
        return _json({"error": str(error)}, status=409)
    except web.HTTPRequestEntityTooLarge:
        most = f"{LARGEST_DRAFT // 1024 // 1024} MiB"
        return _json({"error": f"the page takes no more than {most}: use `paddlejob submit FILE`"}, status=413)


def _files() -> list[tuple[str, bytes, str]]:
    found = [(one.name, one.read_bytes(), KINDS[one.suffix]) for one in STATIC.iterdir() if one.suffix in KINDS]
    return [("" if name == "index.html" else name, body, kind) for name, body, kind in found]


def _file(body: bytes, kind: str) -> Handler:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=body, content_type=kind, charset="utf-8")

    return answer


def _json(value: object, status: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), status=status, content_type="application/json")


def _at(request: web.Request) -> At:
    try:
        return At(*(request.query[name] for name in At._fields))
    except KeyError as error:
        raise errors.Invalid(f"which job? {error} is missing") from error


async def _read(request: web.Request, kind: type[T]) -> T:
    """A form of another site cannot send this type: its browser would have to ask us first."""
    if request.content_type != "application/json":
        raise errors.Invalid("send JSON")
    try:
        return msgspec.json.decode(await request.read(), type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise errors.Invalid(f"cannot read the request: {error}") from error
