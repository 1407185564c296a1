"""The smallest client of the API server that tests need: JSON in, JSON out.

It is not the client under test: a test looks at the cluster with other eyes than the operator's. Whoever waits reads
again and again, so connections are kept for reading; a write, which may not be sent twice, gets one of its own.
"""

import json
import ssl
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any

Answer = tuple[int, str]
"""A status and a text."""


class ApiError(Exception):
    """The server answered with an error, or not at all (code 0)."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class Api:
    def __init__(self, port: int, token: str, authority: Path) -> None:
        self._port = port
        self._token = token
        self._authority = authority
        self._context: ssl.SSLContext | None = None
        self._idle: list[HTTPSConnection] = []  # one, or a few when several threads ask

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def get(self, path: str) -> Any:
        return self.call("GET", path)

    def post(self, path: str, body: object) -> Any:
        return self.call("POST", path, body)

    def merge(self, path: str, body: object) -> Any:
        """Patches with a JSON merge patch."""
        return self.call("PATCH", path, body, "application/merge-patch+json")

    def delete(self, path: str, **options: object) -> Any:
        return self.call("DELETE", path, options or None)

    def call(self, method: str, path: str, body: object = None, kind: str = "application/json") -> Any:
        text = self.text(method, path, None if body is None else json.dumps(body), kind)
        return json.loads(text)

    def text(self, method: str, path: str, body: str | None = None, kind: str = "application/json") -> str:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": kind, "Accept": "application/json"}
        try:
            again = method == "GET" or "dryRun=All" in path  # changes nothing, however often it is sent
            response = self._kept(method, path, body, headers) if again else None
            response = response or self._fresh(method, path, body, headers)
        except (OSError, HTTPException) as error:
            raise ApiError(0, f"{method} {path}: {error}") from error
        status, text = response
        if status >= 400:
            raise ApiError(status, f"{method} {path}: {text.strip()}")
        return text

    def _kept(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> Answer | None:
        """By a connection that served before; None if there is none that still does."""
        while self._idle:
            try:
                return self._ask(self._idle.pop(), method, path, body, headers)
            except (OSError, HTTPException):
                continue  # the server has closed it since
        return None

    def _fresh(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> Answer:
        connection = HTTPSConnection("127.0.0.1", self._port, timeout=30, context=self._trust())
        return self._ask(connection, method, path, body, headers)

    def _ask(
        self, connection: HTTPSConnection, method: str, path: str, body: str | None, headers: dict[str, str]
    ) -> Answer:
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            text = response.read().decode()
        except BaseException:
            connection.close()
            raise
        if self._idle:
            connection.close()
        else:
            self._idle.append(connection)
        return response.status, text

    def _trust(self) -> ssl.SSLContext:
        """The server makes its certificate at its first start, so it is read at the first call."""
        if self._context is None:
            self._context = ssl.create_default_context(cafile=str(self._authority))
        return self._context
