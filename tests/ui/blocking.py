"""How long a page's main thread worked without a pause: nothing that a person does is answered meanwhile.

It is the thread's own time that counts. On the clock, every task takes as long as other programs of the machine like.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.ui.browser import Visitor

MAIN = "CrRendererMain"
TASK = "ThreadControllerImpl::RunTask"


@dataclass
class Blocked:
    """`ms`: by one task at most."""

    ms: float = 0.0
    tasks: int = 0


@contextmanager
def watched(page: Visitor, found: Blocked) -> Iterator[Blocked]:
    """Adds to `found` what happens in the block."""
    browser = page.page.context.browser
    browser.start_tracing(page=page.page, categories=["toplevel"])
    try:
        yield found
    finally:
        told = json.loads(browser.stop_tracing())["traceEvents"]
        named = [one for one in told if one["name"] == "thread_name" and one["args"]["name"] == MAIN]
        threads = {(one["pid"], one["tid"]) for one in named}
        for one in told:
            if one["name"] == TASK and (one["pid"], one["tid"]) in threads:
                found.tasks += 1
                found.ms = max(found.ms, one.get("tdur", 0) / 1000)
