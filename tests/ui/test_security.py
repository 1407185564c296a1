"""Attacks on the page's server, each as somebody else's page or program would try it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.ui.conftest import Visit
from tests.ui.laptop import Laptop
from tests.ui.served import Served, serving

ASKED = json.dumps({"place": "machine", "namespace": "default", "name": "hello", "uid": "x", "do": "delete"})


@pytest.fixture(scope="module")
def cookie(served: Served) -> str:
    return served.cookie()


FOREIGN = (
    "evil.example",
    "evil.example:80",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "0.0.0.0",
    "[::2]",
    "[::1",
    "::1",
    "127.0.0.1@evil.example",
    "evil.example@127.0.0.1",
    "evil.example#@127.0.0.1",
    "127.0.0.1/evil.example",
    "127.0.0.1:evil",
    "中",
    "℀.example",
    "",
)


@pytest.mark.parametrize("host", FOREIGN)
def test_a_foreign_name_for_our_address_is_refused_even_with_the_cookie(served: Served, cookie: str, host: str) -> None:
    """DNS rebinding: a name of somebody else's leads to 127.0.0.1."""
    assert served.ask("GET", "~/api/about", Host=host, Cookie=cookie).status == 403
    entered = served.ask("GET", f"/?token={served.token}", Host=host)
    assert (entered.status, "Set-Cookie" in entered.headers) == (403, False)


@pytest.mark.parametrize("host", ["localhost:9000", "127.0.0.1:9000", "[::1]:9000"])
def test_a_forwarded_port_of_this_machine_is_let_in(served: Served, cookie: str, host: str) -> None:
    assert served.ask("GET", "~/api/about", Host=host, Cookie=cookie).status == 200


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
    path = "~/api/act" if method == "POST" else "~/api/about"
    body = ASKED if method == "POST" else None
    answer = served.ask(method, path, body, Cookie=cookie, Content_Type="application/json", **headers)
    assert (answer.status, answer.body) == (403, "another site may not ask this server\n")
    assert "hello" in laptop.names()


def test_what_a_form_can_send_is_no_request(served: Served, cookie: str) -> None:
    answer = served.ask("POST", "~/api/act", ASKED, Cookie=cookie, Content_Type="text/plain")
    assert (answer.status, json.loads(answer.body)) == (409, {"error": "send JSON"})


def test_a_job_of_the_same_name_that_is_another_is_not_touched(served: Served, laptop: Laptop, cookie: str) -> None:
    answer = served.ask("POST", "~/api/act", ASKED, Cookie=cookie, Content_Type="application/json")
    assert "is another job now" in answer.body
    assert "hello" in laptop.names()


TRAVERSALS = (
    "~/../server.py",
    "~/%2e%2e/server.py",
    "~/..%2fserver.py",
    "~/static/../../server.py",
    "~/main.js/../../server.py",
    "//etc/passwd",
    "/%2fetc%2fpasswd",
    "~/types.d.ts",
    "~/index.html",
)


@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_path_leads_out_of_the_page(served: Served, cookie: str, path: str) -> None:
    answer = served.ask("GET", path, Cookie=cookie)
    assert answer.status == 404
    assert "import" not in answer.body


@pytest.mark.parametrize("path", ["~/api/jobs", "~/api/job", "~/api/logs", "~/api/download", "/ws"])
def test_neither_a_stream_nor_a_web_socket_opens_without_the_token(served: Served, path: str) -> None:
    knock = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13"}
    assert served.ask("GET", path, Accept="text/event-stream").status == 403
    assert served.ask("GET", path, **knock, Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==").status == 403


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE"])
@pytest.mark.parametrize("path", ["~/", "~/api/jobs", "~/api/act"])
def test_other_methods_do_and_show_nothing(served: Served, cookie: str, method: str, path: str) -> None:
    answer = served.ask(method, path, Cookie=cookie)
    assert (answer.status, "hello" in answer.body) == (405, False)
    assert "Access-Control-Allow-Origin" not in answer.headers
    entered = served.ask(method, f"/?token={served.token}")
    assert (entered.status, "Set-Cookie" in entered.headers) == (403, False)


def test_what_is_no_http_is_answered_and_does_not_reach_the_terminal(served: Served, cookie: str) -> None:
    before = served.said.read_text()
    name = cookie.partition("=")[0].encode()
    at_home = b"Host: 127.0.0.1\r\n"
    for request, status in (
        (b"GET / HTTP/1.1\r\n" + at_home + b"X: " + b"a" * 20_000 + b"\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\n" + at_home + b"Host: evil.example\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\n" + at_home + b"Cookie: " + name + b"=\xff\xfe\r\n\r\n", b"403"),
        (b"GET /?token=%ff%ed%a0%80 HTTP/1.1\r\n" + at_home + b"\r\n", b"403"),
        (b"GET /\xff\x1b[31m HTTP/1.1\r\n" + at_home + b"\r\n", b"400"),
        (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", b"400"),
    ):
        assert served.raw(request).split()[1] == status, request[:60]
    assert served.said.read_text() == before


BODIES = {
    "too large": (f'{{"place": "machine", "text": "{"a" * 1024 * 1024}"}}', 413, "no more than 1 MiB"),
    "no JSON": ("a: b", 409, "cannot read the request"),
    "another shape": ("[]", 409, "cannot read the request"),
    "deep": ('{"x": ' + "[" * 200_000, 409, "cannot read the request"),
    "half a character": ('{"place": "machine", "text": "\\ud800"}', 409, "cannot read the request"),
    "another place": ('{"place": "../etc", "text": "a: b"}', 200, "apiVersion is missing"),
}


@pytest.mark.parametrize(("body", "status", "told"), BODIES.values(), ids=BODIES)
def test_a_body_that_is_none_is_refused_in_words(
    served: Served, cookie: str, body: str, status: int, told: str
) -> None:
    answer = served.ask("POST", "~/api/check", body, Cookie=cookie, Content_Type="application/json")
    assert answer.status == status
    assert told in answer.body
    assert "Traceback" not in served.said.read_text()


def test_a_draft_that_stands_for_billions_is_refused_at_once(served: Served, cookie: str) -> None:
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))]
    text = "kind: Foo\napiVersion: v1\nmetadata: {name: x}\n" + "\n".join(lines)
    for path in ("~/api/check", "~/api/submit"):
        body = json.dumps({"place": "machine", "text": text})
        answer = served.ask("POST", path, body, Cookie=cookie, Content_Type="application/json")
        (mistake,) = json.loads(answer.body)["mistakes"]
        assert (mistake["line"], mistake["text"][:18]) == (9, "its aliases repeat")


NOWHERE = ("namespace=..&name=..", "namespace=default&name=..%2F..", "namespace=%2Fetc&name=passwd", "namespace=&name=")


@pytest.mark.parametrize("where", NOWHERE)
@pytest.mark.parametrize("path", ["yaml", "download", "logs", "job"])
def test_no_name_of_a_job_leads_out_of_the_jobs(served: Served, cookie: str, path: str, where: str) -> None:
    answer = served.ask("GET", f"~/api/{path}?place=machine&{where}", Cookie=cookie)
    assert "cannot be the name of a" in answer.body


@pytest.mark.parametrize("asked", ["role=root", "index=x", "index=" + "9" * 5000, "tail=-x"])
def test_logs_that_cannot_be_meant_are_refused(served: Served, cookie: str, asked: str) -> None:
    where = "place=machine&namespace=default&name=hello"
    assert served.ask("GET", f"~/api/download?{where}&{asked}", Cookie=cookie).status == 409


@pytest.mark.parametrize("path", ["/", "~/", "~/main.js", "~/api/about", "/nowhere"])
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
    assert "form-action 'none'; base-uri 'none'" in policy
    assert headers["Referrer-Policy"] == "no-referrer"
    assert (headers["X-Frame-Options"], headers["Cross-Origin-Resource-Policy"]) == ("DENY", "same-origin")
    assert (headers["X-Content-Type-Options"], headers["Cache-Control"]) == ("nosniff", "no-store")
    assert "Server" not in headers


def test_with_read_only_nothing_can_be_changed(laptop: Laptop, tmp_path: Path, visit: Visit) -> None:
    with serving(laptop.env, tmp_path, "--read-only") as shown:
        cookie = shown.cookie()
        for path in ("~/api/act", "~/api/submit", "~/api/check"):
            asked = shown.ask("POST", path, ASKED, Cookie=cookie, Content_Type="application/json")
            assert asked.status == 404
        page = visit(shown.address)
        page.job("hello")
        page.sees("Completed")
        assert page.page.get_by_role("button", name="Delete").count() == 0
        assert page.page.get_by_role("link", name="New job").count() == 0


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
