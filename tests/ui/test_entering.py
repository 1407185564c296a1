"""Who gets in: by the token once, by the cookie afterwards, and from where."""

from __future__ import annotations

import re
import socket
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cluster.waiting import TIMEOUT, wait_until
from tests.ui.conftest import Visit
from tests.ui.laptop import Laptop
from tests.ui.served import Served, serving

PATHS = ("/", "~/", "~/main.js", "~/api/about", "~/api/jobs", "~/api/yaml?place=machine&namespace=default&name=hello")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("cookies", ["", "paddlejob-00000000=guess", "token=guess"])
def test_without_the_token_nothing_is_shown(served: Served, path: str, cookies: str) -> None:
    answer = served.ask("GET", path, **({"Cookie": cookies} if cookies else {}))
    assert answer.status == 403
    assert "hello" not in answer.body


WRONG = {"none": "", "empty": "?token=", "guessed": "?token=guess", "not ASCII": "?token=%E4%B8%AD"}


@pytest.mark.parametrize("query", WRONG.values(), ids=WRONG)
def test_a_missing_or_wrong_token_opens_nothing_and_says_what_to_do(served: Served, query: str) -> None:
    answer = served.ask("GET", f"/{query}")
    assert (answer.status, "Set-Cookie" in answer.headers) == (403, False)
    assert "Open the address that `paddlejob ui` printed" in answer.body


def test_the_token_becomes_a_strict_cookie_and_leaves_the_address(served: Served) -> None:
    answer = served.ask("GET", f"/?token={served.token}")
    page = answer.headers["Location"]
    assert (answer.status, served.token in page, len(page) > 16) == (303, False, True)
    assert {"HttpOnly", "SameSite=Strict", f"Path={page}"} <= set(answer.headers["Set-Cookie"].split("; "))


def test_a_link_on_another_site_opens_the_page_and_leaves_no_token_behind(served: Served, visit: Visit) -> None:
    """A terminal in a browser shows the address as a link. Strict cookies do not come along while it is followed."""
    page = visit("about:blank").page
    page.set_content(f"<a href='{served.address}'>open</a>")
    asked: list[tuple[str, str | None]] = []
    page.on("request", lambda one: asked.append((one.url, one.headers.get("referer"))))
    page.get_by_role("link", name="open").click()
    page.get_by_role("link", name="hello", exact=True).wait_for()
    assert served.token not in page.url
    assert len(asked) > 5
    assert {referer or None for _, referer in asked} == {None}
    assert [url for url, _ in asked if served.token in url] == [served.address]
    assert served.token not in page.evaluate("() => JSON.stringify({...localStorage, ...sessionStorage})")
    assert page.evaluate("() => document.cookie") == ""


def test_who_comes_by_a_link_is_asked_for_no_icon_that_would_be_refused(served: Served) -> None:
    answer = served.ask("GET", f"/?token={served.token}", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate")
    assert (answer.status, '<link rel="icon" href="data:,">' in answer.body) == (200, True)


def test_another_server_of_this_machine_is_not_sent_the_cookie(served: Served, visit: Visit) -> None:
    """Cookies know no ports: a server of somebody else's on 127.0.0.1 would get it, too."""
    page = visit(served.address).page
    page.get_by_role("link", name="hello", exact=True).wait_for()
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        page.evaluate("port => { location.href = `http://127.0.0.1:${port}/api/jobs`; }", port)
        other.settimeout(TIMEOUT)
        connection, _ = other.accept()
        with connection:
            asked = connection.recv(65536).decode()
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    assert "GET /api/jobs HTTP/1.1" in asked
    assert "cookie" not in asked.lower()


def test_the_token_is_said_once_and_on_no_command_line(served: Served) -> None:
    assert served.said.read_text().count(served.token) == 1
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended meanwhile
            assert served.token.encode() not in path.read_bytes()


def test_a_browser_that_we_start_gets_an_address_that_opens_once(laptop: Laptop, tmp_path: Path) -> None:
    """Everybody on this machine can read its command line."""
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/opened.part; mv {tmp_path}/opened.part {tmp_path}/opened\n')
    browser.chmod(0o755)
    env = {**laptop.env, "DISPLAY": ":0", "BROWSER": f"{browser} %s"}
    with serving(env, tmp_path, browser=True) as shown:
        wait_until((tmp_path / "opened").exists)
        opened = (tmp_path / "opened").read_text().strip()
        assert shown.token not in opened
        path = opened.removeprefix(f"http://{shown.host}")
        assert [shown.ask("GET", path).status for _ in range(2)] == [303, 403]
        assert shown.ask("GET", f"/?token={shown.token}").status == 303


def test_only_this_machine_is_served_unless_asked_for_and_then_with_a_warning(laptop: Laptop, tmp_path: Path) -> None:
    with serving(laptop.env, tmp_path) as private:
        assert private.address.startswith("http://127.0.0.1:")
        assert "others can reach" not in private.said.read_text()
        assert reachable(private) == []
    with serving(laptop.env, tmp_path, "--host", "127.0.0.2") as near:
        assert "others can reach" not in near.said.read_text()
    with serving(laptop.env, tmp_path, "--host", "0.0.0.0") as public:
        assert re.search(r"others can reach 0\.0\.0\.0: .* unencrypted", public.said.read_text())
        cookie = public.cookie()
        assert public.ask("GET", "~/api/about", Host="10.1.2.3:80", Cookie=cookie).status == 200
        assert public.ask("GET", "~/api/about", Host="evil.example", Cookie=cookie).status == 403
        assert reachable(public) == OTHERS


# Addresses of this machine that a server on 127.0.0.1 does not have.
OTHERS = ["127.0.0.2", "127.1.2.3"]


def reachable(served: Served) -> list[str]:
    port = int(served.host.rpartition(":")[2])
    found = []
    for host in OTHERS:
        with socket.socket() as knock:
            if knock.connect_ex((host, port)) == 0:
                found.append(host)
    return found
