"""Records every version of a job's status that the API server ever served, in order, by a watch of its own."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from http.client import HTTPException, HTTPResponse, HTTPSConnection

from tests.cluster.control_plane import ControlPlane


class Recorder:
    """Use as a context: what it saw is in `phases`, without repetitions."""

    def __init__(self, control_plane: ControlPlane, namespace: str) -> None:
        self.phases: dict[str, list[str]] = {}
        context = ssl.create_default_context(cafile=str(control_plane.layout.authority))
        self._connection = HTTPSConnection("127.0.0.1", control_plane.layout.port, timeout=120, context=context)
        path = f"/apis/batch.paddlepaddle.org/v1/namespaces/{namespace}/paddlejobs?watch=1"
        self._connection.request("GET", path, headers={"Authorization": f"Bearer {control_plane.admin_token}"})
        self._thread = threading.Thread(target=self._read, args=[self._connection.getresponse()], daemon=True)

    def __enter__(self) -> Recorder:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection.sock is not None:
            self._connection.sock.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)
        self._connection.close()

    def _read(self, response: HTTPResponse) -> None:
        try:
            for line in response:
                job = json.loads(line)["object"]
                phase = job.get("status", {}).get("phase")
                seen = self.phases.setdefault(job["metadata"]["name"], [])
                if phase and seen[-1:] != [phase]:
                    seen.append(phase)
        except (OSError, HTTPException, ValueError):
            return  # the test is over
