"""Every version of some objects that the API server ever served, in the order in which it made them.

All are in one etcd, whose revisions count every change: versions of different kinds can be compared, too.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse, HTTPSConnection
from typing import Any

from tests.cluster.control_plane import ControlPlane
from tests.cluster.waiting import wait_until

Json = dict[str, Any]


@dataclass(frozen=True)
class Change:
    version: int
    path: str
    gone: bool
    thing: Json

    @property
    def name(self) -> str:
        return str(self.thing["metadata"]["name"])


class History:
    """Use as a context. `paths` are collections, such as /api/v1/namespaces/team/pods."""

    def __init__(self, control_plane: ControlPlane, *paths: str) -> None:
        self._control_plane = control_plane
        self._seen: list[Change] = []
        self._connections = {path: self._connect() for path in paths}
        self._threads = [
            threading.Thread(target=self._read, args=[path, self._ask(path)], daemon=True) for path in paths
        ]

    def __enter__(self) -> History:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._connections.values():
            if connection.sock is not None:
                connection.sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
        for connection in self._connections.values():
            connection.close()

    def changes(self) -> list[Change]:
        """All up to now."""
        wait_until(self._is_current)
        return sorted(self._seen, key=lambda one: one.version)

    def of(self, path: str) -> list[Change]:
        return [one for one in self.changes() if one.path == path]

    def _is_current(self) -> bool:
        """Whether all that is there now has been seen."""
        seen = {one.version for one in self._seen}
        return all(
            int(thing["metadata"]["resourceVersion"]) in seen
            for path in self._connections
            for thing in self._control_plane.api.get(path)["items"]
        )

    def _connect(self) -> HTTPSConnection:
        context = ssl.create_default_context(cafile=str(self._control_plane.layout.authority))
        return HTTPSConnection("127.0.0.1", self._control_plane.layout.port, timeout=600, context=context)

    def _ask(self, path: str) -> HTTPResponse:
        connection = self._connections[path]
        token = self._control_plane.admin_token
        connection.request("GET", f"{path}?watch=1", headers={"Authorization": f"Bearer {token}"})
        return connection.getresponse()

    def _read(self, path: str, response: HTTPResponse) -> None:
        try:
            for line in response:
                event = json.loads(line)
                version = int(event["object"]["metadata"]["resourceVersion"])
                self._seen.append(Change(version, path, event["type"] == "DELETED", event["object"]))
        except (OSError, HTTPException, ValueError):
            return  # the test is over
