"""A stream of bytes as lines, however it was cut on the way.

Owns the buffer and its limit. Refuses to know what a line means.
"""

from __future__ import annotations

from paddlejob.kube.errors import Undecodable

# An object takes at most about 2 MiB in etcd, and its JSON may be longer than what is stored there. What is longer than
# this is not an object, and must not fill our memory.
LONGEST = 16 * 2**20


class LineBuffer:
    """Linear in what it is fed: a long line that comes in small pieces is not searched again from its start."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes, without their ends; empty lines are dropped."""
        head, *rest = chunk.split(b"\n")
        self._keep(head)
        if not rest:
            return []
        lines = [b"".join(self._pieces), *rest[:-1]]
        self._pieces, self._size = [], 0
        self._keep(rest[-1])
        return [line for line in lines if line.strip()]

    @property
    def unfinished(self) -> bool:
        """Whether a line has begun that has not ended."""
        return self._size > 0

    def _keep(self, piece: bytes) -> None:
        if piece:
            self._pieces.append(piece)
            self._size += len(piece)
        if self._size > self._longest:
            raise Undecodable(f"a line of the watch is longer than {self._longest} bytes")
