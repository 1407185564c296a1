"""Data sets as text files that trainers share out between them by line, as the older documents do it.

A reader, as Paddle calls it, is a function that goes through data and yields one sample at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from paddlejob.sdk import parameters as check

Reader = Callable[[], Iterable[Iterable[object]]]


def dataset_from_reader(filename: str | Path, reader: Reader) -> None:
    """Write what a reader yields, one sample a line.

    >>> dataset_from_reader("train.csv", lambda: [(1, 2), (3, 4)])
    >>> print(Path("train.csv").read_text())
    1,2
    3,4
    <BLANKLINE>
    """
    with Path(filename).open("w", encoding="utf-8") as file:
        for sample in reader():
            file.write(",".join(str(one) for one in sample))
            file.write("\n")


def dist_reader(filename: str | Path, trainers: int, trainer_id: int) -> Callable[[], Iterator[tuple[int, ...]]]:
    """A reader of one trainer's share: of every `trainers` lines it takes one, so that all shares are all lines.

    >>> dataset_from_reader("train.csv", lambda: [(1, 2), (3, 4), (5, 6)])
    >>> [list(dist_reader("train.csv", trainers=2, trainer_id=i)()) for i in (0, 1)]
    [[(3, 4)], [(1, 2), (5, 6)]]
    """
    check.count("trainers", trainers, 1)
    if check.count("trainer_id", trainer_id, 0) >= trainers:
        raise ValueError(f"trainer_id must be below trainers ({trainers}), not {trainer_id}: its share would be empty")

    def dist_reader_creator() -> Iterator[tuple[int, ...]]:
        with Path(filename).open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if number % trainers == trainer_id:
                    yield tuple(int(cell) for cell in line.split(","))

    return dist_reader_creator
