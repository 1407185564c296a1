"""Attacks on the page's server, each as somebody else's page or program would try it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.ui.conftest import Visit
from tests.ui.laptop import Laptop
from tests.ui.served import Served, serving

PATHS = ("/", "/main.js", "/api/about", "/api/jobs", "/api/yaml?place=machine&namespace=default&name=hello")
ASKED = json.dumps({"place": "machine", "namespace": "default", "name": "hello", "uid": "x", "do": "delete"})


@pytest.fixture(scope="module")
def cookie(served: Served) -> str:
    return served.cookie()


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
    assert (answer.status, answer.headers["Location"]) == (303, "/")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(answer.headers["Set-Cookie"].split("; "))


FOREIGN = ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "[::2]", "")


@pytest.mark.parametrize("host", FOREIGN)
def test_a_foreign_name_for_our_address_is_refused_even_with_the_cookie(served: Served, cookie: str, host: str) -> None:
    """DNS rebinding: a name of somebody else's leads to 127.0.0.1."""
    assert served.ask("GET", "/api/about", Host=host, Cookie=cookie).status in (400, 403)
    assert served.ask("GET", f"/?token={served.token}", Host=host).status in (400, 403)


@pytest.mark.parametrize("host", ["localhost:9000", "127.0.0.1:9000", "[::1]:9000"])
def test_a_forwarded_port_of_this_machine_is_let_in(served: Served, cookie: str, host: str) -> None:
    assert served.ask("GET", "/api/about", Host=host, Cookie=cookie).status == 200


CROSS_SITE = {
    "another site": {"Origin": "https://evil.example"},
    "another server of this machine": {"Origin": "http://127.0.0.1:1"},
    "a sandbox": {"Origin": "null"},
    "a browser that says so": {"Sec_Fetch_Site": "cross-site"},
    "a browser that says it is near": {"Sec_Fetch_Site": "same-site"},
}


@pytest.mark.parametrize("headers", CROSS_SITE.values(), ids=CROSS_SITE)
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_a_request_that_another_site_starts_is_refused_even_with_the_cookie(
    served: Served, laptop: Laptop, cookie: str, method: str, headers: dict[str, str]
) -> None:
    path = "/api/act" if method == "POST" else "/api/about"
    body = ASKED if method == "POST" else None
    answer = served.ask(method, path, body, Cookie=cookie, Content_Type="application/json", **headers)
    assert (answer.status, answer.body) == (403, "another site may not ask this server\n")
    assert "hello" in laptop.names()


def test_what_a_form_can_send_is_no_request(served: Served, cookie: str) -> None:
    answer = served.ask("POST", "/api/act", ASKED, Cookie=cookie, Content_Type="text/plain")
    assert (answer.status, json.loads(answer.body)) == (409, {"error": "send JSON"})


def test_a_job_of_the_same_name_that_is_another_is_not_touched(served: Served, laptop: Laptop, cookie: str) -> None:
    answer = served.ask("POST", "/api/act", ASKED, Cookie=cookie, Content_Type="application/json")
    assert "is another job now" in answer.body
    assert "hello" in laptop.names()


TRAVERSALS = (
    "/../server.py",
    "/%2e%2e/server.py",
    "/..%2fserver.py",
    "/static/../../server.py",
    "/main.js/../../server.py",
    "//etc/passwd",
    "/%2fetc%2fpasswd",
    "/types.d.ts",
    "/index.html",
)


@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_path_leads_out_of_the_page(served: Served, cookie: str, path: str) -> None:
    answer = served.ask("GET", path, Cookie=cookie)
    assert answer.status == 404
    assert "import" not in answer.body


@pytest.mark.parametrize("path", ["/api/jobs", "/api/job", "/api/logs", "/ws"])
def test_neither_a_stream_nor_a_web_socket_opens_without_the_token(served: Served, path: str) -> None:
    knock = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13"}
    assert served.ask("GET", path, Accept="text/event-stream").status == 403
    assert served.ask("GET", path, **knock, Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==").status == 403


@pytest.mark.parametrize("path", ["/", "/main.js", "/api/about", "/nowhere"])
@pytest.mark.parametrize("known", [True, False])
def test_every_answer_forbids_inline_scripts_framing_and_guessing(
    served: Served, cookie: str, path: str, known: bool
) -> None:
    headers = served.ask("GET", path, **({"Cookie": cookie} if known else {})).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'; script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert (headers["X-Content-Type-Options"], headers["Cache-Control"]) == ("nosniff", "no-store")
    assert "Server" not in headers


def test_with_read_only_nothing_can_be_changed(laptop: Laptop, tmp_path: Path, visit: Visit) -> None:
    with serving(laptop.env, tmp_path, "--read-only") as shown:
        cookie = shown.cookie()
        for path in ("/api/act", "/api/submit", "/api/check"):
            asked = shown.ask("POST", path, ASKED, Cookie=cookie, Content_Type="application/json")
            assert asked.status == 404
        page = visit(shown.address)
        page.job("hello")
        page.sees("Completed")
        assert page.page.get_by_role("button", name="Delete").count() == 0
        assert page.page.get_by_role("link", name="New job").count() == 0


def test_only_this_machine_is_served_unless_asked_for_and_then_with_a_warning(laptop: Laptop, tmp_path: Path) -> None:
    with serving(laptop.env, tmp_path) as private:
        assert private.address.startswith("http://127.0.0.1:")
        assert "others can reach" not in private.said.read_text()
    with serving(laptop.env, tmp_path, "--host", "0.0.0.0") as public:
        assert re.search(r"others can reach 0\.0\.0\.0: .* unencrypted", public.said.read_text())
        cookie = public.cookie()
        assert public.ask("GET", "/api/about", Host="10.1.2.3:80", Cookie=cookie).status == 200
        assert public.ask("GET", "/api/about", Host="evil.example", Cookie=cookie).status == 403


def test_nothing_that_a_job_or_pod_says_becomes_markup(laptop: Laptop, tmp_path: Path, visit: Visit) -> None:
    """A name, a reason, an event and a log line, each with a script; the name by a hand in the state on disk."""
    evil = "<img src=x onerror=\"document.title='pwned'\"><script>document.title='pwned'</script>"
    laptop.submit("evil", f"echo '{evil}'; exit 4")
    state = laptop.bench.ended("evil")
    path = laptop.bench.state_root / "default" / "evil" / "state.json"
    raw = json.loads(path.read_text())
    raw["job"]["metadata"]["labels"] = {"x": evil}
    raw["job"]["status"]["message"] = evil
    raw["job"]["status"]["reason"] = evil
    raw["job"]["status"]["failure"]["message"] = evil
    raw["events"].append({"at": raw["events"][-1]["at"], "type": "Warning", "reason": evil, "note": evil})
    path.write_text(json.dumps(raw))
    assert state.job.metadata.name == "evil"
    with serving(laptop.env, tmp_path) as shown:
        page = visit(shown.address)
        page.sees(evil)
        page.job("evil")
        page.sees(f"Stalled: {evil}")
        page.tab("Logs")
        page.sees(evil)
        page.tab("YAML")
        page.sees("x: <img src=x")
        raw["job"]["metadata"]["name"] = evil
        path.write_text(json.dumps(raw))
        page.page.keyboard.press("Escape")
        page.page.get_by_role("link", name=evil).wait_for()
        assert page.page.title() != "pwned"
        assert page.page.locator("img, main script").count() == 0
    raw["job"]["metadata"]["name"] = "evil"
    path.write_text(json.dumps(raw))
