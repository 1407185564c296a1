"""Sets of indexes in few words, as the status of a Kubernetes Job has them: 0-3,7.

Its length does not grow with the number of pods, unless there are gaps. What cannot be read is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

# No job has an index of more digits.
_PART = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?")


def write(indexes: Iterable[int]) -> str:
    return ",".join(f"{first}" if first == last else f"{first}-{last}" for first, last in _runs(sorted(indexes)))


@lru_cache(maxsize=64)
def read(text: str, below: int) -> frozenset[int]:
    """Those that are smaller than `below`. The same text is read again and again, so the last ones are kept."""
    found: set[int] = set()
    end = 0
    for part in text.split(","):
        if matched := _PART.fullmatch(part):
            first, last = matched.groups()
            # From where the last one ended: so nothing takes long to read, whatever stands there.
            row = range(max(end, int(first)), min(int(last or first) + 1, below))
            found.update(row)
            end = max(end, row.stop)
    return frozenset(found)


def _runs(indexes: list[int]) -> Iterator[tuple[int, int]]:
    """First and last of each row of neighbours."""
    first = 0
    for at, index in enumerate(indexes):
        if at + 1 == len(indexes) or indexes[at + 1] != index + 1:
            yield indexes[first], index
            first = at + 1
