"""A real Chromium, driven by Playwright, which is borrowed from an environment of its own (tools/environments.py)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cluster.waiting import TIMEOUT
from tools.chromium import chromium
from tools.environments import python_of

# Playwright is not in the environment that is type-checked.
Page = Any
Driver = Any

WIDE = {"width": 1280, "height": 800}
NARROW = {"width": 390, "height": 844}


@contextmanager
def a_browser() -> Iterator[Driver]:
    """For the tests of one file: while it is open, its loop is the thread's, and no other test could have one."""
    program, python = installed()
    folder = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    sys.path.append(folder)
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415 - it is borrowed just now

        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            yield browser
            browser.close()
    finally:
        sys.path.remove(folder)


def installed() -> tuple[str, str]:
    """The browser, and the Python that has what drives it; both are installed if they are missing."""
    return chromium(), str(python_of("browser", _silently))


def _silently(_: str) -> None: ...


class Visitor:
    """A person who looks at the page. What its scripts throw, and what its policy forbids, is kept in `errors`."""

    def __init__(self, browser: Driver, address: str, **options: Any) -> None:
        asked = {"viewport": WIDE, "locale": "en-US", "color_scheme": "light", "reduced_motion": "reduce", **options}
        self._context = browser.new_context(**asked, accept_downloads=True)
        self._context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.page: Page = self._context.new_page()
        self.page.set_default_timeout(TIMEOUT * 1000)
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._heard)
        self.page.goto(address)

    def _heard(self, message: Any) -> None:
        # No mistake of the page: a server that was ended does not answer, and a refusal is told in words.
        if message.type == "error" and not any(one in message.text for one in ("net::ERR_", "status of 409")):
            self.errors.append(message.text)

    def job(self, name: str) -> None:
        """Opens it from the list."""
        self.page.get_by_role("link", name=name, exact=True).click()
        self.page.get_by_role("heading", name=name, level=1).wait_for()

    def tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=name).click()

    def sees(self, text: str) -> Any:
        found = self.page.get_by_text(text).first
        found.wait_for()
        return found

    def keep(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(path))

    def close(self) -> None:
        self._context.close()
