"""The campaign's own eyes: a watch of each kind straight to the API server, put in the order of the changes.

Versions of one etcd are counted for all kinds together, so changes of jobs and of pods have an order among each other.
"""

from __future__ import annotations

import heapq
import json
import ssl
import threading
import time
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPSConnection
from itertools import count

from tests.cluster.control_plane import ControlPlane
from tests.scenarios.desk import Json

# A change of one kind may reach us so much later than a later one of another kind.
SPREAD = 1.0


@dataclass(order=True, frozen=True)
class Change:
    version: int
    number: int
    kind: str = field(compare=False)  # in the plural
    type: str = field(compare=False)  # ADDED, MODIFIED or DELETED
    body: Json = field(compare=False)
    seen_at: float = field(compare=False)  # of the wall clock


class Watching:
    """Use as a context. `changes` gives what happened since the last call."""

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        core = f"/api/v1/namespaces/{namespace}"
        self._paths = {
            "paddlejobs": f"/apis/batch.paddlepaddle.org/v1/namespaces/{namespace}/paddlejobs",
            "pods": f"{core}/pods",
            "configmaps": f"{core}/configmaps",
        }
        self._plane = plane
        self._heap: list[Change] = []
        self._numbers = count()
        self._lock = threading.Lock()
        self._ended = False
        self._broken: list[str] = []
        self._troubles: list[str] = []

    def __enter__(self) -> Watching:
        for kind, path in self._paths.items():
            version = self._plane.api.get(path)["metadata"]["resourceVersion"]
            threading.Thread(target=self._watch, args=(kind, path, version), name=f"watch-{kind}", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True

    def changes(self, spread: float = SPREAD) -> list[Change]:
        """Those that are old enough to be sure that none before them is missing."""
        assert not self._broken, f"the campaign's own watch failed: {self._broken}"
        until = time.time() - spread
        found: list[Change] = []
        with self._lock:
            while self._heap and self._heap[0].seen_at <= until:
                found.append(heapq.heappop(self._heap))
        return found

    def _watch(self, kind: str, path: str, version: str) -> None:
        while not self._ended:
            try:
                version = self._follow(kind, path, version)
            except (OSError, HTTPException, ValueError) as error:
                time.sleep(0.1)  # the server is busy, or is being ended with the campaign
                self._troubles.append(f"{kind}: {error}")

    def _follow(self, kind: str, path: str, version: str) -> str:
        context = ssl.create_default_context(cafile=str(self._plane.layout.authority))
        connection = HTTPSConnection("127.0.0.1", self._plane.layout.port, timeout=120, context=context)
        ask = f"{path}?watch=1&resourceVersion={version}&allowWatchBookmarks=true&timeoutSeconds=3600"
        try:
            connection.request("GET", ask, headers={"Authorization": f"Bearer {self._plane.admin_token}"})
            response = connection.getresponse()
            while line := response.readline():
                event = json.loads(line)
                if event["type"] == "ERROR":
                    self._broken.append(f"{kind}: {event['object']}")
                    self._ended = True
                    return version
                version = event["object"]["metadata"]["resourceVersion"]
                if event["type"] != "BOOKMARK":
                    self._note(kind, event["type"], event["object"], int(version))
        finally:
            connection.close()
        return version

    def _note(self, kind: str, type_: str, body: Json, version: int) -> None:
        body["metadata"].pop("managedFields", None)
        with self._lock:
            heapq.heappush(self._heap, Change(version, next(self._numbers), kind, type_, body, time.time()))
