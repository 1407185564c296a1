"""The words between the runner and its supervisor: tuples in frames of a known length, over a stream socket.

Marshal and not JSON: both ends are the same interpreter, file names and environments may be no valid Unicode, and the
supervisor starts in half the time without a library.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterator

LENGTH = 4


def frame(*message: object) -> bytes:
    body = marshal.dumps(message)  # type: ignore[arg-type]  # plain values only
    return len(body).to_bytes(LENGTH, "big") + body


class Frames:
    """Bytes as they come in, whole messages out; what is cut off by the end of the stream was never said."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[object, ...]]:
        self._rest += data
        while len(self._rest) >= LENGTH:
            end = LENGTH + int.from_bytes(self._rest[:LENGTH], "big")
            if len(self._rest) < end:
                return
            message: tuple[object, ...] = marshal.loads(self._rest[LENGTH:end])
            del self._rest[:end]
            yield message
