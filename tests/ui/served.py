"""`paddlejob ui` as a person starts it, and questions to it that no browser of ours would ask."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

from tests.cluster.waiting import TIMEOUT, wait_until

ADDRESS = re.compile(r"http://\S+/\?token=(\S+)")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: str


@dataclass
class Served:
    """`address` is what it printed."""

    address: str
    pid: int
    said: Path

    @property
    def token(self) -> str:
        found = ADDRESS.search(self.address)
        assert found
        return found[1]

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc

    @cached_property
    def _entrance(self) -> Answer:
        """What a browser gets at its first visit."""
        answer = self.ask("GET", f"/?token={self.token}")
        assert answer.status == 303, answer
        return answer

    def cookie(self) -> str:
        return self._entrance.headers["Set-Cookie"].partition(";")[0]

    def path(self, said: str) -> str:
        """`~` stands for where the page is."""
        return said.replace("~/", self._entrance.headers["Location"], 1) if said.startswith("~/") else said

    def ask(self, method: str, path: str, body: str | None = None, **headers: str) -> Answer:
        """One request, exactly as given; header names are written with underscores. Of a stream, the first message."""
        connection = http.client.HTTPConnection(self.host, timeout=TIMEOUT)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.putrequest(method, self.path(path), skip_host="Host" in named)
            for name, value in named.items():
                connection.putheader(name, value.encode())
            if body is not None:
                connection.putheader("Content-Length", str(len(body.encode())))
            connection.endheaders(body.encode() if body is not None else None)
            answer = connection.getresponse()
            stream = answer.headers.get("Content-Type") == "text/event-stream"
            text = (answer.read1() if stream else answer.read()).decode()
            while stream and "\ndata:" not in text and (more := answer.read1()):
                text += more.decode()
            return Answer(answer.status, dict(answer.headers), text)
        finally:
            connection.close()

    def act(self, order: Mapping[str, object]) -> Answer:
        body = json.dumps(order)
        return self.ask("POST", "~/api/act", body, Cookie=self.cookie(), Content_Type="application/json")

    def raw(self, request: bytes) -> bytes:
        """The beginning of the answer to what may be no request at all."""
        host, _, port = self.host.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=TIMEOUT) as connection:
            connection.sendall(request)
            return connection.recv(65536)


@contextmanager
def serving(env: Mapping[str, str], folder: Path, *args: str, browser: bool = False) -> Iterator[Served]:
    """Ended, as by Ctrl-C, with the block."""
    said = folder / "said"
    with said.open("wb") as output:
        command = [sys.executable, "-m", "paddlejob", "ui", *([] if browser else ["--no-browser"]), *args]
        process = subprocess.Popen(command, env=dict(env), stdout=output, stderr=output)

    def printed() -> re.Match[str] | None:
        assert process.poll() is None, said.read_text()
        return ADDRESS.search(said.read_text())

    try:
        found = wait_until(printed)
        assert found is not None
        yield Served(found[0], process.pid, said)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=TIMEOUT) == 0, said.read_text()
        assert "Traceback" not in said.read_text(), said.read_text()
    finally:
        process.kill()
        process.wait()
