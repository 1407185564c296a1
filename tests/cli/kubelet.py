"""A node of the real API server whose kubelet answers one question only: what does this container's log say?

Pods on it are simulated as all others are; a test says what they print.
"""

from __future__ import annotations

import ssl
import threading
import time
from contextlib import suppress
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import trustme

from tests.cluster.control_plane import ControlPlane

NODE = "talking-node"
PAUSE = 0.02


class Kubelet:
    keeps_connections = False
    """A real one does; a test that cuts them finds them more easily if it does not."""

    def __init__(self, control_plane: ControlPlane, folder: Path) -> None:
        self._lines: dict[str, list[tuple[str, str]]] = {}
        self._ended: set[str] = set()
        self._cuts = 0
        self.told: list[int] = []
        """Of each answer, how many lines were taken."""
        self._closed = False
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        authority = trustme.CA()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(context)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self._join(control_plane)
        self.folder = folder

    def says(self, pod: str, *lines: str) -> None:
        """`pod` is its namespace and name."""
        for line in lines:
            now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f") + "000Z"
            self._lines.setdefault(pod, []).append((now, line))

    def ends(self, pod: str) -> None:
        """Its log is complete: whoever follows it sees the end."""
        self._ended.add(pod)

    def forgets(self, pod: str) -> None:
        """A new container begins with an empty log; whoever follows the old one sees its end."""
        self._lines.pop(pod, None)
        self._ended.discard(pod)

    def cuts_all(self) -> None:
        """Every open connection breaks in the middle."""
        self._cuts += 1

    def close(self) -> None:
        self._closed = True
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _join(self, control_plane: ControlPlane) -> None:
        port = self._server.server_address[1]
        control_plane.add_node(NODE, labels={"test.paddlejob/talks": "true"}, kubelet=port)

    def _handler(kubelet: Kubelet) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - the handler has a self of its own
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                _, _, namespace, pod, _ = parts.path.split("/")
                asked = {key: values[0] for key, values in parse_qs(parts.query).items()}
                self.send_response(200)
                self.send_header("Content-Type", "text/plain")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                with suppress(OSError):
                    kubelet._answer(f"{namespace}/{pod}", asked, self.wfile)
                self.close_connection = not kubelet.keeps_connections

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def _answer(self, pod: str, asked: dict[str, str], to: Any) -> None:
        cuts, lines = self._cuts, self._lines.setdefault(pod, [])
        at = max(0, len(lines) - int(asked["tailLines"])) if "tailLines" in asked else 0
        since = asked.get("sinceTime", "")
        number = len(self.told)
        self.told.append(0)
        while not self._closed:
            over = pod in self._ended or self._lines.get(pod) is not lines
            for stamp, line in lines[at:]:
                # Like a real one, it compares whole seconds only.
                if stamp[:19] >= since[:19]:
                    text = f"{stamp} {line}\n" if asked.get("timestamps") == "true" else f"{line}\n"
                    to.write(b"%x\r\n%s\r\n" % (len(text.encode()), text.encode()))
                    to.flush()
                self.told[number] += 1
            at = len(lines)
            if self._cuts != cuts:
                return  # without the last chunk: cut
            if over or asked.get("follow") != "true":
                to.write(b"0\r\n\r\n")
                to.flush()
                return
            time.sleep(PAUSE)
