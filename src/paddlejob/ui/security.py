"""Who may ask the page's server anything: only a browser that was given the token, and only from the page itself.

The address that `paddlejob ui` prints holds the token; its first visit gets a cookie that no other site can send. A
browser that we start ourselves gets an address that opens once: everybody on this machine can read its command line.
Cookies know no ports, but they know paths: the page is at one that nobody guesses, so another server of this machine is
sent none. A foreign name in `Host` (DNS rebinding), a foreign `Origin` and requests that another site starts are
refused, whatever they bring along. The policy sent with every answer lets a page run our own files only, and no text
become markup.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
import socket
from collections.abc import Awaitable, Callable

from aiohttp import web

LOOPBACK = ("127.0.0.1", "localhost", "::1")
# A name or an address, and a port; nothing of what else could stand before a path.
_HOST = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::\d{1,5})?", re.IGNORECASE)
# A cookie that is strict does not come along while a browser follows another site's link, redirects included: from a
# page of our own it does. A page that names no icon is asked for one at a path of which the cookie is not.
_WAY_IN = """<!doctype html><html lang="en"><meta charset="utf-8"><title>PaddleJobs</title>
<link rel="icon" href="data:,">
<meta http-equiv="refresh" content="0; url={base}/"><a href="{base}/">PaddleJobs</a></html>
"""
EVERYWHERE = ("", "0.0.0.0", "::")

HEADERS = {
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data:",
            "connect-src 'self'",
            "form-action 'none'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def is_private(host: str) -> bool:
    """Whether only this machine can reach a server that listens there."""
    return host in LOOPBACK or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


class Gate:
    """The token of one server, and the names by which it may be called."""

    def __init__(self, host: str) -> None:
        self.token = secrets.token_urlsafe(24)
        self.base = f"/{secrets.token_urlsafe(12)}"
        self._tickets: set[str] = set()
        self._host = host
        self.cookie = f"paddlejob-{secrets.token_hex(4)}"  # of two servers each has its own

    def ticket(self) -> str:
        """A token that opens once."""
        made = secrets.token_urlsafe(24)
        self._tickets.add(made)
        return made

    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if refusal := self._refusal(request):
            return web.Response(status=403, text=f"{refusal}\n")
        if not self._knows(request.cookies.get(self.cookie, "")):
            return self._enter(request)
        return await handler(request)

    def _refusal(self, request: web.Request) -> str:
        host = request.headers.get("Host", "")
        if not self._is_ours(host):
            return "this server does not go by that name"
        origin = request.headers.get("Origin")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return "another site may not ask this server"
        # A browser says who started a request; `none` is the person. Who follows a link to the token is let in below.
        if request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none") and not _is_visit(request):
            return "another site may not ask this server"
        return ""

    def _is_ours(self, host: str) -> bool:
        """A name that somebody's DNS leads here is none of ours. Ports do not count: they may be forwarded."""
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        name = (found["v6"] or found["name"]).lower()
        if name in LOOPBACK or name == self._host.lower():
            return True
        return self._host in EVERYWHERE and (_is_address(name) or name == socket.gethostname().lower())

    def _enter(self, request: web.Request) -> web.StreamResponse:
        if request.method != "GET" or request.path != "/" or not self._opens(request.query.get("token", "")):
            said = "Open the address that `paddlejob ui` printed: it holds the token without which nothing is shown."
            return web.Response(status=403, text=f"{said}\n")
        # The token does not stay in the address, where a screenshot would show it.
        if request.headers.get("Sec-Fetch-Site", "none") == "none":
            answer = web.Response(status=303, headers={"Location": f"{self.base}/"})
        else:
            page = _WAY_IN.format(base=self.base)
            answer = web.Response(text=page, content_type="text/html", charset="utf-8")
        answer.set_cookie(self.cookie, self.token, httponly=True, samesite="Strict", path=f"{self.base}/")
        return answer

    def _opens(self, token: str) -> bool:
        if token in self._tickets:
            self._tickets.discard(token)
            return True
        return self._knows(token)

    def _knows(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(errors="surrogateescape"), self.token.encode())


async def add_headers(_: web.Request, response: web.StreamResponse) -> None:
    """To every answer, refusals included, before it is sent."""
    response.headers.update(HEADERS)
    response.headers.pop("Server", None)


def _is_visit(request: web.Request) -> bool:
    """A link to the page itself, which shows nothing without the token or the cookie; never a call."""
    return request.method == "GET" and request.path == "/" and request.headers.get("Sec-Fetch-Mode") == "navigate"


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
