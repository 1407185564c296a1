"""`paddlejob ui`: the jobs of this machine and of the cluster in a browser, with the person's own rights."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import webbrowser
from contextlib import AsyncExitStack
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from paddlejob.cli.output import note
from paddlejob.cli.where import ANYWHERE, Where
from paddlejob.errors import PaddleJobError
from paddlejob.places.place import Place
from paddlejob.ui.rows import name_of
from paddlejob.ui.security import is_private
from paddlejob.ui.server import PageOptions, serving


def ui(
    *,
    where: Where = ANYWHERE,
    port: Annotated[
        int, Parameter(help="Port to listen on; any free one by default.", validator=Number(gte=0, lte=65535))
    ] = 0,
    host: Annotated[str, Parameter(help="Address to listen on.")] = "127.0.0.1",
    read_only: Annotated[bool, Parameter(help="Only show jobs; do not let the page change anything.")] = False,
    browser: Annotated[bool, Parameter(help="Open the page in your browser.", negative="--no-browser")] = True,
) -> None:
    """Show jobs in your browser: a list, each job's time line, pods, logs and YAML, always up to date.

    Example: paddlejob ui
    """
    options = PageOptions(host=host, port=port, namespace=where.namespace, read_only=read_only)
    asyncio.run(_serve(where, options, browser=browser))


async def _serve(where: Where, options: PageOptions, *, browser: bool) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with AsyncExitStack() as stack:
        places = await _entered(where, stack)
        entrance = await stack.enter_async_context(serving(places, options))
        if not is_private(options.host):
            note(
                f"others can reach {options.host}: whoever has the address below may do with the jobs what you may, and"
                " it travels unencrypted"
            )
        print(f"{entrance.address}\n(Ctrl-C ends it)", flush=True)
        if browser and _has_screen():
            webbrowser.open(entrance.once)
        await ended.wait()


async def _entered(where: Where, stack: AsyncExitStack) -> dict[str, Place]:
    """A cluster that nobody asked for by name may be misconfigured: then this machine's jobs are shown."""
    places: dict[str, Place] = {}
    for enter in where.places:
        try:
            place = await stack.enter_async_context(enter())
        except PaddleJobError as error:
            if not places:
                raise
            note(str(error))
            continue
        places[name_of(place)] = place
    return places


def _has_screen() -> bool:
    """Without one Python would start a browser for terminals, in this one."""
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
